/// One comparison of columns and constants as SQL.
struct ComparisonSQL {
  enum Side {
    case constant(Value)
    // Boxed: Swift looks at more of a large enumeration's bits than it has set, which valgrind takes for a mistake.
    indirect case column(SQLColumn)

    fileprivate var isText: Bool {
      switch self {
      case .constant(let value): value.isNil || value.comparableText != nil
      case .column(let column): column.type.comparisonClass == .text
      }
    }
  }

  private let comparison: Comparison
  private let arguments: SQLArguments
  private let folding: TextFolding

  init(_ comparison: Comparison, _ arguments: SQLArguments) {
    self.comparison = comparison
    self.arguments = arguments
    folding = comparison.options.folding
  }

  /// nil where memory has to decide.
  func condition(_ left: Side, _ right: Side) throws(Failure) -> SQLExpr? {
    if let relation = Relation(comparison.operator) { return try self.relation(relation, left, right) }
    if let operation = TextMatcher.Operation(comparison.operator) { return try text(operation, left, right) }
    switch comparison.operator {
    // Of a single value, the operators on collections ask whether text is a part of it.
    case .isIn:
      guard right.isText else { return nil }
      return try text(.contains, right, left)
    case .contains: return try text(.contains, left, right)
    default: return nil
    }
  }

  /// BETWEEN and IN with a list; nil where memory has to decide.
  func condition(_ value: Side, parts: [Side]) throws(Failure) -> SQLExpr? {
    if comparison.operator == .isIn {
      // A locale decides for itself what is equal, text by text.
      return folding.contains(.byLocale) ? nil : try member(value, parts)
    }
    guard parts.count == 2 else { return nil }
    return .chain(
      .and, [try strict(.greaterOrEqual, value, parts[0]), try strict(.lessOrEqual, value, parts[1])])
  }

  // MARK: Relations

  private func relation(_ relation: Relation, _ left: Side, _ right: Side) throws(Failure) -> SQLExpr {
    switch (left, right) {
    case (.constant(let left), .constant(let right)): return try constants(relation, left, right)
    case (.constant(let left), .column(let right)):
      return try self.relation(relation.mirrored, .column(right), .constant(left))
    case (.column(let left), .constant(let right)):
      if right.isNil {
        switch relation {
        case .equal, .lessOrEqual, .greaterOrEqual: return isNull(left)
        case .notEqual: return isNull(left).negated
        case .less, .greater: return .constant(false)
        }
      }
      if relation == .notEqual { return try compared(.equal, left, right).negated }
      return try compared(relation, left, right)
    case (.column(let left), .column(let right)):
      if relation == .notEqual { return try compared(.equal, left, right).negated }
      let result = try compared(relation, left, right)
      guard relation == .lessOrEqual || relation == .greaterOrEqual else { return result }
      return .chain(.or, [result, .chain(.and, [isNull(left), isNull(right)])])
    }
  }

  /// As a relation, but false wherever a side is nil.
  private func strict(_ relation: Relation, _ left: Side, _ right: Side) throws(Failure) -> SQLExpr {
    switch (left, right) {
    case (.constant(.nil), _), (_, .constant(.nil)): .constant(false)
    case (.constant(let left), .constant(let right)): try constants(relation, left, right)
    case (.constant(let left), .column(let right)): try compared(relation.mirrored, right, left)
    case (.column(let left), .constant(let right)): try compared(relation, left, right)
    case (.column(let left), .column(let right)): try compared(relation, left, right)
    }
  }

  private func constants(_ relation: Relation, _ left: Value, _ right: Value) throws(Failure) -> SQLExpr {
    .constant(try ValueTest(folding).holds(relation, left, right))
  }

  private func isNull(_ column: SQLColumn) -> SQLExpr {
    .isNull(column.expr)
  }

  /// A column and a constant that is not nil.
  private func compared(_ relation: Relation, _ column: SQLColumn, _ value: Value) throws(Failure) -> SQLExpr {
    guard value.comparisonClass == column.type.comparisonClass else { return .constant(relation == .notEqual) }
    if relation.isOrdering, !column.type.comparisonClass.hasOrder { return .constant(false) }
    if let pattern = value.comparableText, !folding.isEmpty {
      return try searched(relation.textOperation, column, pattern)
    }
    guard let fitting = SQLConstant(relation, column.type, value) else { return .constant(false) }
    return .compare(
      fitting.form.operand(column.expr), SQLExpr.Sign(fitting.relation), arguments.parameter(fitting.argument))
  }

  private func compared(_ relation: Relation, _ left: SQLColumn, _ right: SQLColumn) throws(Failure) -> SQLExpr {
    let bothNull = SQLExpr.chain(.and, [isNull(left), isNull(right)])
    var isAlike = left.type.comparisonClass == right.type.comparisonClass
    if case .object(let root) = left.type { isAlike = right.type == .object(root: root) }
    if relation.isOrdering, !left.type.comparisonClass.hasOrder { isAlike = false }
    guard isAlike else { return relation == .equal ? bothNull : .constant(false) }
    if left.type.comparisonClass == .text, !folding.isEmpty {
      let folded = function(relation.textOperation, left.expr, right.expr)
      return relation == .equal ? .chain(.or, [folded, bothNull]) : folded
    }
    let isSingle = left.type == .float || right.type == .float
    func operand(_ column: SQLColumn) -> SQLExpr {
      // See `SQLConstant`.
      let value = column.type == .decimal ? SQLExpr(.real(column.expr)) : column.expr
      return isSingle && column.type != .float ? .call(.single, value) : value
    }
    return .compare(operand(left), relation == .equal ? .same : SQLExpr.Sign(relation), operand(right))
  }

  // MARK: Lists

  /// Above this, a list travels as one argument: SQLite has room for 32,766, and few statements are prepared.
  private static let mostParameters = 50

  private func member(_ value: Side, _ parts: [Side]) throws(Failure) -> SQLExpr {
    var constants: [Value] = []
    var tests: [SQLExpr] = []
    for part in parts {
      switch (value, part) {
      case (.column, .constant(let constant)): constants.append(constant)
      case (_, let part): tests.append(try relation(.equal, value, part))
      }
    }
    if case .column(let column) = value { tests.append(try member(column, constants)) }
    return .chain(.or, tests)
  }

  private func member(_ column: SQLColumn, _ constants: [Value]) throws(Failure) -> SQLExpr {
    if let searched = try searched(column, constants) { return searched }
    var tests: [SQLExpr] = []
    var searches: [(form: SQLConstant.Form, values: [Value])] = []
    let folder = TextFolder()
    for constant in constants {
      if constant.isNil {
        if tests.isEmpty { tests.append(isNull(column)) }
        continue
      }
      guard constant.comparisonClass == column.type.comparisonClass,
        let fitting = SQLConstant(.equal, column.type, constant)
      else { continue }
      let isFolded = constant.comparableText != nil && !folding.isEmpty
      let form = isFolded ? .folded(folding) : fitting.form
      let value = fitting.argument.folded(folding, with: folder)
      if let place = searches.firstIndex(where: { $0.form == form }) {
        searches[place].values.append(value)
      } else {
        searches.append((form, [value]))
      }
    }
    for (form, values) in searches.sorted(by: { $0.form.rank < $1.form.rank }) {
      let list =
        values.count <= ComparisonSQL.mostParameters
        ? SQLList.values(values.map(arguments.parameter)) : PackedList.list(values, arguments)
      tests.append(.member(form.operand(column.expr), of: list))
    }
    return .chain(.or, tests)
  }

  /// One search for each text, where the text index serves them all: with options it finds what no other index does.
  private func searched(_ column: SQLColumn, _ constants: [Value]) throws(Failure) -> SQLExpr? {
    if folding.isEmpty || column.textIndex == nil || constants.count > ComparisonSQL.mostParameters { return nil }
    let argumentCount = arguments.all.count
    var tests: [SQLExpr] = []
    for constant in constants {
      guard let text = constant.comparableText else { continue }
      let test = try searched(.equal, column, text)
      if test.keyedSearch == nil {
        arguments.keepFirst(argumentCount)
        return nil
      }
      tests.append(test)
    }
    if tests.isEmpty { return nil }
    if constants.contains(where: \.isNil) { tests.append(isNull(column)) }
    return .chain(.or, tests)
  }

  // MARK: Text

  private func text(_ operation: TextMatcher.Operation, _ left: Side, _ right: Side) throws(Failure) -> SQLExpr {
    switch (left, right) {
    case (.constant(let left), .constant(let right)):
      return .constant(try ValueTest(folding).matches(operation, left, right))
    case (.constant(let left), .column(let right)):
      guard let text = left.comparableText, right.type.comparisonClass == .text else { return .constant(false) }
      return function(operation, arguments.parameter(.text(text)), right.expr)
    case (.column(let left), .column(let right)):
      guard left.type.comparisonClass == .text, right.type.comparisonClass == .text else { return .constant(false) }
      return function(operation, left.expr, right.expr)
    case (.column(let left), .constant(let right)):
      guard left.type.comparisonClass == .text, let pattern = right.comparableText else { return .constant(false) }
      return try text(operation, left, pattern)
    }
  }

  private func text(
    _ operation: TextMatcher.Operation, _ column: SQLColumn, _ pattern: Text
  ) throws(Failure) -> SQLExpr {
    switch operation {
    case .beginsWith where pattern.isEmpty, .endsWith where pattern.isEmpty, .contains where pattern.isEmpty:
      return .constant(false)
    case .beginsWith where folding.isEmpty:
      return .chain(.and, candidates(operation, column, pattern) + range(column, prefix: pattern))
    case .like where folding.isEmpty:
      let prefix = WildcardPattern(pattern, folding, TextFolder()).prefix
      if !prefix.isEmpty {
        return .chain(.and, range(column, prefix: Text(utf8: prefix)) + [try searched(operation, column, pattern)])
      }
    default: break
    }
    return try searched(operation, column, pattern)
  }

  /// A constant pattern, by the text index where there is one and it helps. One that does not compile is said at once,
  /// even when no row would be asked about.
  private func searched(
    _ operation: TextMatcher.Operation, _ column: SQLColumn, _ pattern: Text
  ) throws(Failure) -> SQLExpr {
    let matcher = try TextMatcher(operation, folding, pattern: pattern)
    let test = function(operation, column.expr, arguments.parameter(matcher))
    return .chain(.and, candidates(operation, column, pattern) + [test])
  }

  private func candidates(
    _ operation: TextMatcher.Operation, _ column: SQLColumn, _ pattern: Text
  ) -> [SQLExpr] {
    column.textIndex?.candidates(operation, pattern, folding, arguments).map { [$0] } ?? []
  }

  /// The texts with a prefix are a range of the column, so that an index serves them.
  private func range(_ column: SQLColumn, prefix: Text) -> [SQLExpr] {
    func bound(_ sign: SQLExpr.Sign, _ text: Text) -> SQLExpr {
      .compare(column.expr, sign, arguments.parameter(.text(text)))
    }
    return [bound(.greaterOrEqual, prefix)]
      + (ComparisonSQL.firstText(after: prefix).map { [bound(.less, $0)] } ?? [])
  }

  /// The least text above all texts with a prefix; nil when there is none.
  static func firstText(after prefix: Text) -> Text? {
    var scalars = Array(prefix.string.unicodeScalars)
    while let last = scalars.popLast() {
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      text.append(scalar)
      return Text(String(text))
    }
    return nil
  }

  private func function(_ operation: TextMatcher.Operation, _ text: SQLExpr, _ pattern: SQLExpr) -> SQLExpr {
    .call(
      .text, SQLExpr(.integer(Int64(operation.rawValue))), SQLExpr(.integer(Int64(folding.rawValue))), text, pattern)
  }
}
