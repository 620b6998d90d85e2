extension PredicateParser {
  /// Something that is half read and goes on with the next operand.
  enum Pending {
    case whole
    case group(at: Int)
    case not(at: Int)
    case sign(PredicateToken)
    case quantifier(Quantifier)
    case comparison(Item, Sign, Quantifier)
    case chain(Chain)
    /// An operator between values, with its left side.
    case infix(Precedence, Item, PredicateToken)
    case index(of: Item)
    case parts(Parts)
    case subqueryCollection(at: Int)
    case subqueryCondition(Item, variable: String, at: Int)
    case ternaryCondition(at: Int)
    case ternaryFirst(Item, at: Int)
    case ternarySecond(Item, Item, at: Int)

    /// The loosest operator that belongs to the operand.
    var loosest: Precedence {
      switch self {
      case .whole, .group, .subqueryCondition, .ternaryCondition: return .or
      case .not: return .comparison
      case .sign: return .unary
      case .chain(let chain): return chain.precedence.tighter
      case .infix(let precedence, _, let token):
        // The power operator and the assignment group from the right, as in other languages that have them.
        return precedence == .power || token.isSign(":=") ? precedence : precedence.tighter
      case .quantifier, .comparison, .index, .parts, .subqueryCollection, .ternaryFirst, .ternarySecond: return .set
      }
    }
  }

  /// The words before a comparison, and where the whole begins.
  struct Quantifier {
    let modifier: Comparison.Modifier
    let isNone: Bool
    let offset: Int
  }

  /// The operator between the sides of a comparison.
  struct Sign {
    let operation: Comparison.Operator
    let custom: String
    let options: Comparison.Options
  }

  /// Predicates with AND, or OR, between them. A class, so that it grows where it is.
  final class Chain {
    let precedence: Precedence
    let offset: Int
    var parts: [Predicate] = []
    var height = 0

    init(_ precedence: Precedence, at offset: Int) {
      self.precedence = precedence
      self.offset = offset
    }
  }

  /// Expressions with commas between them.
  final class Parts {
    enum Kind {
      case list
      case function(String)
      /// FUNCTION.
      case call
      case fetch
      case cast
    }

    let kind: Kind
    let offset: Int
    var expressions: [Expression] = []
    var height = 0
    /// Whether each of the first two is a text in quotes.
    var quoted: [Bool] = []

    init(_ kind: Kind, at offset: Int) {
      self.kind = kind
      self.offset = offset
    }

    var closing: String { if case .list = kind { "}" } else { ")" } }

    /// What a failure says of another sign than a comma or the closing one.
    var ending: String {
      switch kind {
      case .list: "A list goes on with a comma or ends with }"
      case .function(let name): "The arguments of \(name) go on with a comma or end with )"
      case .call: "The arguments of FUNCTION end with )"
      case .fetch: "The arguments of FETCH end with )"
      case .cast: "CAST ends with ) after the name of a type"
      }
    }
  }

  /// What `waiting` is, with the operand that it waited for; nil when it, or something around it, needs another one.
  mutating func finish(_ waiting: Pending, with operand: Item) throws(Failure) -> Item? {
    switch waiting {
    case .whole: return operand
    case .group(let offset):
      if token.isSign(",") {
        throw unexpected("A list is written in braces, such as {1, 2}. A closing parenthesis is expected here")
      }
      try expect(")", "A closing parenthesis is expected here")
      var inner = operand
      inner.isGrouped = true
      inner.offset = offset
      return try readPostfix(inner)
    case .not(let offset):
      return try item(.predicate(.not(try predicate(operand))), height: operand.height, at: offset)
    case .sign(let sign): return try signed(operand, sign)
    case .quantifier(let quantifier):
      try beginComparison(operand, quantifier)
      return nil
    case .comparison(let left, let sign, let quantifier): return try comparison(left, sign, quantifier, operand)
    case .chain(let chain): return try continueChain(chain, operand)
    case .infix(_, let left, let sign): return try infix(left, sign, operand)
    case .index(let base):
      return try indexed(base, .expression(try expression(operand)), height: max(base.height, operand.height))
    case .parts(let parts): return try continueParts(parts, operand)
    case .subqueryCollection(let offset):
      try beginCondition(ofSubquery: operand, at: offset)
      return nil
    case .subqueryCondition(let collection, let variable, let offset):
      return try readPostfix(subquery(collection, variable, operand, at: offset))
    case .ternaryCondition(let offset):
      try expect(",", "TERNARY needs a comma after its predicate")
      try wait(.ternaryFirst(operand, at: offset))
      return nil
    case .ternaryFirst(let condition, let offset):
      try expect(",", "TERNARY needs a comma between its two values")
      try wait(.ternarySecond(condition, operand, at: offset))
      return nil
    case .ternarySecond(let condition, let first, let offset):
      return try readPostfix(ternary(condition, first, operand, at: offset))
    }
  }
}
