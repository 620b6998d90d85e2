/// A model as Core Data archives it, for the copy in a store.
struct ModelWriter {
  /// The value of a key without one. Core Data has this text, too.
  private static let emptyToken = "__empty_slot_token_4c24_98dc_ac1e_b773__"

  private let model: Model
  private var encoder = ArchiveEncoder()
  private let root: PropertyListValue
  /// By name.
  private var entities: [String: PropertyListValue] = [:]
  /// By the entity that has it, which may inherit it, and its name.
  private var properties: [String: [String: PropertyListValue]] = [:]
  private let emptyInfo: PropertyListValue

  /// The archive of a frozen model. nil when a text of it has U+0000 in it.
  static func archive(of model: Model) -> Bytes? {
    var writer = ModelWriter(model)
    writer.writeModel()
    return writer.encoder.archive(of: writer.root)
  }

  private init(_ model: Model) {
    self.model = model
    root = encoder.reserve()
    emptyInfo = encoder.dictionary([])
    for entity in model.numberedEntities {
      entities[entity.name] = encoder.reserve()
      var places: [String: PropertyListValue] = [:]
      for property in entity.properties { places[property.name] = encoder.reserve() }
      for fetched in entity.ancestry.flatMap(\.ownFetchedProperties) { places[fetched.name] = encoder.reserve() }
      properties[entity.name] = places
    }
  }

  private func place(of entity: String) -> PropertyListValue { entities[entity] ?? ArchiveEncoder.null }

  private mutating func writeModel() {
    let all = model.numberedEntities.sorted { $0.name < $1.name }
    for entity in all { write(entity) }
    let names = all.map { encoder.text($0.name) }
    let keys = encoder.list(names)
    let mapping = encoder.object(
      "NSKnownKeysMappingStrategy1", ["length": .integer(Int64(all.count)), "version": .integer(1), "keys": keys])
    let values = encoder.list(all.map { place(of: $0.name) }), token = encoder.text(ModelWriter.emptyToken)
    let known = encoder.object(
      "NSKnownKeysDictionary1",
      ["searchMapping": mapping, "values": values, "emptyToken": token, "version": .integer(1)])
    var fields: [String: PropertyListValue] = ["NSEntities": known, "NSFetchRequestTemplates": ArchiveEncoder.null]
    let identifiers = model.versionIdentifiers.map { encoder.text($0.string) }
    fields["NSVersionIdentifiers"] = encoder.list(identifiers, "NSSet")
    if !model.configurations.isEmpty {
      let configurations = model.configurations.map { configuration in
        (configuration.name.string, encoder.list(configuration.entityNames.map { place(of: $0) }, "NSSet"))
      }
      fields["NSConfigurations"] = encoder.dictionary(configurations, "NSMutableDictionary")
    }
    if !model.fetchTemplates.isEmpty {
      let templates = model.fetchTemplates.map { template in (template.name.string, request(template.template)) }
      fields["NSFetchRequestTemplates"] = encoder.dictionary(templates, "NSMutableDictionary")
    }
    encoder.set(root, "NSManagedObjectModel", fields)
  }

  // MARK: Entities

  private mutating func write(_ entity: Entity) {
    let places = properties[entity.name] ?? [:]
    var named: [(key: String, value: PropertyListValue)] = []
    for property in entity.properties {
      guard let place = places[property.name] else { continue }
      write(property, of: entity, at: place)
      named.append((property.name, place))
    }
    for fetched in entity.ancestry.flatMap(\.ownFetchedProperties) {
      guard let place = places[fetched.name] else { continue }
      write(fetched, of: entity, at: place)
      named.append((fetched.name, place))
    }
    var fields: [String: PropertyListValue] = [
      "NSEntityName": encoder.text(entity.name), "NSManagedObjectModel": root,
      "NSClassNameForEntity": encoder.optionalText(entity.className.string),
      "NSSuperentity": entity.parent.map { place(of: $0.name) } ?? ArchiveEncoder.null,
      "NSVersionHashModifier": encoder.optionalText(entity.versionHashModifier.string),
      "NSRenamingIdentifier": renaming(entity.renamingIdentifier, of: entity.name),
      "NSUserInfo": userInfo(entity.userInfo) ?? emptyInfo,
    ]
    fields["NSProperties"] = encoder.dictionary(named, "NSMutableDictionary")
    fields["NSSubentities"] = encoder.dictionary(
      entity.children.map { ($0.name, place(of: $0.name)) }, "NSMutableDictionary")
    if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
    let fetchIndexes = entity.fetchIndexes + entity.impliedIndexes
    if !fetchIndexes.isEmpty {
      let indexes = fetchIndexes.map { write($0, of: entity) }
      fields["NSFetchIndexDescriptions"] = encoder.list(indexes, "NSMutableArray")
      let compounds = fetchIndexes.compactMap { compound($0, of: entity) }
      fields["NSCompoundIndexes"] = encoder.list(compounds, "NSMutableArray")
    }
    if !entity.uniquenessConstraints.isEmpty {
      var tuples: [PropertyListValue] = []
      for names in entity.uniquenessConstraints {
        let names = names.map { encoder.text($0) }
        tuples.append(encoder.list(names, "NSMutableArray"))
      }
      fields["NSUniqueTuples"] = encoder.list(tuples, "NSMutableArray")
    }
    encoder.set(place(of: entity.name), "NSEntityDescription", fields)
  }

  /// What stood for an index of several values before iOS 11, and stands beside it since.
  private mutating func compound(_ index: FetchIndex, of entity: Entity) -> PropertyListValue? {
    if index.kind == .rTree || index.elements.count < 2 { return nil }
    var names: [PropertyListValue] = []
    for element in index.elements {
      switch element.target {
      case .property(let name):
        if entity.propertiesByName[name] is Relationship { return nil }
        names.append(encoder.text(name))
      case .object: names.append(encoder.text("self"))
      case .entity: names.append(encoder.text("entity"))
      case .expression: return nil
      }
    }
    return encoder.list(names, "NSMutableArray")
  }

  private mutating func renaming(_ identifier: Text, of name: String) -> PropertyListValue {
    encoder.text(identifier.isEmpty ? name : identifier.string)
  }

  private mutating func userInfo(_ info: UserInfo) -> PropertyListValue? {
    if info.entries.isEmpty, info.lists.isEmpty { return nil }
    let entries = info.entries.map { entry in (entry.key.string, encoder.text(entry.value.string)) }
    let lists = info.lists.map { list in
      (list.key.string, encoder.list(list.value.map { encoder.text($0.string) }))
    }
    return encoder.dictionary(entries + lists)
  }

  private mutating func write(_ index: FetchIndex, of entity: Entity) -> PropertyListValue {
    let place = encoder.reserve()
    var elements: [PropertyListValue] = []
    for (number, element) in index.elements.enumerated() {
      var fields: [String: PropertyListValue] = [
        "NSFetchIndexDescription": place, "NSAscending": .boolean(!element.isDescending),
        "NSFetchIndexElementType": .integer(Int64(index.kind.rawValue)),
      ]
      let expression: Expression?
      switch element.target {
      case .property(let name):
        fields["NSPropertyName"] = encoder.text(name)
        expression = nil
      case .object: expression = .selfObject
      case .entity: expression = .keyPath(["entity"])
      case .expression(let kept): expression = (kept as? IndexedExpression)?.expression
      }
      if let expression {
        let name = encoder.text("expression\(number + 1)")
        fields["NSPropertyName"] = name
        let written = PredicateWriter.expression(expression, &encoder)
        fields["NSIndexedProperty"] = encoder.object(
          "NSExpressionDescription",
          [
            "NSExpression": written, "NSPropertyName": name, "NSRenamingIdentifier": name,
            "NSEntity": ArchiveEncoder.null, "NSIsOptional": .boolean(true), "NSIsReadOnly": .boolean(true),
            "NSExpressionType": .integer(expression == .selfObject ? 2000 : 0), "_P": .integer(247),
          ])
      }
      elements.append(encoder.object("NSFetchIndexElementDescription", fields))
    }
    let condition = (index.condition as? IndexPredicate).map { PredicateWriter.predicate($0.predicate, &encoder) }
    encoder.set(
      place, "NSFetchIndexDescription",
      [
        "NSIndexName": encoder.text(index.name.string), "NSEntity": self.place(of: entity.name),
        "NSIndexElements": encoder.list(elements, "NSMutableArray"),
        "NSPartialIndexPredicate": condition ?? ArchiveEncoder.null,
      ])
    return place
  }

  // MARK: Properties

  /// What every property keeps, `_P` among it: a set of what else is said.
  private mutating func common(
    _ name: String, of entity: Entity, isOptional: Bool, isTransient: Bool, isReadOnly: Bool, isOrdered: Bool = false,
    modifier: Text, renaming identifier: Text, _ info: UserInfo
  ) -> [String: PropertyListValue] {
    var fields: [String: PropertyListValue] = [
      "NSPropertyName": encoder.text(name), "NSEntity": place(of: entity.name),
      "NSRenamingIdentifier": renaming(identifier, of: name),
    ]
    var bits: Int64 = 1 | 16 | 32
    if isOptional {
      fields["NSIsOptional"] = .boolean(true)
      bits |= 2
    }
    if isReadOnly {
      fields["NSIsReadOnly"] = .boolean(true)
      bits |= 4
    }
    if isTransient {
      fields["NSIsTransient"] = .boolean(true)
      bits |= 8
    }
    if isOrdered { bits |= 1024 }
    if modifier.isEmpty {
      bits |= 128
    } else {
      fields["NSVersionHashModifier"] = encoder.text(modifier.string)
    }
    if let written = userInfo(info) { fields["NSUserInfo"] = written } else { bits |= 64 }
    fields["_P"] = .integer(bits)
    return fields
  }

  private mutating func write(_ property: Property, of entity: Entity, at place: PropertyListValue) {
    let relationship = property as? Relationship
    let isSearchable = (property as? Attribute)?.isSearchable == true
    var fields = common(
      property.name, of: entity, isOptional: property.isOptional, isTransient: property.isTransient,
      isReadOnly: property.isDerived, isOrdered: relationship?.isOrdered == true,
      modifier: property.versionHashModifier, renaming: property.renamingIdentifier,
      property.userInfo(with: OwnTrait.searchable, if: isSearchable))
    if property.isIndexed { fields["NSIsIndexed"] = .boolean(true) }
    if let relationship {
      fields["_NSDestinationEntityName"] = encoder.text(relationship.destinationName)
      fields["NSDestinationEntity"] = self.place(of: relationship.destinationName)
      fields["_NSInverseRelationshipName"] = encoder.optionalText(relationship.inverseName)
      // The inverse as the destination has it, which may inherit it.
      fields["NSInverseRelationship"] =
        properties[relationship.destinationName]?[relationship.inverseName] ?? ArchiveEncoder.null
      fields["NSMinCount"] = .integer(Int64(relationship.minimumCount))
      fields["NSMaxCount"] = .integer(Int64(relationship.declaredMaximumCount))
      fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
      if relationship.isOrdered { fields["NSIsOrdered"] = .boolean(true) }
      return encoder.set(place, "NSRelationshipDescription", fields)
    }
    guard let attribute = property as? Attribute else { return }
    fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
    fields["NSAttributeValueClassName"] = encoder.optionalText(valueClass(of: attribute))
    fields["NSValueTransformerName"] = encoder.optionalText(attribute.traits.transformer.string)
    fields["NSFlagsKey"] = .integer(
      (attribute.traits.allowsExternalStorage ? 4 : 0) | (attribute.traits.preservesAfterDeletion ? 16 : 0))
    if attribute.traits.allowsCloudEncryption { fields["NSAllowsCloudEncryption"] = .boolean(true) }
    if attribute.entity.fetchIndexes.contains(where: { $0.isOf(attribute) }) { fields["NSIsIndexed"] = .boolean(true) }
    fields["NSDefaultValue"] = defaultValue(of: attribute)
    writeConditions(of: attribute, of: entity, to: &fields)
    if let derivation = attribute.derivation {
      let filter = (derivation.source as? ArchivedDerivation)?.filter
      fields["NSDerivationExpression"] = PredicateWriter.expression(derivation.expression, &encoder)
      fields["NSFilteringPredicate"] = filter.map { PredicateWriter.predicate($0, &encoder) } ?? ArchiveEncoder.null
      return encoder.set(place, "NSDerivedAttributeDescription", fields)
    }
    encoder.set(place, "NSAttributeDescription", fields)
  }

  /// That of a transformable attribute is an archive by itself, whose objects become those of this one.
  private mutating func defaultValue(of attribute: Attribute) -> PropertyListValue {
    guard attribute.type == .transformable, let data = attribute.archivedDefault else {
      return encoder.value(attribute.declaredDefault)
    }
    guard let archive = try? KeyedArchive(data, "The default"), let node = archive.root else {
      return encoder.value(attribute.declaredDefault)
    }
    return encoder.copy(node, ReadingLimit(size: data.count, "The default")) ?? ArchiveEncoder.null
  }

  /// The class of the values, where the model does not name one of its own.
  private func valueClass(of attribute: Attribute) -> String {
    let named = attribute.traits.valueClassName
    return named.isEmpty ? attribute.type.valueClassName : named.string
  }

  private mutating func writeConditions(
    of attribute: Attribute, of entity: Entity, to fields: inout [String: PropertyListValue]
  ) {
    var predicates: [PropertyListValue] = [], warnings: [PropertyListValue] = []
    for (predicate, code) in attribute.rules.predicates {
      predicates.append(PredicateWriter.predicate(predicate, &encoder))
      warnings.append(encoder.plain(.integer(code)))
    }
    for rule in attribute.entity.ownRules where rule.key == attribute.name {
      guard let condition = rule.condition as? PredicateCondition else { continue }
      predicates.append(PredicateWriter.predicate(condition.predicate, &encoder))
      warnings.append(encoder.text(rule.message.string))
    }
    if predicates.isEmpty { return }
    fields["NSValidationPredicates"] = encoder.list(predicates)
    fields["NSValidationWarnings"] = encoder.list(warnings)
  }

  // MARK: Requests

  private mutating func write(_ fetched: FetchedProperty, of entity: Entity, at place: PropertyListValue) {
    var fields = common(
      fetched.name, of: entity, isOptional: fetched.isOptional, isTransient: true, isReadOnly: true,
      modifier: "", renaming: "", fetched.userInfo)
    fields["NSFetchRequest"] = request(fetched.template)
    fields["_NSFetchRequestEntityName"] = encoder.text(fetched.template.entityName)
    encoder.set(place, "NSFetchedPropertyDescription", fields)
  }

  private mutating func request(_ template: any FetchTemplate) -> PropertyListValue {
    var fields: [String: PropertyListValue] = [
      "NSEntity": place(of: template.entityName), "NSValuesToFetch": ArchiveEncoder.null,
      "NSValuesToGroupBy": ArchiveEncoder.null, "NSHavingPredicate": ArchiveEncoder.null,
      // The usual ones: what each of them means is not known.
      "NSHasFetchRequestFlags": .boolean(true), "NSFetchRequestFlags": .integer(30), "NSAllocationType": .integer(0),
    ]
    guard let request = template as? FetchRequest else { return encoder.object("NSFetchRequest", fields) }
    fields["NSPredicate"] = request.predicate.map { PredicateWriter.predicate($0, &encoder) } ?? ArchiveEncoder.null
    var descriptors: [PropertyListValue] = []
    for descriptor in request.sort {
      descriptors.append(
        encoder.object(
          "NSSortDescriptor",
          [
            "NSKey": encoder.text(descriptor.keyPath.joined(separator: ".")),
            "NSSelector": encoder.text(SortSelector.selector(of: descriptor.textOrder.kind)),
            "NSAscending": .boolean(descriptor.isAscending), "NSReverseNullOrder": .boolean(false),
          ]))
    }
    fields["NSSortDescriptors"] = descriptors.isEmpty ? ArchiveEncoder.null : encoder.list(descriptors)
    fields["NSFetchLimit"] = .integer(Int64(request.limit ?? 0))
    fields["NSFetchOffset"] = .integer(Int64(request.offset))
    fields["NSBatchSize"] = .integer(Int64(request.batchSize))
    fields["NSResultType"] = .integer(Int64(request.resultType.rawValue))
    let paths = request.prefetchedKeyPaths.map { encoder.text($0.joined(separator: ".")) }
    fields["NSRelationshipKeyPathsForPrefetching"] = paths.isEmpty ? ArchiveEncoder.null : encoder.list(paths)
    return encoder.object("NSFetchRequest", fields)
  }
}

extension Attribute {
  fileprivate var archivedDefault: Bytes? {
    if case .data(let data) = declaredDefault { data } else { traits.archivedDefault }
  }
}

extension AttributeRules {
  /// Core Data's codes for what breaks a bound.
  private enum Code: Int64 {
    case tooLarge = 1610, tooSmall = 1620, tooLong = 1660, tooShort = 1670, noMatch = 1680
  }

  /// As Xcode makes them of bounds and of a pattern.
  fileprivate var predicates: [(Predicate, Int64)] {
    func says(_ left: Expression, _ relation: Comparison.Operator, _ right: Value, _ code: Code) -> (Predicate, Int64) {
      (.comparison(Comparison(left: left, operator: relation, right: .constant(right))), code.rawValue)
    }
    let length = Expression.keyPath(["length"])
    var found: [(Predicate, Int64)] = []
    if !minimum.isNil { found.append(says(.selfObject, .greaterThanOrEqual, minimum, .tooSmall)) }
    if !maximum.isNil { found.append(says(.selfObject, .lessThanOrEqual, maximum, .tooLarge)) }
    if let minimumLength {
      found.append(says(length, .greaterThanOrEqual, .integer(Int64(minimumLength)), .tooShort))
    }
    if let maximumLength { found.append(says(length, .lessThanOrEqual, .integer(Int64(maximumLength)), .tooLong)) }
    if let pattern { found.append(says(.selfObject, .matches, .text(pattern), .noMatch)) }
    return found
  }
}
