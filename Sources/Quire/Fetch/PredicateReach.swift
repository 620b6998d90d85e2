/// The keys of a predicate resolved against the entity it is asked of: wrong ones are refused, even where no value
/// would show them, and what depends on related objects is found.
struct PredicateReach {
  private(set) var dependencies: [Dependency] = []
  /// Objects that an expression may give: those at the end of a path of relationships from the object under test.
  private struct Place {
    var path: [Relationship]
    var entity: Entity
  }

  private var variables: [String: [Place]] = [:]
  private let start: Place

  init(_ predicate: Predicate?, in entity: Entity) throws(Failure) {
    start = Place(path: [], entity: entity)
    if let predicate { try visit(predicate) }
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
    case .constant, .anyKey, .argument: return []
    case .selfObject: return [start]
    case .variable(let name): return variables[name] ?? []
    case .keyPath(let keys): return try follow(keys, from: [start])
    case .path(let base, let keys): return try follow(keys, from: places(of: base))
    case .variableKey(let base, _):
      _ = try places(of: base)
      return []
    case .function(let name, let parts):
      var first: [Place] = []
      for (index, part) in parts.enumerated() {
        // FIRST, LAST and SIZE look like keys there.
        if name == "objectFrom:withIndex:", index == 1 {
          if case .expression(let expression) = Expression.Index(argument: part) { _ = try places(of: expression) }
          continue
        }
        let found = try places(of: part)
        if index == 0 { first = found }
      }
      return name == "noindex:" || name == "objectFrom:withIndex:" ? first : []
    case .list(let parts), .fetch(let parts):
      var found: [Place] = []
      for part in parts { found += try places(of: part) }
      return found
    case .index(let base, let index, _):
      if case .expression(let expression) = index { _ = try places(of: expression) }
      return try places(of: base)
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
    if path.isEmpty { return }
    if dependencies.contains(where: { $0.property === property && $0.path.elementsEqual(path, by: ===) }) { return }
    dependencies.append(Dependency(path: path, property: property))
  }
}
