/// Binds the names in predicates and expressions to the properties of an entity, in one walk.
///
/// The walk refuses wrong names, even where no value would show them, and finds what depends on related objects.
/// Trees are as deep as the parser allows, hence a function for each kind of expression: see `SQLCompiler`.
struct Binder {
  /// An expression with its keys bound, and the objects that may be its value.
  private struct Bound {
    let expression: Expression
    let places: [Place]

    init(_ expression: Expression, _ places: [Place] = []) {
      self.expression = expression
      self.places = places
    }
  }

  /// Objects that may be the value of an expression: those at the end of a path of relationships from the object under
  /// test.
  private struct Place {
    var path: [Relationship]
    var entity: Entity
  }

  private(set) var reach = Reach()
  /// The first comparison of what has no order, or text that should be a date. A failure of a name comes before it.
  private(set) var disorder: Failure?
  /// Inside SUBQUERY and TERNARY keys may be of other objects, whose types are not compared.
  private var comparesTypes = true
  private var variables: [String: [Place]] = [:]
  /// The object under test.
  private let start: [Place]
  private let entity: Entity
  /// The UUID of the store that the objects in the predicate have to be of.
  private let store: Text

  init(_ entity: Entity, of store: Text) {
    start = [Place(path: [], entity: entity)]
    self.entity = entity
    self.store = store
  }

  // MARK: Predicates

  mutating func bind(_ predicate: Predicate) throws(Failure) -> Predicate {
    switch predicate {
    case .constant: return predicate
    case .not(let part): return .not(try bind(part))
    case .and(let parts): return .and(try bind(parts))
    case .or(let parts): return .or(try bind(parts))
    case .comparison(let comparison): return .comparison(try bind(comparison))
    }
  }

  @inline(never)
  private mutating func bind(_ parts: [Predicate]) throws(Failure) -> [Predicate] {
    var bound: [Predicate] = []
    bound.reserveCapacity(parts.count)
    for part in parts { bound.append(try bind(part)) }
    return bound
  }

  @inline(never)
  private mutating func bind(_ comparison: Comparison) throws(Failure) -> Comparison {
    var bound = comparison
    bound.left = try bind(comparison.left).expression
    do throws(Failure) { bound.right = try bind(comparison.right).expression } catch {
      throw comparison.right.lacksQuotes(error) ? error.advising("Text stands in quotes.") : error
    }
    bound = dated(bound)
    if comparesTypes, bound.needsOrder, disorder == nil, let found = Binder.disorder(of: bound, entity) {
      disorder = found
    }
    return bound
  }

  /// The same with dates that are written as text.
  @inline(never)
  private mutating func dated(_ comparison: Comparison) -> Comparison {
    do throws(Failure) { return try comparison.readingDates() } catch {
      disorder = disorder ?? error
      return comparison
    }
  }

  /// Apart from the binder, which the closure would copy.
  @inline(never)
  private static func disorder(of comparison: Comparison, _ entity: Entity) -> Failure? {
    do throws(Failure) {
      try comparison.checkOrder { (keys) throws(Failure) in try entity.columnType(atKeyPath: keys)?.comparisonClass }
      return nil
    } catch { return error }
  }

  /// A condition inside an expression.
  private mutating func bind(condition: Predicate) throws(Failure) -> Predicate {
    let outer = comparesTypes
    comparesTypes = false
    let bound = try bind(condition)
    comparesTypes = outer
    return bound
  }

  // MARK: Expressions

  mutating func bind(standingAlone expression: Expression) throws(Failure) -> Expression {
    try bind(expression).expression
  }

  private mutating func bind(_ expression: Expression) throws(Failure) -> Bound {
    switch expression {
    case .path(let base, let keys): return try path(base, keys)
    case .variableKey(let base, let name): return try variableKey(base, name)
    case .function(let name, let parts): return try function(name, parts, expression)
    case .list(let parts): return try list(parts)
    case .fetch(let parts): return try fetch(parts)
    case .index(let base, let index, let isGrouped): return try self.index(base, index, isGrouped, expression)
    case .subquery(let collection, let variable, let condition): return try subquery(collection, variable, condition)
    case .conditional(let condition, let first, let second): return try conditional(condition, first, second)
    case .set(let operation, let left, let right): return try set(operation, left, right)
    case .assignment(let name, let value): return try assignment(name, value)
    default: return try leaf(expression)
    }
  }

  /// An expression without parts.
  @inline(never)
  private mutating func leaf(_ expression: Expression) throws(Failure) -> Bound {
    switch expression {
    case .constant(let constant): try checkOrigin(of: constant.value)
    case .selfObject: return Bound(expression, start)
    case .variable(let name): return Bound(expression, variables[name] ?? [])
    case .keyPath(let keys):
      let (keys, end) = try follow(keys, from: start)
      return Bound(.keyPath(keys), end)
    default: reach.own = .all
    }
    return Bound(expression)
  }

  @inline(never)
  private mutating func path(_ base: Expression, _ keys: [Key]) throws(Failure) -> Bound {
    let base = try bind(base)
    let (keys, end) = try follow(keys, from: base.places)
    return Bound(.path(base.expression, keys), end)
  }

  @inline(never)
  private mutating func variableKey(_ base: Expression, _ name: String) throws(Failure) -> Bound {
    reach.own = .all
    return Bound(.variableKey(try bind(base).expression, name))
  }

  @inline(never)
  private mutating func function(
    _ name: String, _ parts: [Expression], _ written: Expression
  ) throws(Failure) -> Bound {
    if name == "objectFrom:withIndex:", parts.count == 2 { return try indexFunction(name, parts, written) }
    var bound: [Expression] = []
    bound.reserveCapacity(parts.count)
    var first: [Place] = []
    for (place, part) in parts.enumerated() {
      let part = try bind(part)
      bound.append(part.expression)
      if place == 0 { first = part.places }
    }
    if name == Function.cast { checkCast(bound) }
    return Bound(.function(name, bound), name == "noindex:" ? first : [])
  }

  /// A text that no date reads as would be nil.
  @inline(never)
  private mutating func checkCast(_ parts: [Expression]) {
    guard disorder == nil, parts.count == 2, parts[1].constantValue?.comparableText == "NSDate",
      case .text(let text)? = parts[0].constantValue,
      let value = try? Cast.apply(.text(text), to: "NSDate", in: .function(Function.cast, parts)), value.isNil
    else { return }
    disorder = Failure(.invalidPredicate, "\(WrittenDate.reason(text)).")
  }

  /// FIRST, LAST and SIZE look like keys in the second argument.
  @inline(never)
  private mutating func indexFunction(
    _ name: String, _ parts: [Expression], _ written: Expression
  ) throws(Failure) -> Bound {
    let base = try bind(parts[0])
    var place = Expression.Index(argument: parts[1])
    var argument = parts[1]
    if case .expression(let expression) = place {
      argument = try bind(expression).expression
      place = .expression(argument)
    }
    try checkIndex(place, into: parts[0], base.places, isGrouped: true, in: written)
    return Bound(.function(name, [base.expression, argument]), base.places)
  }

  @inline(never)
  private mutating func list(_ parts: [Expression]) throws(Failure) -> Bound {
    let (bound, places) = try bindAll(parts)
    return Bound(.list(bound), places)
  }

  @inline(never)
  private mutating func fetch(_ parts: [Expression]) throws(Failure) -> Bound {
    reach.own = .all
    let (bound, places) = try bindAll(parts)
    return Bound(.fetch(bound), places)
  }

  @inline(never)
  private mutating func bindAll(_ parts: [Expression]) throws(Failure) -> ([Expression], [Place]) {
    var bound: [Expression] = []
    bound.reserveCapacity(parts.count)
    var places: [Place] = []
    for part in parts {
      let part = try bind(part)
      bound.append(part.expression)
      places += part.places
    }
    return (bound, places)
  }

  @inline(never)
  private mutating func index(
    _ base: Expression, _ index: Expression.Index, _ isGrouped: Bool, _ written: Expression
  ) throws(Failure) -> Bound {
    var place = index
    if case .expression(let expression) = index { place = .expression(try bind(expression).expression) }
    let bound = try bind(base)
    try checkIndex(place, into: base, bound.places, isGrouped: isGrouped, in: written)
    return Bound(.index(bound.expression, place, isGrouped: isGrouped), bound.places)
  }

  @inline(never)
  private mutating func subquery(
    _ collection: Expression, _ variable: String, _ condition: Predicate
  ) throws(Failure) -> Bound {
    let elements = try bind(collection)
    let outer = variables[variable]
    variables[variable] = elements.places
    let condition = try bind(condition: condition)
    variables[variable] = outer
    return Bound(.subquery(elements.expression, variable: variable, condition), elements.places)
  }

  @inline(never)
  private mutating func conditional(
    _ condition: Predicate, _ first: Expression, _ second: Expression
  ) throws(Failure) -> Bound {
    let condition = try bind(condition: condition)
    let first = try bind(first), second = try bind(second)
    return Bound(.conditional(condition, first.expression, second.expression), first.places + second.places)
  }

  @inline(never)
  private mutating func set(
    _ operation: Expression.SetOperation, _ left: Expression, _ right: Expression
  ) throws(Failure) -> Bound {
    let left = try bind(left), right = try bind(right)
    return Bound(.set(operation, left.expression, right.expression), left.places + right.places)
  }

  @inline(never)
  private mutating func assignment(_ name: String, _ value: Expression) throws(Failure) -> Bound {
    let value = try bind(value)
    variables[name] = value.places
    return Bound(.assignment(name, value.expression), value.places)
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

  // MARK: Keys

  @inline(never)
  private mutating func follow(_ keys: [Key], from start: [Place]) throws(Failure) -> (keys: [Key], end: [Place]) {
    var bound: [Key] = [], places = start
    bound.reserveCapacity(keys.count)
    for key in keys {
      if key.isOperator || key.isSelf && places.allSatisfy({ key.isSelf(of: $0.entity) }) {
        bound.append(key)
        continue
      }
      var next: [Place] = []
      var found: Property?, isOne = true
      for place in places {
        let property = try key.property(of: place.entity)
        if let found, found !== property { isOne = false }
        found = property
        reach.add(place.path, property)
        guard let relationship = property as? Relationship else { continue }
        let path = place.path + [relationship]
        // The members of a to-many relationship change with the other end, whether or not they were read.
        if relationship.isToMany, let inverse = relationship.inverse, !inverse.isToMany { reach.add(path, inverse) }
        next.append(Place(path: path, entity: relationship.destination))
      }
      bound.append(isOne ? Key(key.name, found) : key)
      places = next
    }
    return (bound, places)
  }

  // MARK: Indexes

  /// A single object has no places to name: refused even where there is none. A text asks it for a key.
  @inline(never)
  private func checkIndex(
    _ index: Expression.Index, into base: Expression, _ found: [Place], isGrouped: Bool, in written: Expression
  ) throws(Failure) {
    if case .expression(let expression) = index, try mayBeText(expression) { return }
    let steps: Int
    switch base {
    case .selfObject, .variable: steps = 0
    case .keyPath(let keys), .path(.selfObject, let keys), .path(.variable, let keys):
      if keys.contains(where: \.isOperator) { return }
      // `a.d[0]` indexes the d of each a.
      steps = isGrouped ? keys.count { !$0.isSelf } : 1
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
    guard case .keyPath(let keys) = expression, let type = try entity.columnType(atKeyPath: keys) else {
      return true
    }
    return type.comparisonClass == .text
  }
}

extension Expression {
  /// Whether a failure to bind it is about a word that stands alone, as text does without its quotes.
  fileprivate func lacksQuotes(_ failure: Failure) -> Bool {
    switch self {
    case .keyPath(let keys), .path(.selfObject, let keys):
      return keys.count == 1 && failure.kind == .invalidArgument && failure.offender?.key.string == keys[0].name
    case .list(let parts): return parts.contains { $0.lacksQuotes(failure) }
    default: return false
    }
  }
}
