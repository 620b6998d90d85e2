/// A key path ready to be followed: its keys, and collection operators such as `@sum`.
struct KeyWalk {
  private let keys: [Key]
  /// Beside each key the operator that it is; empty where no key is one.
  private let operators: [CollectionOperator?]
  private let need: Need

  /// What is done with the value of the last key.
  enum Need {
    case object
    /// As `asValue` of `Item.item(forKey:asValue:)`.
    case value
    /// It is compared with nil.
    case presence
  }

  init(_ keys: [Key], _ need: Need) throws(Failure) {
    var operators: [CollectionOperator?] = []
    if keys.contains(where: { $0.isOperator }) {
      for key in keys {
        let operation = CollectionOperator(rawValue: key.name)
        if operation == nil, key.isOperator {
          let text = Expression.keyPath(keys).text
          throw Failure(.invalidPredicate, "The key path \(text) has \(key.name), which is no collection operator.")
        }
        operators.append(operation)
      }
    }
    self.keys = keys
    self.operators = operators
    self.need = need
  }

  func item(from start: Item) throws(Failure) -> Item { try item(from: start, 0) }

  private func item(from start: Item, _ first: Int) throws(Failure) -> Item {
    var item = start
    for place in first..<keys.count {
      guard let operation = operation(at: place) else {
        let isLast = place == keys.count - 1
        item =
          isLast && need == .presence
          ? try item.presence(ofKey: keys[place])
          : try item.item(forKey: keys[place], asValue: isValueEnough(at: place))
        continue
      }
      if item.isNil { return .nil }
      guard let elements = item.elements else {
        throw Failure(
          .invalidPredicate,
          "\(operation.rawValue) needs a collection, and what \(text) gives it is \(item.kindName).")
      }
      if operation == .count {
        item = .value(.integer(Int64(elements.count)))
        continue
      }
      // The keys behind the operator say what is taken of each element.
      var values: [Item] = []
      values.reserveCapacity(elements.count)
      for element in elements { values.append(try self.item(from: element, place + 1)) }
      return try operation.apply(values, in: .keyPath(keys))
    }
    return item
  }

  /// Whether only the identity or the number of a step's objects is needed.
  private func isValueEnough(at place: Int) -> Bool {
    place == keys.count - 1 ? need != .object : operation(at: place + 1) == .count
  }

  private func operation(at place: Int) -> CollectionOperator? { operators.isEmpty ? nil : operators[place] }

  private var text: String { Expression.keyPath(keys).text }
}

/// The operators of key paths, by their names.
enum CollectionOperator: String {
  case count = "@count"
  case sum = "@sum"
  case average = "@avg"
  case minimum = "@min"
  case maximum = "@max"
  case unionOfObjects = "@unionOfObjects"
  case distinctUnionOfObjects = "@distinctUnionOfObjects"
  case unionOfArrays = "@unionOfArrays"
  case distinctUnionOfArrays = "@distinctUnionOfArrays"
  case unionOfSets = "@unionOfSets"
  case distinctUnionOfSets = "@distinctUnionOfSets"

  /// `values` has the values of the keys behind the operator for each element of the collection.
  func apply(_ values: [Item], in expression: Expression) throws(Failure) -> Item {
    switch self {
    case .count: return .value(.integer(Int64(values.count)))
    case .sum: return .value(try Statistics(values, in: expression).sum())
    case .average: return .value(try Statistics(values, in: expression).average())
    case .minimum: return .value(try Statistics(values, in: expression).extreme(.less))
    case .maximum: return .value(try Statistics(values, in: expression).extreme(.greater))
    case .unionOfObjects: return .list(values)
    case .distinctUnionOfObjects: return .list(try ItemSet(values).items)
    case .unionOfArrays, .unionOfSets: return .list(joined(values))
    case .distinctUnionOfArrays, .distinctUnionOfSets: return .list(try ItemSet(joined(values)).items)
    }
  }

  private func joined(_ lists: [Item]) -> [Item] {
    var items: [Item] = []
    for list in lists { items += list.elements ?? [list] }
    return items
  }
}
