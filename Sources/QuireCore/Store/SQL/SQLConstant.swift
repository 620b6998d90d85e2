/// Fits constants to the columns that they are compared with.
enum SQLConstant {
  /// From here on there are integers that no double is.
  private static let firstBeyondDoubles = 9_007_199_254_740_992.0

  /// The relation, the column as it is to be written, and the argument; nil when no value of the column satisfies
  /// the relation. Expects a constant of the column's class.
  static func adapt(
    _ relation: Relation, _ column: SQLColumn, _ value: Value
  ) -> (Relation, operand: String, argument: Value)? {
    switch value {
    case .date(let seconds): return seconds.isNaN ? nil : (relation, column.sql, .double(seconds))
    case .text(let text), .uri(let text): return (relation, column.sql, .text(text))
    case .data(let bytes), .uuid(let bytes): return (relation, column.sql, .data(bytes))
    case .object(let box):
      guard column.type == .object(root: box.reference.root) else { return nil }
      return (relation, column.sql, .integer(box.reference.id))
    default:
      guard let number = value.number else { return nil }
      return adapt(relation, column, number)
    }
  }

  private static func adapt(
    _ relation: Relation, _ column: SQLColumn, _ number: Number
  ) -> (Relation, operand: String, argument: Value)? {
    if number.double.isNaN { return nil }
    // Another program may have written a whole number that is no double, which is compared as the nearest all the same.
    if column.type == .decimal, number.double.magnitude >= SQLConstant.firstBeyondDoubles {
      var column = column
      column.type = .double
      column.sql = "CAST(\(column.sql) AS REAL)"
      return adapt(relation, column, number)
    }
    if column.type == .float { return (relation, column.sql, .double(Double(number.single))) }
    switch number {
    case .float(let float):
      return (relation, PredicateFunctions.single(column.sql), .double(Double(float)))
    case .real(let double): return (relation, column.sql, .double(double))
    case .integer(let integer):
      if column.type == .integer || column.type == .boolean { return (relation, column.sql, .integer(integer)) }
      return adapt(relation, column, integer)
    }
  }

  /// SQLite may turn an integer into a double before it looks into an index of doubles, so this does it first, and
  /// where none equals the integer, takes the relation to the nearest that has the same answer.
  private static func adapt(
    _ relation: Relation, _ column: SQLColumn, _ integer: Int64
  ) -> (Relation, operand: String, argument: Value)? {
    let double = Double(integer)
    let isAbove: Bool
    switch Number.order(.real(double), .integer(integer)) {
    case .some(let order) where order != 0: isAbove = order > 0
    default: return (relation, column.sql, .double(double))
    }
    switch relation {
    case .equal, .notEqual: return nil
    case .less, .lessOrEqual: return (isAbove ? .less : .lessOrEqual, column.sql, .double(double))
    case .greater, .greaterOrEqual: return (isAbove ? .greaterOrEqual : .greater, column.sql, .double(double))
    }
  }
}
