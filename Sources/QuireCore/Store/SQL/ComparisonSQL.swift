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
  func fragment(_ left: Side, _ right: Side) throws(Failure) -> SQLFragment? {
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
  func fragment(_ value: Side, parts: [Side]) throws(Failure) -> SQLFragment? {
    if comparison.operator == .isIn {
      // A locale decides for itself what is equal, text by text.
      return folding.contains(.byLocale) ? nil : try member(value, parts)
    }
    guard parts.count == 2 else { return nil }
    return .chain(
      .and, [try strict(.greaterOrEqual, value, parts[0]), try strict(.lessOrEqual, value, parts[1])])
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
    SQLFragment(sql: "\(column.sql) IS NULL", isExact: true, stack: 1 + column.stack)
  }

  /// A column and a constant that is not nil.
  private func compared(_ relation: Relation, _ column: SQLColumn, _ value: Value) throws(Failure) -> SQLFragment {
    guard value.comparisonClass == column.type.comparisonClass else { return .constant(relation == .notEqual) }
    if relation.isOrdering, !column.type.comparisonClass.hasOrder { return .constant(false) }
    if let pattern = value.comparableText, !folding.isEmpty {
      return try searched(relation.textOperation, column, pattern)
    }
    guard let (relation, operand, argument) = SQLConstant.adapt(relation, column, value) else {
      return .constant(false)
    }
    let sign = ComparisonSQL.sign(relation)
    return SQLFragment(
      sql: "\(operand) \(sign) \(arguments.parameter(argument))", isExact: false,
      stack: stack(column, as: operand))
  }

  private func compared(_ relation: Relation, _ left: SQLColumn, _ right: SQLColumn) throws(Failure) -> SQLFragment {
    let bothNull = SQLFragment.chain(.and, [isNull(left), isNull(right)])
    var isAlike = left.type.comparisonClass == right.type.comparisonClass
    if case .object(let root) = left.type { isAlike = right.type == .object(root: root) }
    if relation.isOrdering, !left.type.comparisonClass.hasOrder { isAlike = false }
    guard isAlike else { return relation == .equal ? bothNull : .constant(false) }
    if left.type.comparisonClass == .text, !folding.isEmpty {
      let folded = function(relation.textOperation, left, right)
      return relation == .equal ? .chain(.or, [folded, bothNull]) : folded
    }
    let isSingle = left.type == .float || right.type == .float
    func operand(_ column: SQLColumn) -> String {
      // See `SQLConstant`.
      let sql = column.type == .decimal ? "CAST(\(column.sql) AS REAL)" : column.sql
      return isSingle && column.type != .float ? PredicateFunctions.single(sql) : sql
    }
    let leftSQL = operand(left), rightSQL = operand(right)
    let stack = max(stack(left, as: leftSQL), 2 + stack(right, as: rightSQL))
    if relation == .equal { return SQLFragment(sql: "\(leftSQL) IS \(rightSQL)", isExact: true, stack: stack) }
    return SQLFragment(
      sql: "\(leftSQL) \(ComparisonSQL.sign(relation)) \(rightSQL)", isExact: false, stack: stack)
  }

  /// See `SQLFragment.stack`: of a column, or of a function of it.
  private func stack(_ column: SQLColumn, as operand: String) -> Int {
    func depth(_ sql: String) -> Int { sql.utf8.count { $0 == UInt8(ascii: "(") } }
    return operand == column.sql ? column.stack : column.stack + 5 * (depth(operand) - depth(column.sql))
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

  private func member(_ value: Side, _ parts: [Side]) throws(Failure) -> SQLFragment {
    var constants: [Value] = []
    var tests: [SQLFragment] = []
    for part in parts {
      switch (value, part) {
      case (.column, .constant(let constant)): constants.append(constant)
      case (_, let part): tests.append(try relation(.equal, value, part))
      }
    }
    if case .column(let column) = value { tests.append(try member(column, constants)) }
    return .chain(.or, tests)
  }

  private func member(_ column: SQLColumn, _ constants: [Value]) throws(Failure) -> SQLFragment {
    if let searched = try searched(column, constants) { return searched }
    var tests: [SQLFragment] = []
    var searches: [String: [Value]] = [:]
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
      searches[searched, default: []].append(argument.folded(folding, with: folder))
    }
    for (searched, values) in searches.sorted(by: { $0.key < $1.key }) {
      if values.count <= ComparisonSQL.mostParameters {
        let marks = values.map { arguments.parameter($0) }.joined(separator: ", ")
        tests.append(
          SQLFragment(
            sql: "\(searched) IN (\(marks))", isExact: false,
            stack: max(6, stack(column, as: searched))))
      } else {
        tests.append(
          SQLFragment(
            sql: "\(searched) IN (\(PackedList.sql(values, arguments)))", isExact: false,
            stack: max(24, stack(column, as: searched))))
      }
    }
    return .chain(.or, tests)
  }

  /// One search for each text, where the text index serves them all: with options it finds what no other index does.
  private func searched(_ column: SQLColumn, _ constants: [Value]) throws(Failure) -> SQLFragment? {
    if folding.isEmpty || column.textIndex == nil || constants.count > ComparisonSQL.mostParameters { return nil }
    let argumentCount = arguments.all.count
    var tests: [SQLFragment] = []
    for constant in constants {
      guard let text = constant.comparableText else { continue }
      let test = try searched(.equal, column, text)
      if test.keyed == nil {
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

  private func text(_ operation: TextMatcher.Operation, _ left: Side, _ right: Side) throws(Failure) -> SQLFragment {
    switch (left, right) {
    case (.constant(let left), .constant(let right)):
      return .constant(try ValueTest(folding).matches(operation, left, right))
    case (.constant(let left), .column(let right)):
      guard let text = left.comparableText, right.type.comparisonClass == .text else { return .constant(false) }
      return function(operation, arguments.parameter(.text(text)), right.sql, stack: 5 + right.stack)
    case (.column(let left), .column(let right)):
      guard left.type.comparisonClass == .text, right.type.comparisonClass == .text else { return .constant(false) }
      return function(operation, left, right)
    case (.column(let left), .constant(let right)):
      guard left.type.comparisonClass == .text, let pattern = right.comparableText else { return .constant(false) }
      return try text(operation, left, pattern)
    }
  }

  private func text(
    _ operation: TextMatcher.Operation, _ column: SQLColumn, _ pattern: Text
  ) throws(Failure) -> SQLFragment {
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
  ) throws(Failure) -> SQLFragment {
    let matcher = try TextMatcher(operation, folding, pattern: pattern)
    let test = function(operation, column.sql, arguments.parameter(matcher), stack: 5 + column.stack)
    let candidates = candidates(operation, column, pattern)
    var found = SQLFragment.chain(.and, candidates + [test])
    found.keyed = candidates.first?.keyed.map { SQLKeyedSearch(key: $0.key, keys: $0.keys, test: test.sql) }
    return found
  }

  private func candidates(
    _ operation: TextMatcher.Operation, _ column: SQLColumn, _ pattern: Text
  ) -> [SQLFragment] {
    guard var found = column.textIndex?.candidates(operation, pattern, folding, arguments) else { return [] }
    found.stack = max(found.stack, column.stack)
    return [found]
  }

  /// The texts with a prefix are a range of the column, so that an index serves them.
  private func range(_ column: SQLColumn, prefix: Text) -> [SQLFragment] {
    func bound(_ sign: String, _ text: Text) -> SQLFragment {
      SQLFragment(
        sql: "\(column.sql) \(sign) \(arguments.parameter(.text(text)))", isExact: false, stack: column.stack)
    }
    return [bound(">=", prefix)] + (ComparisonSQL.firstText(after: prefix).map { [bound("<", $0)] } ?? [])
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
    _ operation: TextMatcher.Operation, _ text: String, _ pattern: String, stack: Int
  ) -> SQLFragment {
    SQLFragment(
      sql: "\(PredicateFunctions.text)(\(operation.rawValue), \(folding.rawValue), \(text), \(pattern))",
      isExact: true, stack: stack)
  }

  private func function(_ operation: TextMatcher.Operation, _ text: SQLColumn, _ pattern: SQLColumn) -> SQLFragment {
    function(operation, text.sql, pattern.sql, stack: 5 + max(text.stack, pattern.stack))
  }
}
