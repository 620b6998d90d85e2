/// A constant fitted to the column that it is compared with.
struct SQLConstant {
  /// What a column is compared as.
  enum Form: Equatable {
    case plain
    case real
    /// As the nearest 32-bit value.
    case single
    case singleOfReal
    case folded(TextFolding)

    func operand(_ column: SQLExpr) -> SQLExpr {
      switch self {
      case .plain: column
      case .real: SQLExpr(.real(column))
      case .single: .call(.single, column)
      case .singleOfReal: .call(.single, SQLExpr(.real(column)))
      case .folded(let folding): .call(.fold, SQLExpr(.integer(Int64(folding.rawValue))), column)
      }
    }

    /// The order of lists of different forms, so that the text of the statement does not depend on that of the values.
    var rank: Int {
      switch self {
      case .real: 0
      case .folded: 1
      case .singleOfReal: 2
      case .single: 3
      case .plain: 4
      }
    }

    fileprivate var asSingle: Form { self == .real ? .singleOfReal : .single }
  }

  let relation: Relation
  let form: Form
  let argument: Value

  /// From here on there are integers that no double is.
  private static let firstBeyondDoubles = 9_007_199_254_740_992.0

  private init(_ relation: Relation, _ form: Form, _ argument: Value) {
    self.relation = relation
    self.form = form
    self.argument = argument
  }

  /// nil when no value of a column of that type satisfies the relation. Expects a constant of the type's class.
  init?(_ relation: Relation, _ type: ColumnType, _ value: Value) {
    switch value {
    case .date(let seconds):
      if seconds.isNaN { return nil }
      self.init(relation, .plain, .double(seconds))
    case .text(let text), .uri(let text): self.init(relation, .plain, .text(text))
    case .data(let bytes), .uuid(let bytes): self.init(relation, .plain, .data(bytes))
    case .object(let box):
      guard type == .object(root: box.reference.root) else { return nil }
      self.init(relation, .plain, .integer(box.reference.id))
    default:
      guard let number = value.number else { return nil }
      self.init(relation, type, number)
    }
  }

  private init?(_ relation: Relation, _ type: ColumnType, _ number: Number) {
    if number.double.isNaN { return nil }
    // Another program may have written a whole number that is no double, which is compared as the nearest all the same.
    let isReal = type == .decimal && number.double.magnitude >= SQLConstant.firstBeyondDoubles
    let form = isReal ? Form.real : .plain
    if type == .float {
      self.init(relation, form, .double(Double(number.single)))
      return
    }
    switch number {
    case .float(let float): self.init(relation, form.asSingle, .double(Double(float)))
    case .real(let double):
      // Where SQLite knows that a column equals a constant, it gives the constant to functions in place of the column.
      // It is to be a value that the column can have.
      let isWhole = type == .integer || type == .boolean
      guard isWhole, relation == .equal || relation == .notEqual else {
        self.init(relation, form, .double(double))
        return
      }
      guard let integer = Int64(exactly: double) else { return nil }
      self.init(relation, form, .integer(integer))
    case .integer(let integer):
      if type == .integer || type == .boolean {
        self.init(relation, form, .integer(integer))
      } else {
        self.init(relation, form, integer)
      }
    }
  }

  /// SQLite may turn an integer into a double before it looks into an index of doubles, so this does it first. Where no
  /// double equals the integer, it takes the relation to the nearest double that has the same answer.
  private init?(_ relation: Relation, _ form: Form, _ integer: Int64) {
    let double = Double(integer)
    let isAbove: Bool
    switch Number.order(.real(double), .integer(integer)) {
    case .some(let order) where order != 0: isAbove = order > 0
    default:
      self.init(relation, form, .double(double))
      return
    }
    switch relation {
    case .equal, .notEqual: return nil
    case .less, .lessOrEqual: self.init(isAbove ? .less : .lessOrEqual, form, .double(double))
    case .greater, .greaterOrEqual: self.init(isAbove ? .greaterOrEqual : .greater, form, .double(double))
    }
  }
}
