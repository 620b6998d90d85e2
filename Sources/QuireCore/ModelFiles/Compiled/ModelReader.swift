/// The model in an archive: a .mom file, or the copy that a store keeps.
struct ModelReader {
  private static let transformersOfArchives: Set<String> = [
    "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
  ]
  private static let deepestComposite = 16

  let model = Model(origin: .file)
  /// What a failure calls the file.
  let what: String
  let limit: ReadingLimit
  /// By name.
  private var entities: [String: ArchiveNode] = [:]
  private var order: [String] = []

  /// The model is not frozen yet.
  static func model(of bytes: Bytes, _ what: String) throws(Failure) -> Model {
    let archive: KeyedArchive
    do throws(Failure) { archive = try KeyedArchive(bytes, what) } catch {
      throw Failure(.invalidModel, error.message.string)
    }
    var reader = ModelReader(what, ReadingLimit(size: bytes.count, what))
    do throws(Failure) {
      guard let root = archive.root, root.className == "NSManagedObjectModel" else {
        throw reader.failure("its root is no NSManagedObjectModel")
      }
      try reader.read(root)
    } catch { throw archive.isExhausted ? reader.limit.failure : error }
    if archive.isExhausted { throw reader.limit.failure }
    return reader.model
  }

  private init(_ what: String, _ limit: ReadingLimit) {
    self.what = what
    self.limit = limit
  }

  func failure(_ problem: String) -> Failure { Failure(.invalidModel, "\(what) is no model: \(problem).") }

  private mutating func read(_ root: ArchiveNode) throws(Failure) {
    guard let named = root["NSEntities"]?.named else { throw failure("it has no entities") }
    for (_, node) in named {
      try limit.take()
      guard let name = node["NSEntityName"]?.text else { throw failure("an entity has no name") }
      entities[name] = node
      order.append(name)
      try model.addEntity(
        named: name, parent: node["NSSuperentity"]?["NSEntityName"]?.text ?? "",
        isAbstract: node["NSIsAbstract"]?.boolean ?? false, versionHashModifier: node.modifier,
        renamingIdentifier: node.renaming(of: name), className: Text(ModelReader.className(of: node)))
    }
    for name in order {
      guard let node = entities[name] else { continue }
      try readProperties(of: name, node)
    }
    for name in order {
      guard let node = entities[name] else { continue }
      try readRest(of: name, node)
    }
    try readConfigurations(root["NSConfigurations"])
    for (name, request) in root["NSFetchRequestTemplates"]?.named ?? [] {
      try limit.take()
      try model.addFetchTemplate(named: name, try self.request(request, entity: nil))
    }
    for identifier in root["NSVersionIdentifiers"]?.elements ?? [] {
      try limit.take()
      if let text = identifier.text { try model.addVersionIdentifier(Text(text)) }
    }
  }

  /// NSManagedObject is what an entity without a class of its own has.
  private static func className(of node: ArchiveNode) -> String {
    let name = node["NSClassNameForEntity"]?.text ?? ""
    return name == "NSManagedObject" ? "" : name
  }

  private func readConfigurations(_ node: ArchiveNode?) throws(Failure) {
    for (name, members) in node?.named ?? [] {
      var names: [String] = []
      for member in members.elements ?? [] {
        try limit.take()
        if let name = member["NSEntityName"]?.text { names.append(name) }
      }
      // A set has no order that means something.
      try model.addConfiguration(named: Text(name), entityNames: names.sorted())
    }
  }

  // MARK: Properties

  /// What an entity inherits is in its archive too: as a proxy, or in full.
  private func readProperties(of entity: String, _ node: ArchiveNode) throws(Failure) {
    var inherited: Set<String> = [], above = node["NSSuperentity"], seen: Set<String> = [entity]
    while let ancestor = above, let name = ancestor["NSEntityName"]?.text, seen.insert(name).inserted {
      try limit.take()
      if seen.count > Model.deepestOfFile { throw failure("entity '\(entity)' has too many ancestors") }
      for (property, _) in ancestor["NSProperties"]?.named ?? [] { inherited.insert(property) }
      above = ancestor["NSSuperentity"]
    }
    let properties = node["NSProperties"]?.named ?? []
    try limit.take(properties.count)
    for (name, property) in properties where !inherited.contains(name) {
      switch property.className {
      case "_NSPropertyDescriptionProxy": continue
      case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
        try model.addLoadedAttribute(try attribute(name, of: entity, property), to: entity)
      case "NSRelationshipDescription": try readRelationship(name, of: entity, property)
      case "NSFetchedPropertyDescription":
        guard let request = property["NSFetchRequest"] else { throw failure("'\(entity).\(name)' has no request") }
        try model.addFetchedProperty(
          named: name, to: entity, try self.request(request, entity: property["_NSFetchRequestEntityName"]?.text),
          isOptional: property["NSIsOptional"]?.boolean ?? false)
      default:
        throw Failure(
          .unsupported,
          "'\(entity).\(name)' of \(what) is a property of the class '\(property.className ?? "")', which this version "
            + "does not store.", about: .named(entity, name))
      }
      for (key, value) in property["NSUserInfo"]?.named ?? [] where !OwnTrait.all.contains(key) {
        try limit.take()
        if let text = value.text { try model.setUserInfo(of: entity, property: name, key: Text(key), to: Text(text)) }
        if let texts = try texts(value) {
          try model.entity(named: entity).ownAttributes.last { $0.name == name }?.addUserInfo(Text(key), list: texts)
        }
      }
    }
  }

  /// The elements of a list that has nothing but texts.
  private func texts(_ node: ArchiveNode) throws(Failure) -> [Text]? {
    guard let elements = node.elements, node.text == nil else { return nil }
    try limit.take(elements.count)
    let texts = elements.compactMap(\.text).map { Text($0) }
    return texts.count == elements.count ? texts : nil
  }

  private func attribute(
    _ name: String, of entity: String, _ node: ArchiveNode, depth: Int = 0
  ) throws(Failure) -> LoadedAttribute {
    let type = try attributeType(node["NSAttributeType"]?.integer, of: "\(entity).\(name)")
    let flags = node["NSFlagsKey"]?.integer ?? 0
    var traits = AttributeTraits()
    traits.allowsExternalStorage = flags & 4 != 0
    traits.preservesAfterDeletion = flags & 16 != 0
    traits.allowsCloudEncryption = node["NSAllowsCloudEncryption"]?.boolean ?? false
    traits.transformer = Text(node["NSValueTransformerName"]?.text ?? "")
    let className = node["NSAttributeValueClassName"]?.text ?? ""
    if className != type.valueClassName { traits.valueClassName = Text(className) }
    let found = try AttributeConditions(node, PredicateReader(limit: limit))
    let (derivation, source) = try self.derivation(node, of: "\(entity).\(name)")
    let defaultValue = try self.defaultValue(node, type, &traits)
    var loaded = LoadedAttribute(
      name: name, type: type, isOptional: node["NSIsOptional"]?.boolean ?? false,
      isTransient: node["NSIsTransient"]?.boolean ?? false,
      isSearchable: node["NSUserInfo"]?.named?.contains { $0.name == OwnTrait.searchable } == true,
      defaultValue: defaultValue, rules: found.rules, conditions: found.conditions, derivation: derivation,
      derivationSource: source, traits: traits, modifier: node.modifier, renaming: node.renaming(of: name))
    loaded.isIndexed = node["NSIsIndexed"]?.boolean ?? false
    // Since iOS 11 an entity has its indexes by themselves.
    loaded.impliesIndex = loaded.isIndexed && entities[entity]?["NSFetchIndexDescriptions"]?.elements?.isEmpty != false
    if type == .composite {
      loaded.composition = (Text(""), try elements(of: node, "\(entity).\(name)", depth: depth))
    }
    return loaded
  }

  /// What a composite attribute is made of. Under which key an archive has it is not known.
  private func elements(
    of node: ArchiveNode, _ attribute: String, depth: Int
  ) throws(Failure) -> [LoadedAttribute] {
    if depth >= ModelReader.deepestComposite { throw failure("'\(attribute)' is nested too deep") }
    var found: [LoadedAttribute] = []
    for part in node["NSElements"]?.elements ?? [] {
      try limit.take()
      guard let name = part["NSPropertyName"]?.text else { throw failure("a part of '\(attribute)' has no name") }
      found.append(try self.attribute(name, of: attribute, part, depth: depth + 1))
    }
    return found
  }

  private func attributeType(_ number: Int64?, of attribute: String) throws(Failure) -> AttributeType {
    if let type = UInt32(exactly: number ?? 0).flatMap(AttributeType.init) { return type }
    throw Failure(
      .unsupported,
      "Attribute '\(attribute)' of \(what) is of the type \(number ?? 0), which this version does not store.")
  }

  /// The object that a transformable attribute begins with is kept as its transformer would write it, if that is known.
  private func defaultValue(
    _ node: ArchiveNode, _ type: AttributeType, _ traits: inout AttributeTraits
  ) throws(Failure) -> Value {
    guard let value = node["NSDefaultValue"] else { return .nil }
    if type != .transformable { return value.single ?? .nil }
    let archive = try ArchiveEncoder.archive(of: value, limit)
    if ModelReader.transformersOfArchives.contains(traits.transformer.string) {
      return archive.map { .data($0) } ?? .nil
    }
    // What other transformers write is the application's own.
    traits.archivedDefault = archive
    return .nil
  }

  /// The text of what a derived attribute is calculated from. What has no text that is calculated is kept besides.
  private func derivation(
    _ node: ArchiveNode, of attribute: String
  ) throws(Failure) -> (text: String?, source: (any DerivationSource)?) {
    if node.className != "NSDerivedAttributeDescription" { return (nil, nil) }
    let reader = PredicateReader(limit: limit)
    let expression = try reader.expression(node["NSDerivationExpression"])
    let filter = try node["NSFilteringPredicate"].map { (filter) throws(Failure) in try reader.predicate(filter) }
    let text = Derivation.text(of: expression)
    let isKnown = filter == nil && (try? Derivation(text, of: attribute)) != nil
    return isKnown ? (text, nil) : (expression.text, ArchivedDerivation(expression, filter: filter))
  }

  private func readRelationship(_ name: String, of entity: String, _ node: ArchiveNode) throws(Failure) {
    let subject = "'\(entity).\(name)'"
    let destination = node["_NSDestinationEntityName"]?.text ?? node["NSDestinationEntity"]?["NSEntityName"]?.text
    guard let destination else { throw failure("\(subject) leads to no entity") }
    let rule = UInt32(exactly: node["NSDeleteRule"]?.integer ?? 1).flatMap(DeleteRule.init(rawValue:))
    guard let rule else { throw failure("\(subject) has an unknown delete rule") }
    let maximum = Int(clamping: node["NSMaxCount"]?.integer ?? 0)
    try model.addLoadedRelationship(
      LoadedRelationship(
        name: name, destination: destination,
        inverse: node["_NSInverseRelationshipName"]?.text ?? node["NSInverseRelationship"]?["NSPropertyName"]?.text
          ?? "",
        isToMany: maximum != 1, isOrdered: node["NSIsOrdered"]?.boolean ?? false,
        isOptional: node["NSIsOptional"]?.boolean ?? false, isTransient: node["NSIsTransient"]?.boolean ?? false,
        minimum: Int(clamping: node["NSMinCount"]?.integer ?? 0), maximum: maximum, rule: rule, namesJoinTable: false,
        modifier: node.modifier, renaming: node.renaming(of: name),
        isIndexed: node["NSIsIndexed"]?.boolean ?? false),
      to: entity)
  }

  // MARK: Indexes, constraints, user info

  private func readRest(of name: String, _ node: ArchiveNode) throws(Failure) {
    let entity = try model.entity(named: name)
    let reader = PredicateReader(limit: limit)
    for index in node["NSFetchIndexDescriptions"]?.elements ?? [] {
      try limit.take()
      var elements: [FetchIndex.Element] = [], kind = FetchIndex.Kind.binary
      for element in index["NSIndexElements"]?.elements ?? [] {
        try limit.take()
        let target: FetchIndex.Target
        if let expression = element["NSIndexedProperty"]?["NSExpression"] {
          target = IndexedExpression.target(try reader.expression(expression), of: entity)
        } else {
          target = .property(element["NSPropertyName"]?.text ?? "")
        }
        if element["NSFetchIndexElementType"]?.integer == 1 { kind = .rTree }
        elements.append(FetchIndex.Element(target, isDescending: element["NSAscending"]?.boolean == false))
      }
      var condition: IndexPredicate?
      if let predicate = index["NSPartialIndexPredicate"] {
        condition = IndexPredicate(try reader.predicate(predicate))
      }
      if elements.isEmpty { continue }
      try model.addFetchIndex(
        named: index["NSIndexName"]?.text ?? "", to: name, kind: kind, elements: elements, condition: condition)
    }
    for tuple in node["NSUniqueTuples"]?.elements ?? [] {
      let names = (tuple.elements ?? []).compactMap { $0.text ?? $0["NSPropertyName"]?.text }
      try limit.take(1 + names.count)
      if !names.isEmpty { try model.addUniquenessConstraint(to: name, properties: names) }
    }
    for (key, value) in node["NSUserInfo"]?.named ?? [] {
      try limit.take()
      if let text = value.text { try model.setUserInfo(of: name, key: Text(key), to: Text(text)) }
    }
  }

  // MARK: Requests

  private func request(_ node: ArchiveNode, entity: String?) throws(Failure) -> FetchRequest {
    guard let entity = entity ?? node["NSEntity"]?["NSEntityName"]?.text ?? node["NSEntityName"]?.text else {
      throw failure("a fetch request has no entity")
    }
    try limit.take()
    let request = FetchRequest(entityName: entity)
    if let predicate = node["NSPredicate"] {
      request.predicate = try PredicateReader(limit: limit).predicate(predicate)
    }
    for descriptor in node["NSSortDescriptors"]?.elements ?? [] {
      try limit.take()
      let keys = (descriptor["NSKey"]?.text ?? "").split(separator: ".").map(String.init)
      try limit.take(keys.count)
      if keys.isEmpty { throw failure("a fetch request sorts by nothing") }
      let order = SortSelector.order(of: descriptor["NSSelector"]?.text ?? "")
      request.sort.append(
        SortDescriptor(
          keyPath: keys, isAscending: descriptor["NSAscending"]?.boolean ?? true, textOrder: try TextOrder(order)))
    }
    if let limit = node["NSFetchLimit"]?.integer, limit > 0 { request.limit = Int(clamping: limit) }
    request.offset = max(0, Int(clamping: node["NSFetchOffset"]?.integer ?? 0))
    request.batchSize = max(0, Int(clamping: node["NSBatchSize"]?.integer ?? 0))
    let type = UInt32(exactly: node["NSResultType"]?.integer ?? 0).flatMap(FetchRequest.ResultType.init)
    request.resultType = type ?? .objects
    for path in node["NSRelationshipKeyPathsForPrefetching"]?.elements ?? [] {
      try limit.take()
      let keys = (path.text ?? "").split(separator: ".").map(String.init)
      try limit.take(keys.count)
      if !keys.isEmpty { request.prefetchedKeyPaths.append(keys) }
    }
    return request
  }
}

extension ArchiveNode {
  fileprivate var modifier: Text { Text(self["NSVersionHashModifier"]?.text ?? "") }

  /// Empty where it is the name.
  fileprivate func renaming(of name: String) -> Text {
    let found = self["NSRenamingIdentifier"]?.text ?? ""
    return Text(found == name ? "" : found)
  }
}
