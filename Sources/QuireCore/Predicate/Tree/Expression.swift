/// One side of a comparison.
indirect enum Expression: Sendable, Equatable {
  case constant(Constant)
  /// SELF, the object under test.
  case selfObject
  case anyKey
  /// `$name`.
  case variable(String)
  /// Keys from the object under test; a part like `@count` is a collection operator.
  case keyPath([Key])
  /// Keys of the value of another expression: `SELF.name`, `$x.age`, `SUBQUERY(…).@count`.
  case path(Expression, [Key])
  /// `a.$key`: the key is the value of a variable.
  case variableKey(Expression, String)
  /// Arithmetic is a function too, under Core Data's names: `a + b` is `add:to:`.
  case function(String, [Expression])
  /// `{a, b}` with a part that is not constant; constant lists are constants.
  case list([Expression])
  /// `isGrouped` distinguishes `(a.d)[0]`, an index into all the values, from `a.d[0]`, an index into d.
  case index(Expression, Index, isGrouped: Bool)
  case subquery(Expression, variable: String, Predicate)
  case conditional(Predicate, Expression, Expression)
  case set(SetOperation, Expression, Expression)
  case fetch([Expression])
  /// `$name := expression`.
  case assignment(String, Expression)
  /// A part that SQL looks up: its number among the arguments of the scope, and how it was written.
  case argument(Int, String)

  enum SetOperation: String, Sendable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
  }

  enum Index: Sendable, Equatable {
    case first, last, size
    case expression(Expression)
  }

  /// A value in a tree, where YES and 1 are the same.
  struct Constant: Sendable, Equatable {
    let value: Value
    static func == (left: Constant, right: Constant) -> Bool { Value.areSame(left.value, right.value) }
  }

  static func constant(_ value: Value) -> Expression { .constant(Constant(value: value)) }

  /// A list of constants becomes one constant.
  static func aggregate(_ parts: [Expression]) -> Expression {
    var values: [Value] = []
    for part in parts {
      guard case .constant(let constant) = part else { return .list(parts) }
      values.append(constant.value)
    }
    return .constant(.list(values))
  }

  /// The value of a constant, else nil.
  var constantValue: Value? {
    if case .constant(let constant) = self { constant.value } else { nil }
  }

  /// The parts of a list that is written out, else nil.
  var listParts: [Expression]? {
    switch self {
    case .list(let parts): parts
    case .constant(let constant):
      if case .list(let list) = constant.value { list.values.map { .constant($0) } } else { nil }
    default: nil
    }
  }

  /// Reads an expression that stands alone, such as a column of a fetch.
  static func parse(_ format: Text, arguments: [Value] = []) throws(Failure) -> Expression {
    try parse(format, with: arguments.map { .value($0) })
  }
}
