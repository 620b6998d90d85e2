/// An index into a list, or a key of a dictionary, that is the value of an expression.
final class IndexNode {
  private enum Place {
    case first, last, size
    case item(ExpressionNode)
  }

  private let base: ExpressionNode
  /// The last key of a path that is indexed without parentheses: `a.d[0]` indexes the d of each a.
  private let key: KeyWalk?
  private let place: Place
  /// What a failure names.
  private let expression: Expression

  init(_ base: Expression, _ index: Expression.Index, isGrouped: Bool, in expression: Expression) throws(Failure) {
    self.expression = expression
    var key: KeyWalk?
    var owner = base
    if !isGrouped, let (rest, last) = base.splitAtLastKey, !last.isOperator {
      owner = rest
      key = try KeyWalk([last], .object)
    }
    self.key = key
    self.base = try ExpressionNode(owner)
    switch index {
    case .first: place = .first
    case .last: place = .last
    case .size: place = .size
    case .expression(let expression): place = .item(try ExpressionNode(expression))
    }
  }

  func item(_ scope: inout Scope) throws(Failure) -> Item {
    let start = try base.item(&scope)
    var index: Item?
    if case .item(let node) = place { index = try node.item(&scope) }
    return try item(of: start, index)
  }

  private func item(of item: Item, _ index: Item?) throws(Failure) -> Item {
    guard let key else { return try at(index, of: item) }
    guard case .list(let owners) = item else { return try at(index, of: key.item(from: item)) }
    var items: [Item] = []
    for owner in owners { items.append(try self.item(of: owner, index)) }
    return .list(items)
  }

  /// nil where there is nothing, such as behind the end.
  private func at(_ index: Item?, of item: Item) throws(Failure) -> Item {
    if item.isNil { return .nil }
    if let name = index?.scalar?.comparableText {
      switch item {
      case .dictionary(let dictionary): return dictionary.items[name.string] ?? .nil
      case .subject: return try item.item(forKey: Key(name.string))
      default: throw Failure(.invalidPredicate, "\(expression.text) asks \(item.kindName) for a key.")
      }
    }
    guard let elements = item.elements else {
      throw Failure(.invalidPredicate, "\(expression.text) has an index into \(item.kindName).")
    }
    switch place {
    case .first: return elements.first ?? .nil
    case .last: return elements.last ?? .nil
    case .size: return .value(.integer(Int64(elements.count)))
    case .item:
      guard let index, !index.isNil else { return .nil }
      guard case .list = item, let number = index.scalar?.number, number.isWhole else {
        throw Failure(.invalidPredicate, "\(expression.text) has \(index.kindName) for an index into \(item.kindName).")
      }
      guard let place = number.place, elements.indices.contains(place) else { return .nil }
      return elements[place]
    }
  }
}

extension Number {
  fileprivate var isWhole: Bool { place != nil || double == double.rounded() }

  /// nil for what no list reaches.
  fileprivate var place: Int? {
    if case .integer(let integer) = self { Int(exactly: integer) } else { Int(exactly: double) }
  }
}

extension Expression.Index {
  /// The second argument of `objectFrom:withIndex:`, where FIRST, LAST and SIZE look like keys.
  init(argument: Expression) {
    if case .keyPath(let keys) = argument, keys.count == 1, let keyword = Keyword(word: keys[0].name), keyword.isIndex {
      self = keyword == .first ? .first : keyword == .last ? .last : .size
    } else {
      self = .expression(argument)
    }
  }
}

extension Expression {
  /// A path without its last key, and that key; nil for what has no key before it.
  var splitAtLastKey: (Expression, Key)? {
    switch self {
    case .keyPath(let keys):
      guard keys.count > 1, let last = keys.last else { return nil }
      return (.keyPath(Array(keys.dropLast())), last)
    case .path(let base, let keys):
      guard let last = keys.last else { return nil }
      return (keys.count == 1 ? base : .path(base, Array(keys.dropLast())), last)
    default: return nil
    }
  }
}
