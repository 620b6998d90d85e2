/// The keys that a list follows beyond its rows, and the names of changes there.
struct ListWatch {
  struct Target {
    let dependency: Dependency
    /// Which of the names a change there has.
    fileprivate(set) var names: [Int] = []
    /// Whether rows show it, so that its change is theirs whether or not they move.
    fileprivate(set) var isDisplayed = false

    /// What a change there is to a row that reaches it.
    var keys: ChangedKeys { ChangedKeys(names: Set(names), isDisplayed: isDisplayed, isDecisive: true) }
  }

  private(set) var targets: [Target]
  private(set) var names: [Text] = []
  /// Properties of the rows themselves at which displayed key paths begin.
  private(set) var beginnings: [(property: Property, name: Int)] = []
  let displayed: [[String]]
  /// Properties of a row itself without which it stays in or out of the list, and in its place.
  let decisive: PropertySet

  init(_ query: BoundQuery, displaying displayed: [[String]], of store: any Engine) throws(Failure) {
    self.displayed = displayed
    decisive = query.ownProperties
    targets = query.dependencies().map { Target(dependency: $0) }
    for path in query.sort.map(\.path) { add(path.text, path.dependencies, isDisplayed: false) }
    if let sections = query.sections {
      add(sections.rule.key.text, sections.reach.dependencies, isDisplayed: false)
    }
    for keys in displayed {
      let path = try BoundExpression(.keyPath([Key](named: keys)), to: query.entity, of: store.uuid)
      guard case .keyPath(let bound) = path.expression else { continue }
      try ListWatch.check(bound, of: query.entity)
      let name = add(keys.joined(separator: "."), path.reach.dependencies, isDisplayed: true)
      if let first = bound[0].property, keys.count > 1 { beginnings.append((first, name)) }
    }
  }

  @discardableResult
  private mutating func add(_ text: String, _ dependencies: [Dependency], isDisplayed: Bool) -> Int {
    let text = Text(text)
    let name = names.firstIndex(of: text) ?? names.count
    if name == names.count { names.append(text) }
    for dependency in dependencies {
      let place = targets.firstIndex { $0.dependency.isSame(as: dependency) } ?? targets.count
      if place == targets.count { targets.append(Target(dependency: dependency)) }
      if !targets[place].names.contains(name) { targets[place].names.append(name) }
      if isDisplayed { targets[place].isDisplayed = true }
    }
    return name
  }

  private static func check(_ keys: [Key], of entity: Entity) throws(Failure) {
    var current: Entity? = entity
    for key in keys where !key.isOperator {
      guard let owner = current else {
        throw Failure(
          .invalidArgument,
          "The displayed key path '\(keys.names.joined(separator: "."))' goes on behind an attribute, "
            + "with '\(key.name)'. End it there."
        )
      }
      current = (try key.property(of: owner) as? Relationship)?.destination
    }
  }

  /// What changed of a row itself, with the displayed key paths that begin there.
  func keys(_ own: ChangedKeys) -> ChangedKeys {
    var keys = own
    for (property, name) in beginnings where own.properties.contains(property) { keys.names.insert(name) }
    return keys
  }

  /// Whether objects of that entity can matter.
  func isConcerned(with entity: Entity) -> Bool {
    targets.contains { $0.dependency.path.contains { $0.destination.rootNumber == entity.rootNumber } }
  }
}
