/// Turns declared entities into a consistent whole: parents, numbers, slots, destinations and inverses.
///
/// Nothing is stored in the entities before every check has passed, so a model that failed can be mended.
struct ModelResolver {
  let entities: [Entity]
  let byName: [String: Entity]
  let origin: ModelOrigin
  /// The place of each entity, and the places of the parents, -1 for none: chains of thousands are followed often.
  private let places: [ObjectIdentifier: Int]
  private let parents: [Int]

  init(entities: [Entity], byName: [String: Entity], origin: ModelOrigin) {
    self.entities = entities
    self.origin = origin
    self.byName = byName
    let places = Dictionary(uniqueKeysWithValues: entities.enumerated().map { (ObjectIdentifier($1), $0) })
    self.places = places
    parents = entities.map { byName[$0.parentName].flatMap { places[ObjectIdentifier($0)] } ?? -1 }
  }

  func resolve() throws(Failure) -> [Entity] {
    if entities.isEmpty {
      throw Failure(.invalidModel, "The model has no entities; add at least one.")
    }
    try checkAncestors()
    if origin == .file { try checkSizeOfTree() }
    let names = entities.map { entity in
      Dictionary(entity.ownPropertyNames.map { (sameness($0), $0) }, uniquingKeysWith: { first, _ in first })
    }
    for (place, entity) in entities.enumerated() { try checkInherited(entity, at: place, names) }
    for entity in entities {
      for relationship in entity.ownRelationships { try check(relationship) }
      for attribute in entity.ownAttributes {
        try checkDerivation(of: attribute, entity)
      }
      try checkIndexes(entity)
      for rule in entity.ownRules { try check(rule, of: entity) }
    }
    try checkColumns()
    return link()
  }

  /// What two names of one entity and its ancestors must not share.
  private func sameness(_ name: String) -> String { origin == .file ? name : Names.upper(name) }

  private func parent(of entity: Entity) -> Entity? { byName[entity.parentName] }

  /// The chain from `entity` to its root, itself first. For entities whose ancestors have been checked.
  private func chain(_ entity: Entity) -> [Entity] { placesOfChain(entity).map { entities[$0] } }

  private func placesOfChain(_ entity: Entity) -> some Sequence<Int> {
    sequence(first: places[ObjectIdentifier(entity)] ?? -1) { parents[$0] }.prefix { $0 >= 0 }
  }

  private func checkAncestors() throws(Failure) {
    /// The entities whose ancestors are known to end.
    var isChecked = Array(repeating: false, count: entities.count)
    for start in entities.indices {
      var seen: [Int] = [], isSeen: Set<Int> = []
      var place = start
      while place >= 0, !isChecked[place] {
        seen.append(place)
        isSeen.insert(place)
        let current = entities[place]
        place = parents[place]
        if place < 0, !current.parentName.isEmpty {
          throw Failure(
            .invalidModel,
            "Entity '\(current.name)' has the parent '\(current.parentName)', which the model does not have.")
        }
        if isSeen.contains(place) {
          let names = (seen + [place]).map { entities[$0].name }.joined(separator: " -> ")
          throw Failure(.invalidModel, "The parents of entity '\(entities[start].name)' form a cycle: \(names).")
        }
      }
      for place in seen { isChecked[place] = true }
    }
  }

  /// An entity that declares something has a list of all that it inherits. Together they are large in a hostile file.
  private static let mostInherited = 1_000_000

  private func checkSizeOfTree() throws(Failure) {
    var total = 0
    for (place, entity) in entities.enumerated() {
      let chain = placesOfChain(entity).prefix(Model.deepestOfFile + 2).map { $0 }
      if chain.count > Model.deepestOfFile + 1 {
        throw Failure(.invalidModel, "Entity '\(entity.name)' has more than \(Model.deepestOfFile) ancestors.")
      }
      if entities[place].ownPropertyCount == 0 { continue }
      for place in chain { total += entities[place].ownPropertyCount }
      if total > ModelResolver.mostInherited {
        throw Failure(
          .invalidModel, "The entities of the model have more than \(ModelResolver.mostInherited) properties in all.")
      }
    }
  }

  /// `names` has what each entity declares, by what SQLite takes names for.
  private func checkInherited(_ entity: Entity, at start: Int, _ names: [[String: String]]) throws(Failure) {
    if names[start].isEmpty { return }
    for place in placesOfChain(entity).dropFirst() where !names[place].isEmpty {
      for name in entity.ownPropertyNames {
        if let other = names[place][sameness(name)] {
          throw Failure(
            .invalidModel,
            "Entity '\(entity.name)' declares '\(name)', which it inherits from '\(entities[place].name)' "
              + "as '\(other)'. Remove or rename one.")
        }
      }
    }
  }

  /// Whether one inherits from the other: an inverse may be declared by an ancestor of the destination.
  private func areRelated(_ left: Entity, _ right: Entity) -> Bool {
    chain(left).contains { $0 === right } || chain(right).contains { $0 === left }
  }

  func property(_ name: String, of entity: Entity) -> Property? {
    for ancestor in chain(entity) {
      if let found = ancestor.ownAttributes.first(where: { $0.name == name }) { return found }
      if let found = ancestor.ownRelationships.first(where: { $0.name == name }) { return found }
    }
    return nil
  }

  private func check(_ relationship: Relationship) throws(Failure) {
    let subject = "Relationship '\(relationship.qualifiedName)'"
    guard let destination = byName[relationship.destinationName] else {
      throw Failure(
        .invalidModel,
        "\(subject) points to entity '\(relationship.destinationName)', which the model does not have.",
        about: .property(relationship))
    }
    if relationship.namesJoinTable, relationship.inverseName.isEmpty || relationship.isTransient {
      try dropJoinTable(of: relationship, else: withoutJoinTable)
    }
    if relationship.inverseName.isEmpty { return }
    guard let inverse = property(relationship.inverseName, of: destination) as? Relationship else {
      throw Failure(
        .invalidModel,
        "\(subject) names the inverse '\(destination.name).\(relationship.inverseName)', "
          + "which is not a relationship of that entity.", about: .property(relationship))
    }
    let back = byName[inverse.destinationName]
    let pointsBack =
      inverse.inverseName == relationship.name
      && back.map { areRelated($0, relationship.entity) } == true
    if inverse.inverseName.isEmpty {
      throw Failure(
        .invalidModel,
        "\(subject) names the inverse '\(inverse.qualifiedName)', which names no inverse itself. "
          + "Set the inverse of '\(inverse.qualifiedName)' to '\(relationship.name)'.",
        about: .property(inverse))
    }
    if !pointsBack {
      throw Failure(
        .invalidModel,
        "\(subject) names the inverse '\(inverse.qualifiedName)', "
          + "whose inverse is '\(inverse.destinationName).\(inverse.inverseName)'. Inverses must point at each other.",
        about: .property(relationship))
    }
    if inverse.isTransient != relationship.isTransient {
      throw Failure(
        .invalidModel, "\(subject) and its inverse '\(inverse.qualifiedName)' must both be transient or neither.",
        about: .property(relationship))
    }
    if !relationship.namesJoinTable { return }
    if !relationship.isToMany || !inverse.isToMany { try dropJoinTable(of: relationship, else: withoutJoinTable) }
    if relationship.namesJoinTable, inverse.namesJoinTable, inverse !== relationship {
      try dropJoinTable(of: relationship) { _ in
        Failure(
          .invalidModel,
          "\(subject) and its inverse '\(inverse.qualifiedName)' both name their join table. One of them does.",
          about: .property(relationship))
      }
    }
  }

  /// In a file it is one text of many, which refuses no model.
  private func dropJoinTable(
    of relationship: Relationship, else failure: (Relationship) -> Failure
  ) throws(Failure) {
    if origin == .program { throw failure(relationship) }
    relationship.namesJoinTable = false
  }

  private func withoutJoinTable(_ relationship: Relationship) -> Failure {
    Failure(
      .invalidModel,
      "Relationship '\(relationship.qualifiedName)' names a join table and has none: only stored to-many relationships "
        + "with a to-many inverse have one.", about: .property(relationship))
  }

  private func checkIndexes(_ entity: Entity) throws(Failure) {
    func column(_ name: String, in subject: String) throws(Failure) {
      guard let property = property(name, of: entity) else {
        throw Failure(
          .invalidModel, "\(subject) names '\(name)', which entity '\(entity.name)' does not have.",
          about: .entity(entity, key: name))
      }
      if property.isTransient || (property as? Relationship)?.isToMany == true {
        throw Failure(
          .invalidModel,
          "\(subject) names '\(name)', which has no column: only stored attributes and to-one relationships have one.",
          about: .entity(entity, key: name))
      }
    }
    for index in entity.fetchIndexes { try check(index, of: entity) }
    for constraint in entity.uniquenessConstraints {
      for (position, name) in constraint.enumerated() {
        try column(name, in: "A uniqueness constraint of entity '\(entity.name)'")
        if property(name, of: entity)?.isDerived == true {
          throw Failure(
            .invalidModel,
            "A uniqueness constraint of entity '\(entity.name)' names '\(name)', which is derived while a save is "
              + "under way. Name what it is derived from.", about: .entity(entity, key: name))
        }
        if (property(name, of: entity) as? Attribute)?.traits.allowsExternalStorage == true, origin == .program {
          throw Failure(
            .invalidModel,
            "A uniqueness constraint of entity '\(entity.name)' names '\(name)', of which the store has the place of a "
              + "file. Name an attribute that is not stored externally.", about: .entity(entity, key: name))
        }
        if constraint[..<position].contains(name) {
          throw Failure(
            .invalidModel, "A uniqueness constraint of entity '\(entity.name)' names '\(name)' twice.",
            about: .entity(entity, key: name))
        }
      }
    }
  }

  /// Whether the properties that a fetch index names are there. For those of files that is all.
  private func check(_ index: FetchIndex, of entity: Entity) throws(Failure) {
    let subject = "Fetch index '\(index.name)' of entity '\(entity.name)'"
    let names = index.elements.compactMap(\.property)
    for name in names {
      guard let property = property(name, of: entity) else {
        throw Failure(
          .invalidModel, "\(subject) names '\(name)', which entity '\(entity.name)' does not have.",
          about: .entity(entity, key: name))
      }
      if property.isTransient, origin == .program {
        throw Failure(
          .invalidModel, "\(subject) names '\(name)', which has no column: only stored properties have one.",
          about: .entity(entity, key: name))
      }
    }
    guard origin == .program, let condition = index.condition else { return }
    for path in condition.keyPaths {
      let key = path.joined(separator: ".")
      guard let property = property(key, of: entity), !property.isTransient,
        (property as? Relationship)?.isToMany != true
      else {
        throw Failure(
          .invalidModel,
          "\(subject) has a condition on '\(key)', which has no column: only stored attributes and to-one "
            + "relationships of '\(entity.name)' have one.", about: .entity(entity, key: key))
      }
    }
  }

  /// Whether the keys that a rule asks for are there.
  private func check(_ rule: ValidationRule, of entity: Entity) throws(Failure) {
    func failure(_ problem: String) -> Failure {
      let place = rule.key.isEmpty ? entity.name : "\(entity.name).\(rule.key)"
      return Failure(
        .invalidModel, "The rule \"\(rule.message)\" of '\(place)' \(problem)", about: .entity(entity, key: rule.key))
    }
    var start: Property?
    if !rule.key.isEmpty {
      guard let attribute = property(rule.key, of: entity) as? Attribute else {
        throw failure(
          "is for a key that is no attribute of it. A rule about a relationship is a rule of the object: give no key.")
      }
      if attribute.isDerived, origin == .program {
        throw failure("is for a derived attribute, which is calculated after the rules were asked. Ask for its source.")
      }
      start = attribute
    }
    for path in rule.condition.keyPaths {
      var current = entity, last = start
      // A collection operator, such as @count, stands between keys or at the end, and changes nothing about them.
      for key in path where key.utf8.first != UInt8(ascii: "@") {
        if key == "self", last is Attribute || property(key, of: current) == nil { continue }
        if let attribute = last as? Attribute {
          if key == "length", attribute.hasLength { continue }
          throw failure("asks for '\(path.joined(separator: "."))': '\(attribute.name)' is a value, without keys.")
        }
        guard let next = property(key, of: current) else {
          throw failure("asks for '\(path.joined(separator: "."))': '\(current.name)' has no property '\(key)'.")
        }
        last = next
        // Whether the destination exists was checked, if not here, then with the entity that declares it.
        if let relationship = next as? Relationship { current = byName[relationship.destinationName] ?? current }
      }
    }
  }

  /// A table of SQLite, as most systems build it, has no more columns. Three of them every row has.
  private static let mostColumns = 2000
  private static let columnsOfEveryRow = 3

  /// The table of an entity holds all that inherit from it.
  private func checkColumns() throws(Failure) {
    let parentNames = Set(entities.map(\.parentName))
    var columns = Array(repeating: 0, count: entities.count)
    for (place, entity) in entities.enumerated() {
      columns[place] += entity.ownAttributes.count { !$0.isTransient }
      for relationship in entity.ownRelationships where !relationship.isTransient {
        guard let destination = byName[relationship.destinationName] else { continue }
        let inverse = property(relationship.inverseName, of: destination) as? Relationship
        if !relationship.isToMany {
          columns[place] += parentNames.contains(destination.name) ? 2 : 1
          if inverse?.isToMany == true, inverse?.isOrdered == true { columns[place] += 1 }
        } else if inverse == nil, let there = places[ObjectIdentifier(destination)] {
          columns[there] += relationship.isOrdered ? 2 : 1
        }
      }
    }
    var totals = Array(repeating: ModelResolver.columnsOfEveryRow, count: entities.count)
    var roots = parents.indices.map { parents[$0] < 0 ? $0 : -1 }
    for start in entities.indices where roots[start] < 0 {
      var waiting: [Int] = [], place = start
      while roots[place] < 0 {
        waiting.append(place)
        place = parents[place]
      }
      for other in waiting { roots[other] = roots[place] }
    }
    for place in entities.indices { totals[roots[place]] += columns[place] }
    guard let root = totals.indices.first(where: { totals[$0] > ModelResolver.mostColumns }) else { return }
    let tree = entities.indices.filter { roots[$0] == root }
    let widest = tree.max { columns[$0] < columns[$1] } ?? root
    let others = tree.count == 1 ? "" : ", which has the \(tree.count - 1) entities that inherit from it in it,"
    throw Failure(
      .invalidModel,
      "The table of entity '\(entities[root].name)'\(others) needs \(totals[root]) columns, and SQLite's tables have "
        + "at most \(ModelResolver.mostColumns). Entity '\(entities[widest].name)' adds \(columns[widest]) of them: "
        + "move attributes of it to an entity of their own, and relate the two.")
  }

  /// Stores the resolved references and numbers; cannot fail.
  private func link() -> [Entity] {
    let children = Dictionary(grouping: entities, by: \.parentName)
    for entity in entities {
      entity.parent = parent(of: entity)
      entity.children = (children[entity.name] ?? []).sorted { Names.precedes($0.name, $1.name) }
    }
    var numbered: [Entity] = []
    numbered.reserveCapacity(entities.count)
    // Depth first, those that come next last.
    var waiting = Array((children[""] ?? []).sorted { Names.precedes($0.name, $1.name) }.reversed())
    while let entity = waiting.popLast() {
      numbered.append(entity)
      entity.number = numbered.count
      entity.rootNumber = entity.parent?.rootNumber ?? entity.number
      entity.inherit()
      waiting.append(contentsOf: entity.children.reversed())
    }
    // Whatever inherits from an entity comes behind it.
    for entity in numbered.reversed() { entity.lastNumber = entity.children.last?.lastNumber ?? entity.number }
    for relationship in entities.flatMap(\.ownRelationships) {
      if let destination = byName[relationship.destinationName] { relationship.destination = destination }
    }
    for relationship in entities.flatMap(\.ownRelationships) where !relationship.inverseName.isEmpty {
      relationship.inverse = relationship.destination.propertiesByName[relationship.inverseName] as? Relationship
    }
    return numbered
  }
}
