/// The model in the `contents` of an .xcdatamodel, as Xcode writes it.
struct XMLModelReader {
  private static let types: [String: AttributeType] = Dictionary(
    uniqueKeysWithValues: AttributeType.allCases.map { ($0.name, $0) })

  /// Deeper than composite attributes are nested in any model.
  private static let deepestComposite = 16

  private let model = Model(origin: .file)
  private let what: String
  private let limit: ReadingLimit
  /// What composite attributes are made of, by the name that the model has for it.
  private var composites: [String: XMLElement] = [:]

  /// The model is not frozen yet.
  static func model(of bytes: Bytes, _ what: String) throws(Failure) -> Model {
    let root = try XMLElement.root(of: bytes, what)
    var reader = XMLModelReader(what, ReadingLimit(size: bytes.count, what))
    guard root.name == "model" else { throw reader.failure("its outermost element is '\(root.name)', not 'model'") }
    try reader.read(root)
    return reader.model
  }

  private init(_ what: String, _ limit: ReadingLimit) {
    self.what = what
    self.limit = limit
  }

  private func failure(_ problem: String) -> Failure { Failure(.invalidModel, "\(what) is no model: \(problem).") }

  private func required(_ attribute: String, of element: XMLElement) throws(Failure) -> String {
    if let value = element[attribute] { return value }
    throw failure("the element '\(element.name)' in line \(element.line) has no '\(attribute)'")
  }

  private mutating func read(_ root: XMLElement) throws(Failure) {
    for element in root.children(named: "composite") { composites[try required("name", of: element)] = element }
    for element in root.children(named: "entity") {
      let name = try required("name", of: element)
      let className = element["representedClassName"] ?? ""
      try model.addEntity(
        named: name, parent: element["parentEntity"] ?? "", isAbstract: element.flag("isAbstract"),
        versionHashModifier: element.modifier, renamingIdentifier: element.renaming(of: name),
        className: Text(className == "NSManagedObject" ? "" : className))
    }
    for element in root.children(named: "entity") { try readEntity(element) }
    // An index says what it is of by the names of properties, which are all there now.
    for element in root.children(named: "entity") { try readIndexes(element) }
    for element in root.children(named: "configuration") {
      var members: [String] = []
      for member in element.children(named: "memberEntity") { members.append(try required("name", of: member)) }
      try model.addConfiguration(named: Text(try required("name", of: element)), entityNames: members)
    }
    for element in root.children(named: "fetchRequest") {
      try model.addFetchTemplate(named: try required("name", of: element), try request(element))
    }
    // Xcode writes one, which may be empty and is one all the same. Others of a model that it did not write follow it.
    if let identifier = root["userDefinedModelVersionIdentifier"] {
      try model.addVersionIdentifier(Text(identifier))
    }
    for element in root.children(named: "versionIdentifier") {
      try model.addVersionIdentifier(Text(try required("value", of: element)))
    }
  }

  // MARK: Entities

  private func readEntity(_ element: XMLElement) throws(Failure) {
    let entity = try required("name", of: element)
    // Since iOS 11 an entity has its indexes by themselves.
    let impliesIndexes = !element.children.contains { $0.name == "fetchIndex" }
    for child in element.children {
      switch child.name {
      case "attribute": try readAttribute(child, of: entity, impliesIndexes: impliesIndexes)
      case "relationship": try readRelationship(child, of: entity)
      case "fetchedProperty":
        let name = try required("name", of: child)
        guard let request = child.children(named: "fetchRequest").first(where: { _ in true }) else {
          throw failure("'\(entity).\(name)' has no request")
        }
        try model.addFetchedProperty(
          named: name, to: entity, try self.request(request), isOptional: child.flag("optional"))
        try readUserInfo(child, of: entity, property: name)
      case "uniquenessConstraints":
        for constraint in child.children(named: "uniquenessConstraint") {
          var names: [String] = []
          for part in constraint.children(named: "constraint") { names.append(try required("value", of: part)) }
          if !names.isEmpty { try model.addUniquenessConstraint(to: entity, properties: names) }
        }
      default: break
      }
    }
    try readUserInfo(element, of: entity)
  }

  private func readUserInfo(_ element: XMLElement, of entity: String, property: String? = nil) throws(Failure) {
    for info in element.children(named: "userInfo") {
      for entry in info.children(named: "entry") {
        let key = try required("key", of: entry)
        if property != nil, OwnTrait.all.contains(key) { continue }
        try model.setUserInfo(of: entity, property: property, key: Text(key), to: Text(entry["value"] ?? ""))
      }
    }
  }

  private func readAttribute(
    _ element: XMLElement, of entity: String, impliesIndexes: Bool
  ) throws(Failure) {
    var loaded = try attribute(element, of: entity)
    loaded.impliesIndex = loaded.isIndexed && impliesIndexes
    try model.addLoadedAttribute(loaded, to: entity)
    try readUserInfo(element, of: entity, property: loaded.name)
  }

  /// `above` are the composites that it is an element of.
  private func attribute(
    _ element: XMLElement, of entity: String, within above: [String] = []
  ) throws(Failure) -> LoadedAttribute {
    let name = try required("name", of: element), written = element["attributeType"] ?? AttributeType.undefined.name
    guard let type = XMLModelReader.types[written] else {
      throw Failure(
        .unsupported,
        "Attribute '\(entity).\(name)' of \(what) is of the type '\(written)', which this version does not store.",
        about: .named(entity, name))
    }
    var traits = AttributeTraits()
    traits.allowsExternalStorage = element.flag("allowsExternalBinaryDataStorage")
    traits.preservesAfterDeletion = element.flag("preserveAfterDeletion")
    traits.allowsCloudEncryption = element.flag("allowsCloudEncryption")
    traits.transformer = Text(element["valueTransformerName"] ?? "")
    let className = element["customClassName"] ?? ""
    if className != type.valueClassName { traits.valueClassName = Text(className) }
    let values = XMLValues(element, type)
    var conditions: [(predicate: Predicate, message: Text)] = []
    for rule in element.children(named: "validationRule") {
      let message = Text(try required("message", of: rule))
      conditions.append((Predicate(file: try required("predicateString", of: rule)), message))
    }
    var loaded = LoadedAttribute(
      name: name, type: type, isOptional: element.flag("optional"), isTransient: element.flag("transient"),
      isSearchable: element.hasTrait(OwnTrait.searchable), defaultValue: values.defaultValue, rules: values.rules,
      conditions: conditions,
      derivation: element.flag("derived") ? try required("derivationExpression", of: element) : nil, traits: traits,
      modifier: element.modifier, renaming: element.renaming(of: name))
    loaded.isIndexed = element.flag("indexed")
    let filter = element.children(named: "derivationFilter").first { _ in true }
    if let text = loaded.derivation, let filter {
      let predicate = Predicate(file: try required("predicateString", of: filter))
      loaded.derivationSource = ArchivedDerivation(try? Expression.parse(Text(text), arguments: []), filter: predicate)
    }
    if type == .composite { loaded.composition = try composition(element, of: "\(entity).\(name)", within: above) }
    return loaded
  }

  private func composition(
    _ element: XMLElement, of attribute: String, within above: [String]
  ) throws(Failure) -> (name: Text, elements: [LoadedAttribute]) {
    let name = try required("composite", of: element)
    guard let composite = composites[name] else {
      throw failure("'\(attribute)' is of the unknown composite '\(name)'")
    }
    if above.contains(name) || above.count >= XMLModelReader.deepestComposite {
      throw failure("the composite '\(name)' of '\(attribute)' is within itself, or nested too deep")
    }
    var elements: [LoadedAttribute] = []
    for part in composite.children(named: "attribute") {
      try limit.take()
      elements.append(try self.attribute(part, of: attribute, within: above + [name]))
    }
    return (Text(name), elements)
  }

  private func readRelationship(_ element: XMLElement, of entity: String) throws(Failure) {
    let name = try required("name", of: element), maximum = try count("maxCount", of: element)
    // One that holds one object at most is to-one for Core Data, whatever it says.
    let isToMany = element.flag("toMany") && maximum != 1
    let rules: [String: DeleteRule] = [
      "No Action": .noAction, "Nullify": .nullify, "Cascade": .cascade, "Deny": .deny,
    ]
    let written = element["deletionRule"] ?? "Nullify"
    guard let rule = rules[written] else {
      throw failure("'\(entity).\(name)' has the unknown deletion rule '\(written)'")
    }
    try model.addLoadedRelationship(
      LoadedRelationship(
        name: name, destination: try required("destinationEntity", of: element),
        inverse: element["inverseName"] ?? "", isToMany: isToMany, isOrdered: element.flag("ordered"),
        isOptional: element.flag("optional"), isTransient: element.flag("transient"),
        minimum: try count("minCount", of: element),
        maximum: isToMany ? maximum : 1, rule: rule, namesJoinTable: element.hasTrait(OwnTrait.namesJoinTable),
        modifier: element.modifier, renaming: element.renaming(of: name), isIndexed: element.flag("indexed")),
      to: entity)
    try readUserInfo(element, of: entity, property: name)
  }

  private func count(_ attribute: String, of element: XMLElement) throws(Failure) -> Int {
    guard let written = element[attribute] else { return 0 }
    if let count = Int(written) { return count }
    throw failure("'\(attribute)' in line \(element.line) is no number: '\(written)'")
  }

  // MARK: Indexes

  private func readIndexes(_ element: XMLElement) throws(Failure) {
    let name = try required("name", of: element), entity = try model.entity(named: name)
    for index in element.children(named: "fetchIndex") {
      var elements: [FetchIndex.Element] = [], kind = FetchIndex.Kind.binary
      for part in index.children(named: "fetchIndexElement") {
        if part["type"] == "RTree" { kind = .rTree }
        let target: FetchIndex.Target
        if let expression = part["expression"] {
          target = IndexedExpression.target(try indexed(expression, part), of: entity)
        } else {
          target = .property(try required("property", of: part))
        }
        elements.append(FetchIndex.Element(target, isDescending: part["order"] == "descending"))
      }
      if elements.isEmpty { continue }
      let condition = index["partialIndexPredicate"].map { IndexPredicate(Predicate(file: $0)) }
      try model.addFetchIndex(
        named: try required("name", of: index), to: name, kind: kind, elements: elements, condition: condition)
    }
    try readOldIndexes(element, of: entity)
  }

  private func indexed(_ text: String, _ element: XMLElement) throws(Failure) -> Expression {
    do throws(Failure) { return try Expression.parse(Text(text), arguments: []) } catch {
      throw failure("the expression in line \(element.line) cannot be read: \(error.message)")
    }
  }

  /// What models before iOS 11 say of several properties that have an index together.
  private func readOldIndexes(_ element: XMLElement, of entity: Entity) throws(Failure) {
    var number = 0
    for index in element.children(named: "compoundIndexes").flatMap({ $0.children(named: "compoundIndex") }) {
      var elements: [FetchIndex.Element] = []
      for part in index.children(named: "index") {
        elements.append(FetchIndex.Element(.property(try required("value", of: part))))
      }
      if elements.isEmpty { continue }
      let name = number == 0 ? "compoundIndex" : "compoundIndex\(number)"
      number += 1
      try model.addFetchIndex(named: name, to: entity.name, elements: elements)
    }
  }

  // MARK: Requests

  private func request(_ element: XMLElement) throws(Failure) -> FetchRequest {
    let request = FetchRequest(entityName: try required("entity", of: element))
    request.predicate = element["predicateString"].flatMap { $0.isEmpty ? nil : Predicate(file: $0) }
    let limit = try count("fetchLimit", of: element)
    if limit > 0 { request.limit = limit }
    request.offset = max(0, try count("fetchOffset", of: element))
    request.batchSize = max(0, try count("fetchBatchSize", of: element))
    let type = UInt32(exactly: try count("resultType", of: element)).flatMap(FetchRequest.ResultType.init)
    request.resultType = type ?? .objects
    request.includesSubentities = element.flag("includeSubentities", default: true)
    request.includesPropertyValues = element.flag("includePropertyValues", default: true)
    for descriptor in element.children(named: "sortDescriptor") {
      let keys = try required("key", of: descriptor).split(separator: ".").map(String.init)
      let order = SortSelector.order(of: descriptor["selector"] ?? "")
      request.sort.append(
        SortDescriptor(
          keyPath: keys, isAscending: descriptor.flag("ascending", default: true), textOrder: try TextOrder(order)))
    }
    for path in element.children(named: "prefetch") {
      request.prefetchedKeyPaths.append(try required("keyPath", of: path).split(separator: ".").map(String.init))
    }
    return request
  }
}

extension XMLElement {
  /// Xcode writes YES and NO, and of some attributes true and false.
  fileprivate func flag(_ attribute: String, default missing: Bool = false) -> Bool {
    self[attribute].map { $0 == "YES" || $0 == "true" } ?? missing
  }

  fileprivate func hasTrait(_ trait: String) -> Bool {
    children(named: "userInfo").contains { info in
      info.children(named: "entry").contains { $0["key"] == trait && $0["value"] == "YES" }
    }
  }

  fileprivate var modifier: Text { Text(self["versionHashModifier"] ?? "") }

  /// Empty where it is the name.
  fileprivate func renaming(of name: String) -> Text {
    let found = self["elementID"] ?? self["renamingIdentifier"] ?? ""
    return Text(found == name ? "" : found)
  }
}

extension Predicate {
  /// A text takes some hundred times its size as a predicate.
  private static let longestOfFile = 1 << 16

  /// What a file says. A text that the language does not have, or one that is too long, is kept. Its use is refused.
  init(file text: String) {
    if text.utf8.count > Predicate.longestOfFile {
      self = .unreadable(text)
      return
    }
    self = (try? Predicate.parse(Text(text), arguments: [])) ?? .unreadable(text)
  }

  /// The same for a file.
  var fileText: String { unreadableText ?? text }
}
