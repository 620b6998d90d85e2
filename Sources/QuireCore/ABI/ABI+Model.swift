import CQuire

@_cdecl("quire_model_create") @implementation
public func quire_model_create() -> UnsafeMutablePointer<quire_model>? { .passing(Model()) }

@_cdecl("quire_model_retain") @implementation
public func quire_model_retain(_ model: UnsafePointer<quire_model>?) -> UnsafeMutablePointer<quire_model>? {
  retain(model)
}

@_cdecl("quire_model_release") @implementation
public func quire_model_release(_ model: UnsafeMutablePointer<quire_model>?) { release(model) }

@_cdecl("quire_model_add_entity") @implementation
public func quire_model_add_entity(
  _ model: UnsafeMutablePointer<quire_model>?, _ name: CText, _ name_size: Int,
  _ options: UnsafePointer<quire_entity_options>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    let options = try QuireCore.options(options, defaults: quire_entity_options(), "options")
    try model.addEntity(
      named: string(name, name_size, "name"), parent: optionalString(options.parent, "options.parent") ?? "",
      isAbstract: options.is_abstract,
      versionHashModifier: optionalText(options.version_hash_modifier, "options.version_hash_modifier"),
      renamingIdentifier: optionalText(options.renaming_identifier, "options.renaming_identifier"),
      className: optionalText(options.class_name, "options.class_name"))
  }
}

@_cdecl("quire_model_add_attribute") @implementation
public func quire_model_add_attribute(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ name: CText, _ name_size: Int,
  _ type: UInt32, _ options: UnsafePointer<quire_attribute_options>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    let options = try QuireCore.options(options, defaults: quire_attribute_options(), "options")
    let entity = try string(entity, entity_size, "entity"), name = try string(name, name_size, "name")
    var defaultValue = Value.nil
    if let given = options.default_value { defaultValue = try value(given, "options.default_value") }
    var rules = AttributeRules()
    if let given = options.minimum { rules.minimum = try value(given, "options.minimum") }
    if let given = options.maximum { rules.maximum = try value(given, "options.maximum") }
    let least = try number(options.minimum_length, "options.minimum_length")
    let most = try number(options.maximum_length, "options.maximum_length")
    if least != 0 { rules.minimumLength = least }
    if most != 0 { rules.maximumLength = most }
    if options.pattern != nil { rules.pattern = try text(options.pattern, endsWithNUL, "options.pattern") }
    let derivation = try optionalString(options.derivation, "options.derivation")
    let traits = AttributeTraits(
      allowsExternalStorage: options.allows_external_storage, preservesAfterDeletion: options.preserves_after_deletion,
      transformer: try optionalText(options.transformer, "options.transformer"),
      valueClassName: try optionalText(options.value_class_name, "options.value_class_name"))
    try model.addAttribute(
      named: name, to: entity, type: attributeType(type, of: "\(entity).\(name)"), isOptional: options.is_optional,
      isTransient: options.is_transient, isSearchable: options.is_searchable, defaultValue: defaultValue, rules: rules,
      derivation: derivation, traits: traits,
      versionHashModifier: optionalText(options.version_hash_modifier, "options.version_hash_modifier"),
      renamingIdentifier: optionalText(options.renaming_identifier, "options.renaming_identifier"))
  }
}

private func attributeType(_ number: UInt32, of attribute: String) throws(Failure) -> AttributeType {
  let type = AttributeType(rawValue: number)
  if let type, type != .composite { return type }
  if type == .composite {
    throw Failure(
      .unsupported,
      "Attribute '\(attribute)' is composite, which this version does not store. Use one attribute for each part.")
  }
  throw Failure(
    .invalidArgument, "Attribute '\(attribute)' has the type \(number), which is not a quire_attribute_type.")
}

@_cdecl("quire_model_add_relationship") @implementation
public func quire_model_add_relationship(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ name: CText, _ name_size: Int,
  _ destination: CText, _ destination_size: Int, _ options: UnsafePointer<quire_relationship_options>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    let options = try QuireCore.options(options, defaults: quire_relationship_options(), "options")
    let entityName = try string(entity, entity_size, "entity"), name = try string(name, name_size, "name")
    let destination = try string(destination, destination_size, "destination")
    let inverse = try optionalString(options.inverse, "options.inverse") ?? ""
    let modifier = try optionalText(options.version_hash_modifier, "options.version_hash_modifier")
    let renaming = try optionalText(options.renaming_identifier, "options.renaming_identifier")
    let maximum = options.maximum_count == .max ? Relationship.unbounded : Int(options.maximum_count)
    guard let rule = DeleteRule(number: options.delete_rule) else {
      throw Failure(
        .invalidArgument,
        "Relationship '\(entityName).\(name)' has the delete rule \(options.delete_rule), "
          + "which is not a quire_delete_rule.")
    }
    if !options.is_to_many, options.maximum_count > 1 {
      throw Failure(
        .invalidModel, "Relationship '\(entityName).\(name)' is to-one, so its counts are at most 1.")
    }
    try model.addRelationship(
      { entity in
        Relationship(
          name: name, entity: entity, destinationName: destination, inverseName: inverse,
          isToMany: options.is_to_many, isOrdered: options.is_ordered, isOptional: options.is_optional,
          isTransient: options.is_transient, minimumCount: Int(options.minimum_count),
          maximumCount: maximum, deleteRule: rule, namesJoinTable: options.names_join_table,
          versionHashModifier: modifier, renamingIdentifier: renaming)
      }, named: name, to: entityName)
  }
}

@_cdecl("quire_model_add_fetch_index") @implementation
public func quire_model_add_fetch_index(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ name: CText, _ name_size: Int,
  _ elements: UnsafePointer<quire_index_element>?, _ count: Int, _ out_error: ErrorOut
) -> quire_status {
  quire_model_add_fetch_index_with_options(
    model, entity, entity_size, name, name_size, elements, count, nil, out_error)
}

@_cdecl("quire_model_add_fetch_index_with_options") @implementation
public func quire_model_add_fetch_index_with_options(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ name: CText, _ name_size: Int,
  _ elements: UnsafePointer<quire_index_element>?, _ count: Int, _ options: UnsafePointer<quire_index_options>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    let options = try QuireCore.options(options, defaults: quire_index_options(), "options")
    let entityName = try string(entity, entity_size, "entity"), name = try string(name, name_size, "name")
    guard let kind = FetchIndex.Kind(rawValue: options.kind) else {
      throw Failure(
        .invalidArgument,
        "Fetch index '\(name)' of entity '\(entityName)' has the kind \(options.kind), "
          + "which is not a quire_index_kind.")
    }
    let entity = try model.entity(named: entityName)
    var condition: IndexPredicate?
    if options.condition != nil {
      condition = IndexPredicate(try resolve(options.condition, "options.condition").predicate)
    }
    var indexElements: [FetchIndex.Element] = []
    for (place, element) in try array(elements, count, "elements").enumerated() {
      let target: FetchIndex.Target
      if let expression = options.expressions?[place] {
        if element.property != nil {
          throw Failure(
            .invalidArgument,
            "Element \(place) of fetch index '\(name)' has a property and an expression. Give one of them.")
        }
        target = IndexedExpression.target(
          try resolve(expression, .element("options.expressions", place)).expression, of: entity)
      } else {
        target = FetchIndex.Target(named: try string(element.property, endsWithNUL, "elements"))
      }
      indexElements.append(FetchIndex.Element(target, isDescending: element.is_descending))
    }
    try model.addFetchIndex(named: name, to: entityName, kind: kind, elements: indexElements, condition: condition)
  }
}

@_cdecl("quire_model_add_uniqueness_constraint") @implementation
public func quire_model_add_uniqueness_constraint(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int,
  _ properties: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ out_error: ErrorOut
) -> quire_status {
  status(out_error) { () throws(Failure) in
    try resolve(model, "model").addUniquenessConstraint(
      to: string(entity, entity_size, "entity"), properties: strings(properties, count, "properties"))
  }
}

@_cdecl("quire_model_add_validation_rule") @implementation
public func quire_model_add_validation_rule(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ key: CText, _ key_size: Int,
  _ predicate: UnsafePointer<quire_predicate>?, _ message: CText, _ message_size: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    let entity = try string(entity, entity_size, "entity")
    let key = key == nil ? "" : try string(key, key_size, "key")
    let condition = try PredicateCondition(resolve(predicate, "predicate").predicate)
    try model.addValidationRule(to: entity, key: key, condition, message: text(message, message_size, "message"))
  }
}

@_cdecl("quire_model_add_fetch_template") @implementation
public func quire_model_add_fetch_template(
  _ model: UnsafeMutablePointer<quire_model>?, _ name: CText, _ name_size: Int,
  _ request: UnsafePointer<quire_fetch_request>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    try model.addFetchTemplate(named: string(name, name_size, "name"), resolve(request, "request").copy())
  }
}

@_cdecl("quire_model_fetch_template") @implementation
public func quire_model_fetch_template(
  _ model: UnsafePointer<quire_model>?, _ name: CText, _ name_size: Int,
  _ variables: UnsafePointer<quire_entry>?, _ variable_count: Int, _ out_request: Out<quire_fetch_request>,
  _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_request, "out_request", out_error) { () throws(Failure) in
    let model = try resolve(model, "model")
    let name = try string(name, name_size, "name")
    return try model.request(fromTemplate: name, variables: substitutions(variables, variable_count))
  }
}

@_cdecl("quire_model_add_fetched_property") @implementation
public func quire_model_add_fetched_property(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ name: CText, _ name_size: Int,
  _ request: UnsafePointer<quire_fetch_request>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    try model.addFetchedProperty(
      named: string(name, name_size, "name"), to: string(entity, entity_size, "entity"),
      request: resolve(request, "request").copy())
  }
}

@_cdecl("quire_model_set_user_info") @implementation
public func quire_model_set_user_info(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ property: CText,
  _ property_size: Int, _ key: CText, _ key_size: Int, _ value: CText, _ value_size: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    try model.setUserInfo(
      of: string(entity, entity_size, "entity"),
      property: property == nil ? nil : string(property, property_size, "property"),
      key: text(key, key_size, "key"), to: text(value, value_size, "value"))
  }
}

@_cdecl("quire_model_add_configuration") @implementation
public func quire_model_add_configuration(
  _ model: UnsafeMutablePointer<quire_model>?, _ name: CText, _ name_size: Int,
  _ entities: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    try model.addConfiguration(
      named: text(name, name_size, "name"), entityNames: strings(entities, count, "entities"))
  }
}

@_cdecl("quire_model_add_version_identifier") @implementation
public func quire_model_add_version_identifier(
  _ model: UnsafeMutablePointer<quire_model>?, _ identifier: CText, _ identifier_size: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    try model.addVersionIdentifier(text(identifier, identifier_size, "identifier"))
  }
}

@_cdecl("quire_model_freeze") @implementation
public func quire_model_freeze(_ model: UnsafeMutablePointer<quire_model>?, _ out_error: ErrorOut) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in try model.freeze() }
}

@_cdecl("quire_model_is_frozen") @implementation
public func quire_model_is_frozen(_ model: UnsafePointer<quire_model>?) -> Bool { peek(model)?.isFrozen ?? false }

@_cdecl("quire_model_entity_count") @implementation
public func quire_model_entity_count(_ model: UnsafePointer<quire_model>?) -> Int64 {
  Int64(peek(model)?.entities.count ?? 0)
}

@_cdecl("quire_model_entity_name") @implementation
public func quire_model_entity_name(_ model: UnsafePointer<quire_model>?, _ index: Int64) -> quire_string {
  guard let entities = peek(model)?.entities, entities.indices.contains(Int(index)) else { return noText }
  return entities[Int(index)].nameText.lent
}

@_cdecl("quire_model_version_hash") @implementation
public func quire_model_version_hash(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int,
  _ out_hash: UnsafeMutablePointer<UInt8>?, _ out_error: ErrorOut
) -> quire_status {
  status(out_error) { () throws(Failure) in
    let out = try required(out_hash, "out_hash")
    let model = try resolve(model, "model")
    try model.freeze()
    let hash = try model.versionHash(ofEntityNamed: string(entity, entity_size, "entity"))
    for (index, byte) in hash.enumerated() { out[index] = byte }
  }
}
