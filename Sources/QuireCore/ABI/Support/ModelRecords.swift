import CQuire

/// What a frozen model declares, as C sees it. Made when it is first asked for, and lent as long as the model lives.
final class ModelRecords: @unchecked Sendable {
  struct EntityRecords {
    var entity = quire_entity_info()
    var properties: [quire_property_info] = []
    /// Of composite attributes, by path.
    var elements: [String: [quire_property_info]] = [:]
    var indexes: [(info: quire_fetch_index_info, elements: [quire_index_element_info])] = []
    var constraints: [UnsafeMutableBufferPointer<quire_string>] = []
    var rules: [quire_validation_rule_info] = []
  }

  /// By number less one.
  private(set) var entities: [EntityRecords] = []
  private(set) var configurations: [UnsafeMutableBufferPointer<quire_string>] = []
  /// Handles and texts that records point to.
  private var handles: [AnyObject] = []
  private var texts: [Text] = []

  /// The records of a model, which it freezes.
  static func of(_ model: Model) throws(Failure) -> ModelRecords {
    try model.freeze()
    return try model.lent.withLock { (lent: inout AnyObject?) throws(Failure) -> ModelRecords in
      if let known = lent as? ModelRecords { return known }
      let made = ModelRecords()
      for entity in model.numberedEntities { made.entities.append(try made.records(of: entity)) }
      for (_, names) in model.configurations {
        made.configurations.append(made.list(names.compactMap { try? model.entity(named: $0).nameText }))
      }
      lent = made
      return made
    }
  }

  private init() {}

  deinit {
    for entity in entities { for list in entity.constraints { list.deallocate() } }
    for list in configurations { list.deallocate() }
  }

  private func records(of entity: Entity) throws(Failure) -> EntityRecords {
    var records = EntityRecords()
    for property in entity.properties {
      records.properties.append(try record(of: property))
      var waiting = [(path: property.name, composition: (property as? Attribute)?.composition)]
      while let (path, composition) = waiting.popLast() {
        guard let composition else { continue }
        var elements: [quire_property_info] = []
        for element in composition.elements {
          elements.append(try record(of: element))
          waiting.append(("\(path).\(element.name)", element.composition))
        }
        records.elements[path] = elements
      }
    }
    for owner in entity.ancestry.reversed() {
      for fetched in owner.ownFetchedProperties { records.properties.append(record(of: fetched, owner)) }
    }
    for index in entity.fetchIndexes {
      var info = quire_fetch_index_info()
      info.kind = index.kind.rawValue
      info.name = index.name.lent
      info.element_count = Int64(index.elements.count)
      if let condition = index.condition as? IndexPredicate { info.condition = lend(condition.predicate) }
      records.indexes.append((info, index.elements.map { record(of: $0, entity) }))
    }
    for constraint in entity.uniquenessConstraints {
      records.constraints.append(list(constraint.compactMap { entity.propertiesByName[$0]?.nameText }))
    }
    for rule in entity.ownRules {
      var info = quire_validation_rule_info()
      info.key = entity.propertiesByName[rule.key]?.nameText.lent ?? noText
      info.message = rule.message.lent
      if let condition = rule.condition as? PredicateCondition { info.predicate = lend(condition.predicate) }
      records.rules.append(info)
    }
    records.entity.number = UInt32(clamping: entity.number)
    records.entity.name = entity.nameText.lent
    records.entity.parent = entity.parent?.nameText.lent ?? noText
    records.entity.version_hash_modifier = lent(entity.versionHashModifier)
    records.entity.class_name = lent(entity.className)
    records.entity.renaming_identifier = lent(entity.renamingIdentifier)
    records.entity.is_abstract = entity.isAbstract
    records.entity.property_count = Int64(records.properties.count)
    records.entity.fetch_index_count = Int64(records.indexes.count)
    records.entity.uniqueness_constraint_count = Int64(records.constraints.count)
    records.entity.validation_rule_count = Int64(records.rules.count)
    records.entity.user_info_count = Int64(entity.userInfo.entries.count)
    return records
  }

  private func record(of property: Property) throws(Failure) -> quire_property_info {
    var info = quire_property_info()
    info.name = property.nameText.lent
    info.entity = property.entity.nameText.lent
    info.version_hash_modifier = lent(property.versionHashModifier)
    info.renaming_identifier = lent(property.renamingIdentifier)
    info.user_info_count = Int64(property.userInfo.entries.count)
    info.is_optional = property.isOptional
    info.is_transient = property.isTransient
    info.is_indexed = property.isIndexed
    if let attribute = property as? Attribute {
      info.kind = QUIRE_PROPERTY_ATTRIBUTE.rawValue
      info.is_searchable = attribute.isSearchable
      info.allows_external_storage = attribute.traits.allowsExternalStorage
      info.preserves_after_deletion = attribute.traits.preservesAfterDeletion
      info.type = attribute.type.rawValue
      info.default_value = try lent(attribute.declaredDefault)
      info.minimum = try lent(attribute.rules.minimum)
      info.maximum = try lent(attribute.rules.maximum)
      info.minimum_length = UInt64(clamping: attribute.rules.minimumLength ?? 0)
      info.maximum_length = UInt64(clamping: attribute.rules.maximumLength ?? 0)
      info.pattern = attribute.rules.pattern?.lent ?? noText
      info.derivation = attribute.derivation?.text.lent ?? noText
      info.transformer = lent(attribute.traits.transformer)
      info.value_class_name = lent(attribute.traits.valueClassName)
      info.allows_cloud_encryption = attribute.traits.allowsCloudEncryption
      info.composite_name = lent(attribute.composition?.name ?? "")
      info.element_count = Int64(attribute.composition?.elements.count ?? 0)
    } else if let relationship = property as? Relationship {
      info.kind = QUIRE_PROPERTY_RELATIONSHIP.rawValue
      info.is_to_many = relationship.isToMany
      info.is_ordered = relationship.isOrdered
      info.names_join_table = relationship.namesJoinTable
      info.delete_rule = relationship.deleteRule.number
      info.minimum_count = UInt32(clamping: relationship.minimumCount)
      let maximum = relationship.declaredMaximumCount
      info.maximum_count = maximum == Relationship.unbounded ? .max : UInt32(clamping: maximum)
      info.destination = relationship.destination.nameText.lent
      info.inverse = relationship.inverse?.nameText.lent ?? noText
    }
    return info
  }

  private func record(of fetched: FetchedProperty, _ owner: Entity) -> quire_property_info {
    var info = quire_property_info()
    info.kind = QUIRE_PROPERTY_FETCHED.rawValue
    info.name = fetched.nameText.lent
    info.entity = owner.nameText.lent
    info.user_info_count = Int64(fetched.userInfo.entries.count)
    info.is_optional = fetched.isOptional
    if let request = fetched.template as? FetchRequest {
      info.request = UnsafePointer(UnsafeMutablePointer<quire_fetch_request>.lending(request))
    }
    return info
  }

  private func record(of element: FetchIndex.Element, _ entity: Entity) -> quire_index_element_info {
    var info = quire_index_element_info()
    info.is_descending = element.isDescending
    switch element.target {
    case .object: info.property = keep("self")
    case .entity: info.property = keep("entity")
    case .property(let name): info.property = entity.propertiesByName[name]?.nameText.lent ?? keep(Text(name))
    case .expression(let expression):
      guard let indexed = expression as? IndexedExpression else { break }
      let handle = ParsedExpression(indexed.expression)
      handles.append(handle)
      info.expression = UnsafePointer(UnsafeMutablePointer<quire_expression>.lending(handle))
    }
    return info
  }

  // MARK: Lending

  private func lend(_ predicate: Predicate) -> UnsafePointer<quire_predicate> {
    let handle = ParsedPredicate(predicate)
    handles.append(handle)
    return UnsafePointer(UnsafeMutablePointer<quire_predicate>.lending(handle))
  }

  /// A value whose text or data the model has; that of a decimal number is made.
  private func lent(_ value: Value) throws(Failure) -> quire_value {
    try exported(value) { text in
      texts.append(text)
      return text
    }
  }

  private func lent(_ text: Text) -> quire_string { text.isEmpty ? noText : text.lent }

  private func keep(_ text: Text) -> quire_string {
    texts.append(text)
    return text.lent
  }

  private func list(_ names: [Text]) -> UnsafeMutableBufferPointer<quire_string> {
    let memory = UnsafeMutableBufferPointer<quire_string>.allocate(capacity: names.count)
    _ = memory.initialize(from: names.map(\.lent))
    return memory
  }
}

extension quire_entity_info: FilledStruct {
  static var leastSize: Int { 136 }
  static var initializer: String { "QUIRE_ENTITY_INFO_INIT" }
}

extension quire_property_info: FilledStruct {
  static var leastSize: Int { 304 }
  static var initializer: String { "QUIRE_PROPERTY_INFO_INIT" }
}

extension quire_fetch_index_info: FilledStruct {
  static var leastSize: Int { 40 }
  static var initializer: String { "QUIRE_FETCH_INDEX_INFO_INIT" }
}

extension quire_index_element_info: FilledStruct {
  static var leastSize: Int { 32 }
  static var initializer: String { "QUIRE_INDEX_ELEMENT_INFO_INIT" }
}

extension quire_validation_rule_info: FilledStruct {
  static var leastSize: Int { 48 }
  static var initializer: String { "QUIRE_VALIDATION_RULE_INFO_INIT" }
}

/// Numbers of `quire_delete_rule`, whose zero is the default; those of files are Core Data's.
extension DeleteRule {
  init?(number: UInt32) {
    switch quire_delete_rule(rawValue: number) {
    case QUIRE_DELETE_NULLIFY: self = .nullify
    case QUIRE_DELETE_NO_ACTION: self = .noAction
    case QUIRE_DELETE_CASCADE: self = .cascade
    case QUIRE_DELETE_DENY: self = .deny
    default: return nil
    }
  }

  var number: UInt32 {
    switch self {
    case .nullify: QUIRE_DELETE_NULLIFY.rawValue
    case .noAction: QUIRE_DELETE_NO_ACTION.rawValue
    case .cascade: QUIRE_DELETE_CASCADE.rawValue
    case .deny: QUIRE_DELETE_DENY.rawValue
    }
  }
}
