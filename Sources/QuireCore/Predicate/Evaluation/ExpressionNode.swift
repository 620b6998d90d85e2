/// An expression made ready to be evaluated: constants folded, key paths and functions looked up.
indirect enum ExpressionNode {
  case constant(Item)
  case subject
  case variable(String)
  case argument(Int)
  case path(ExpressionNode, KeyWalk)
  case variableKey(ExpressionNode, String)
  case function(FunctionNode)
  case list([ExpressionNode])
  case index(IndexNode)
  case subquery(SubqueryNode)
  case conditional(PredicateNode, ExpressionNode, ExpressionNode)
  case set(Expression.SetOperation, ExpressionNode, ExpressionNode, Expression)
  case assignment(String, ExpressionNode)

  /// `need` says what a key path is followed for.
  init(_ expression: Expression, _ need: KeyWalk.Need = .object) throws(Failure) {
    if let value = try Arithmetic.fold(expression) {
      self = .constant(Item(value))
      return
    }
    switch expression {
    case .constant(let constant): self = .constant(Item(constant.value))
    case .selfObject: self = .subject
    case .variable(let name): self = .variable(name)
    case .argument(let number, _): self = .argument(number)
    case .keyPath(let keys), .path(.selfObject, let keys):
      self = .path(.subject, try KeyWalk(keys, need))
    case .path(let base, let keys): self = .path(try ExpressionNode(base), try KeyWalk(keys, need))
    case .variableKey(let base, let name): self = .variableKey(try ExpressionNode(base), name)
    case .function("objectFrom:withIndex:", let parts) where parts.count == 2:
      self = .index(try IndexNode(parts[0], .init(argument: parts[1]), isGrouped: true, in: expression))
    case .function(let name, let parts):
      let function = try FunctionNode(name, parts, in: expression)
      if let item = function.constant { self = .constant(item) } else { self = .function(function) }
    case .list(let parts):
      var nodes: [ExpressionNode] = []
      for part in parts { nodes.append(try ExpressionNode(part)) }
      self = .list(nodes)
    case .index(let base, let index, let isGrouped):
      self = .index(try IndexNode(base, index, isGrouped: isGrouped, in: expression))
    case .subquery(let collection, let variable, let condition):
      self = .subquery(try SubqueryNode(collection, variable, condition))
    case .conditional(let condition, let first, let second):
      self = .conditional(try PredicateNode(condition), try ExpressionNode(first), try ExpressionNode(second))
    case .set(let operation, let left, let right):
      self = .set(operation, try ExpressionNode(left), try ExpressionNode(right), expression)
    case .assignment(let name, let value): self = .assignment(name, try ExpressionNode(value))
    case .anyKey: throw Failure(.unsupported, "ANYKEY is not supported.")
    case .fetch: throw Failure(.unsupported, "\(expression.text) is not supported: a predicate cannot fetch.")
    }
  }

  var isConstant: Bool { constant != nil }

  var constant: Item? { if case .constant(let item) = self { item } else { nil } }

  func item(_ scope: inout Scope) throws(Failure) -> Item {
    switch self {
    case .constant(let item): return item
    case .subject: return scope.subject
    case .path(.subject, let walk): return try walk.item(from: scope.subject)
    case .path(let base, let walk): return try walk.item(from: base.item(&scope))
    case .variable(let name): return try ExpressionNode.value(of: name, scope)
    case .argument(let number): return scope.arguments[number]
    case .variableKey(let base, let name):
      let key = try ExpressionNode.value(of: name, scope)
      guard let text = key.scalar?.comparableText else {
        throw Failure(
          .invalidPredicate, "The variable $\(name) stands for a key and must be text, not \(key.kindName).")
      }
      return try base.item(&scope).item(forKey: Key(text.string))
    case .function(let function): return try function.item(&scope)
    case .list(let nodes):
      var items: [Item] = []
      items.reserveCapacity(nodes.count)
      for node in nodes { items.append(try node.item(&scope)) }
      return .list(items)
    case .index(let index): return try index.item(&scope)
    case .subquery(let subquery): return .list(try subquery.items(&scope))
    case .conditional(let condition, let first, let second):
      return try condition.holds(&scope) ? first.item(&scope) : second.item(&scope)
    case .set(let operation, let left, let right, let expression):
      return try ExpressionNode.combine(operation, left.item(&scope), right.item(&scope), expression)
    case .assignment(let name, let node):
      let item = try node.item(&scope)
      scope.variables[name] = item
      return item
    }
  }

  private static func value(of variable: String, _ scope: Scope) throws(Failure) -> Item {
    guard let item = scope.variables[variable] else {
      throw Failure(.invalidPredicate, "The variable $\(variable) has no value; substitute one for it.")
    }
    return item
  }

  /// With nil on a side the result is nil.
  private static func combine(
    _ operation: Expression.SetOperation, _ left: Item, _ right: Item, _ expression: Expression
  ) throws(Failure) -> Item {
    if left.isNil || right.isNil { return .nil }
    guard let leftItems = left.elements, let rightItems = right.elements else {
      let offender = left.elements == nil ? left : right
      throw Failure(.invalidPredicate, "\(expression.text) needs collections on both sides, not \(offender.kindName).")
    }
    var result = try ItemSet(leftItems)
    let others = try ItemSet(rightItems)
    if operation == .union {
      for item in others.items { try result.insert(item) }
      return .list(result.items)
    }
    var kept: [Item] = []
    for item in result.items where try others.contains(item) == (operation == .intersect) { kept.append(item) }
    return .list(kept)
  }
}

/// SUBQUERY: the elements of a collection for which a predicate holds.
final class SubqueryNode {
  private let collection: ExpressionNode
  private let variable: String
  private let condition: PredicateNode
  private let text: String

  init(_ collection: Expression, _ variable: String, _ condition: Predicate) throws(Failure) {
    self.collection = try ExpressionNode(collection)
    self.variable = variable
    self.condition = try PredicateNode(condition)
    text = collection.text
  }

  /// Keys in the predicate that do not begin with the variable are keys of the outer object. Nothing is found in nil.
  func items(_ scope: inout Scope) throws(Failure) -> [Item] {
    let source = try collection.item(&scope)
    if source.isNil { return [] }
    guard let elements = source.elements else {
      throw Failure(.invalidPredicate, "SUBQUERY needs a collection, and \(text) is \(source.kindName).")
    }
    let outer = scope.variables[variable]
    defer { scope.variables[variable] = outer }
    var found: [Item] = []
    for element in elements {
      scope.variables[variable] = element
      if try condition.holds(&scope) { found.append(element) }
    }
    return found
  }
}
