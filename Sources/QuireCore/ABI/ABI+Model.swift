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
      versionHashModifier: optionalString(options.version_hash_modifier, "options.version_hash_modifier") ?? "")
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
    rules.minimumLength = try number(options.minimum_length, "options.minimum_length")
    rules.maximumLength = try number(options.maximum_length, "options.maximum_length")
    if options.pattern != nil { rules.pattern = try text(options.pattern, endsWithNUL, "options.pattern") }
    let derivation = try optionalString(options.derivation, "options.derivation")
    try model.addAttribute(
      named: name, to: entity, type: attributeType(type, of: "\(entity).\(name)"), isOptional: options.is_optional,
      isTransient: options.is_transient, isSearchable: options.is_searchable, defaultValue: defaultValue, rules: rules,
      derivation: derivation,
      versionHashModifier: optionalString(options.version_hash_modifier, "options.version_hash_modifier") ?? "")
  }
}

/// Core Data's number of a composite attribute.
private let compositeType: UInt32 = 2100

private func attributeType(_ number: UInt32, of attribute: String) throws(Failure) -> AttributeType {
  if let type = AttributeType(rawValue: number) { return type }
  if number == compositeType {
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
    var defaults = quire_relationship_options()
    defaults.delete_rule = QUIRE_DELETE_NULLIFY.rawValue
    let options = try QuireCore.options(options, defaults: defaults, "options")
    let entityName = try string(entity, entity_size, "entity"), name = try string(name, name_size, "name")
    let destination = try string(destination, destination_size, "destination")
    let inverse = try optionalString(options.inverse, "options.inverse") ?? ""
    let modifier = try optionalString(options.version_hash_modifier, "options.version_hash_modifier") ?? ""
    guard let rule = DeleteRule(rawValue: options.delete_rule) else {
      throw Failure(
        .invalidArgument,
        "Relationship '\(entityName).\(name)' has the delete rule \(options.delete_rule), "
          + "which is not a quire_delete_rule.")
    }
    if !options.is_to_many, options.maximum_count > 1 || options.minimum_count > 1 {
      throw Failure(
        .invalidModel, "Relationship '\(entityName).\(name)' is to-one, so its counts are at most 1.")
    }
    try model.addRelationship(
      { entity in
        Relationship(
          name: name, entity: entity, destinationName: destination, inverseName: inverse,
          isToMany: options.is_to_many, isOrdered: options.is_ordered, isOptional: options.is_optional,
          isTransient: options.is_transient, minimumCount: Int(options.minimum_count),
          maximumCount: Int(options.maximum_count), deleteRule: rule, versionHashModifier: modifier)
      }, named: name, to: entityName)
  }
}

@_cdecl("quire_model_add_fetch_index") @implementation
public func quire_model_add_fetch_index(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ name: CText, _ name_size: Int,
  _ elements: UnsafePointer<quire_index_element>?, _ count: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    var indexElements: [FetchIndex.Element] = []
    for element in try array(elements, count, "elements") {
      indexElements.append(
        FetchIndex.Element(
          property: try string(element.property, endsWithNUL, "elements"), isDescending: element.is_descending))
    }
    try model.addFetchIndex(
      named: string(name, name_size, "name"), to: string(entity, entity_size, "entity"), elements: indexElements)
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
