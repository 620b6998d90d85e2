/// The keys of a predicate resolved against its entity. Wrong keys are refused, even where no value would show them,
/// and parts that depend on related objects are found.
struct PredicateReach {
  private(set) var dependencies: [Dependency] = []
  /// Properties of the object itself, or more where it is not known which.
  private(set) var own = PropertySet()
  /// Objects that may be the value of an expression: those at the end of a path of relationships from the object under
  /// test.
  private struct Place {
    var path: [Relationship]
    var entity: Entity
  }

  private var variables: [String: [Place]] = [:]
  private let start: Place
  /// The UUID of the store that the objects in the predicate have to be of.
  private let store: Text

  init(_ predicate: Predicate?, in entity: Entity, of store: Store) throws(Failure) {
    start = Place(path: [], entity: entity)
    self.store = store.uuid
    if let predicate { try visit(predicate) }
  }

  /// The same of an expression that stands alone.
  init(_ expression: Expression, in entity: Entity, of store: Store) throws(Failure) {
    start = Place(path: [], entity: entity)
    self.store = store.uuid
    _ = try places(of: expression)
  }

  private mutating func visit(_ predicate: Predicate) throws(Failure) {
    switch predicate {
    case .constant: return
    case .not(let part): try visit(part)
    case .and(let parts), .or(let parts): for part in parts { try visit(part) }
    case .comparison(let comparison):
      _ = try places(of: comparison.left)
      _ = try places(of: comparison.right)
    }
  }

  private mutating func places(of expression: Expression) throws(Failure) -> [Place] {
    switch expression {
    case .constant(let constant):
      try checkOrigin(of: constant.value)
      return []
    case .anyKey, .argument:
      own = .all
      return []
    case .selfObject: return [start]
    case .variable(let name): return variables[name] ?? []
    case .keyPath(let keys): return try follow(keys, from: [start])
    case .path(let base, let keys): return try follow(keys, from: places(of: base))
    case .variableKey(let base, _):
      own = .all
      _ = try places(of: base)
      return []
    case .function(let name, let parts):
      var first: [Place] = []
      for (index, part) in parts.enumerated() {
        // FIRST, LAST and SIZE look like keys there.
        if name == "objectFrom:withIndex:", index == 1 {
          let place = Expression.Index(argument: part)
          if case .expression(let expression) = place { _ = try places(of: expression) }
          try checkIndex(place, into: parts[0], first, isGrouped: true, in: expression)
          continue
        }
        let found = try places(of: part)
        if index == 0 { first = found }
      }
      return name == "noindex:" || name == "objectFrom:withIndex:" ? first : []
    case .list(let parts), .fetch(let parts):
      if case .fetch = expression { own = .all }
      var found: [Place] = []
      for part in parts { found += try places(of: part) }
      return found
    case .index(let base, let index, let isGrouped):
      if case .expression(let expression) = index { _ = try places(of: expression) }
      let found = try places(of: base)
      try checkIndex(index, into: base, found, isGrouped: isGrouped, in: expression)
      return found
    case .subquery(let collection, let variable, let condition):
      let elements = try places(of: collection)
      let outer = variables[variable]
      variables[variable] = elements
      try visit(condition)
      variables[variable] = outer
      return elements
    case .conditional(let condition, let first, let second):
      try visit(condition)
      return try places(of: first) + places(of: second)
    case .set(_, let left, let right): return try places(of: left) + places(of: right)
    case .assignment(let name, let value):
      variables[name] = try places(of: value)
      return variables[name] ?? []
    }
  }

  /// An object of another store may have the id of one of this, and is another all the same.
  private func checkOrigin(of value: Value) throws(Failure) {
    switch value {
    case .object(let box):
      if let origin = box.store, origin != store {
        throw Failure(
          .invalidArgument,
          "The predicate names object \(box.reference.id) of another store (\(origin)). Name objects of the store that "
            + "is asked, of whatever context of it.")
      }
    case .list(let list): for value in list.values { try checkOrigin(of: value) }
    default: return
    }
  }

  private mutating func follow(_ keys: [String], from places: [Place]) throws(Failure) -> [Place] {
    var places = places
    for key in keys where key != "self" && key.utf8.first != UInt8(ascii: "@") {
      var next: [Place] = []
      for place in places {
        let property = try place.entity.property(named: key)
        add(place.path, property)
        guard let relationship = property as? Relationship else { continue }
        let path = place.path + [relationship]
        // The members of a to-many relationship change with the other end, whether or not they were read.
        if relationship.isToMany, let inverse = relationship.inverse, !inverse.isToMany { add(path, inverse) }
        next.append(Place(path: path, entity: relationship.destination))
      }
      places = next
    }
    return places
  }

  private mutating func add(_ path: [Relationship], _ property: Property) {
    if path.isEmpty {
      own.insert(slot: property.slot)
      return
    }
    if dependencies.contains(where: { $0.property === property && $0.path.elementsEqual(path, by: ===) }) { return }
    dependencies.append(Dependency(path: path, property: property))
  }
}

// MARK: - Indexes

extension PredicateReach {
  /// A single object has no places to name: refused even where there is none. A text asks it for a key.
  private func checkIndex(
    _ index: Expression.Index, into base: Expression, _ found: [Place], isGrouped: Bool, in written: Expression
  ) throws(Failure) {
    if case .expression(let expression) = index, try mayBeText(expression) { return }
    let steps: Int
    switch base {
    case .selfObject, .variable: steps = 0
    case .keyPath(let keys), .path(.selfObject, let keys), .path(.variable, let keys):
      if keys.contains(where: { $0.utf8.first == UInt8(ascii: "@") }) { return }
      // `a.d[0]` indexes the d of each a.
      steps = isGrouped ? keys.count { $0 != "self" } : 1
    default: return
    }
    guard let first = found.first, !found.contains(where: { $0.path.suffix(steps).contains(where: \.isToMany) }) else {
      return
    }
    let single = steps > 0 ? first.path.last.map { "'\($0.qualifiedName)', which is to-one" } : nil
    throw Failure(
      .invalidPredicate,
      "\(written.text) has an index into \(single ?? "an object"). Leave the index out, or index what is to-many.")
  }

  private func mayBeText(_ expression: Expression) throws(Failure) -> Bool {
    if let value = try Arithmetic.fold(expression) { return value.comparableText != nil }
    guard case .keyPath(let keys) = expression, let type = try start.entity.columnType(atKeyPath: keys) else {
      return true
    }
    return type.comparisonClass == .text
  }
}
