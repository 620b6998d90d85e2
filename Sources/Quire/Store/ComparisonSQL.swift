/// One comparison as SQL.
struct ComparisonSQL {
  private enum Side {
    case constant(Value)
    case column(SQLColumn)
  }

  private let plan: ComparisonPlan
  private let column: PredicateSQL.Resolver
  private var folding: TextFolding { plan.folding }

  init(_ plan: ComparisonPlan, _ column: @escaping PredicateSQL.Resolver) {
    self.plan = plan
    self.column = column
  }

  func fragment() throws(Failure) -> SQLFragment {
    switch plan.test {
    case .relation(let relation, let left, let right): return try self.relation(relation, side(left), side(right))
    case .between(let operand, let low, let high):
      let value = try side(operand)
      return .chain(
        .and,
        [
          try strict(.greaterOrEqual, value, side(low)), try strict(.lessOrEqual, value, side(high)),
        ])
    case .member(let operand, let parts): return try member(side(operand), parts)
    case .memberOfKey(let operand, let keys):
      return try text(.contains, .column(column(keys)), side(operand))
    case .contains(let keys, let operand): return try text(.contains, .column(column(keys)), side(operand))
    case .text(let operation, let operand, let pattern):
      return try text(operation, side(operand), side(pattern))
    }
  }

  private func side(_ operand: ComparisonPlan.Operand) throws(Failure) -> Side {
    switch operand {
    case .constant(let value): .constant(value)
    case .keyPath(let keys): .column(try column(keys))
    }
  }

  // MARK: Relations

  private func relation(_ relation: Relation, _ left: Side, _ right: Side) throws(Failure) -> SQLFragment {
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
  private func strict(_ relation: Relation, _ left: Side, _ right: Side) throws(Failure) -> SQLFragment {
    switch (left, right) {
    case (.constant(.nil), _), (_, .constant(.nil)): .constant(false)
    case (.constant(let left), .constant(let right)): try constants(relation, left, right)
    case (.constant(let left), .column(let right)): try compared(relation.mirrored, right, left)
    case (.column(let left), .constant(let right)): try compared(relation, left, right)
    case (.column(let left), .column(let right)): try compared(relation, left, right)
    }
  }

  private func constants(_ relation: Relation, _ left: Value, _ right: Value) throws(Failure) -> SQLFragment {
    .constant(try ValueTest(folding).holds(relation, left, right))
  }

  private func isNull(_ column: SQLColumn) -> SQLFragment {
    SQLFragment(sql: "\(column.sql) IS NULL", isExact: true)
  }

  /// A column and a constant that is not nil.
  private func compared(_ relation: Relation, _ column: SQLColumn, _ value: Value) throws(Failure) -> SQLFragment {
    guard value.comparisonClass == column.type.comparisonClass else { return .constant(relation == .notEqual) }
    if let pattern = value.comparableText, !folding.isEmpty {
      return function(relation.textOperation, column.sql, "?", [.text(pattern)])
    }
    guard let (relation, operand, argument) = SQLConstant.adapt(relation, column, value) else {
      return .constant(false)
    }
    let sign = ComparisonSQL.sign(relation)
    return SQLFragment(sql: "\(operand) \(sign) ?", arguments: [argument], isExact: false)
  }

  private func compared(_ relation: Relation, _ left: SQLColumn, _ right: SQLColumn) throws(Failure) -> SQLFragment {
    let bothNull = SQLFragment.chain(.and, [isNull(left), isNull(right)])
    var isAlike = left.type.comparisonClass == right.type.comparisonClass
    if case .object(let root) = left.type { isAlike = right.type == .object(root: root) }
    guard isAlike else { return relation == .equal ? bothNull : .constant(false) }
    if left.type.comparisonClass == .text, !folding.isEmpty {
      let folded = function(relation.textOperation, left.sql, right.sql, [])
      return relation == .equal ? .chain(.or, [folded, bothNull]) : folded
    }
    let isSingle = left.type == .float || right.type == .float
    let leftSQL = isSingle && left.type != .float ? PredicateFunctions.single(left.sql) : left.sql
    let rightSQL = isSingle && right.type != .float ? PredicateFunctions.single(right.sql) : right.sql
    if relation == .equal { return SQLFragment(sql: "\(leftSQL) IS \(rightSQL)", isExact: true) }
    return SQLFragment(sql: "\(leftSQL) \(ComparisonSQL.sign(relation)) \(rightSQL)", isExact: false)
  }

  private static func sign(_ relation: Relation) -> String {
    switch relation {
    case .equal: "="
    case .notEqual: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }

  // MARK: Lists

  /// Above this, a list travels as one argument: SQLite has room for 32,766, and few statements are prepared.
  private static let mostParameters = 50

  private func member(_ value: Side, _ parts: [ComparisonPlan.Operand]) throws(Failure) -> SQLFragment {
    var constants: [Value] = []
    var tests: [SQLFragment] = []
    for part in parts {
      switch (value, try side(part)) {
      case (.column, .constant(let constant)): constants.append(constant)
      case (_, let part): tests.append(try relation(.equal, value, part))
      }
    }
    if case .column(let column) = value { tests.append(try member(column, constants)) }
    return .chain(.or, tests)
  }

  private func member(_ column: SQLColumn, _ constants: [Value]) throws(Failure) -> SQLFragment {
    var tests: [SQLFragment] = []
    var arguments: [String: [Value]] = [:]
    let folder = TextFolder()
    for constant in constants {
      if constant.isNil {
        if tests.isEmpty { tests.append(isNull(column)) }
        continue
      }
      guard constant.comparisonClass == column.type.comparisonClass,
        let (_, operand, argument) = SQLConstant.adapt(.equal, column, constant)
      else { continue }
      let isFolded = constant.comparableText != nil && !folding.isEmpty
      let searched = isFolded ? PredicateFunctions.folded(column.sql, folding) : operand
      arguments[searched, default: []].append(argument.folded(folding, with: folder))
    }
    for (searched, values) in arguments.sorted(by: { $0.key < $1.key }) {
      if values.count <= ComparisonSQL.mostParameters {
        let marks = Array(repeating: "?", count: values.count).joined(separator: ", ")
        tests.append(SQLFragment(sql: "\(searched) IN (\(marks))", arguments: values, isExact: false))
      } else {
        tests.append(
          SQLFragment(
            sql: "\(searched) IN (\(PackedList.sql))", arguments: PackedList.arguments(values), isExact: false,
            stack: 24))
      }
    }
    return .chain(.or, tests)
  }

  // MARK: Text

  private func text(_ operation: TextMatcher.Operation, _ left: Side, _ right: Side) throws(Failure) -> SQLFragment {
    switch (left, right) {
    case (.constant(let left), .constant(let right)):
      return .constant(try ValueTest(folding).matches(operation, left, right))
    case (.constant(let left), .column(let right)):
      guard let text = left.comparableText, right.type.comparisonClass == .text else { return .constant(false) }
      return function(operation, "?", right.sql, [.text(text)])
    case (.column(let left), .column(let right)):
      guard left.type.comparisonClass == .text, right.type.comparisonClass == .text else { return .constant(false) }
      return function(operation, left.sql, right.sql, [])
    case (.column(let left), .constant(let right)):
      guard left.type.comparisonClass == .text, let pattern = right.comparableText else { return .constant(false) }
      return try text(operation, left, pattern)
    }
  }

  private func text(
    _ operation: TextMatcher.Operation, _ column: SQLColumn, _ pattern: Text
  ) throws(Failure) -> SQLFragment {
    let test = function(operation, column.sql, "?", [.text(pattern)])
    switch operation {
    case .matches:
      // A pattern that does not compile is said at once, even when no row would be asked about.
      _ = try TextMatcher(operation, folding, pattern: pattern)
    case .beginsWith where pattern.isEmpty, .endsWith where pattern.isEmpty, .contains where pattern.isEmpty:
      return .constant(false)
    case .beginsWith where folding.isEmpty: return .chain(.and, range(column, prefix: pattern))
    case .like where folding.isEmpty:
      let prefix = WildcardPattern(pattern, folding, TextFolder()).prefix
      if !prefix.isEmpty { return .chain(.and, range(column, prefix: Text(utf8: prefix)) + [test]) }
    default: break
    }
    return test
  }

  /// The texts with a prefix are a range of the column, so that an index serves them.
  private func range(_ column: SQLColumn, prefix: Text) -> [SQLFragment] {
    var bounds = [SQLFragment(sql: "\(column.sql) >= ?", arguments: [.text(prefix)], isExact: false)]
    if let end = ComparisonSQL.firstText(after: prefix) {
      bounds.append(SQLFragment(sql: "\(column.sql) < ?", arguments: [.text(end)], isExact: false))
    }
    return bounds
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

  private func function(
    _ operation: TextMatcher.Operation, _ text: String, _ pattern: String, _ arguments: [Value]
  ) -> SQLFragment {
    SQLFragment(
      sql: "\(PredicateFunctions.text)(\(operation.rawValue), \(folding.rawValue), \(text), \(pattern))",
      arguments: arguments, isExact: true, stack: 12)
  }
}
