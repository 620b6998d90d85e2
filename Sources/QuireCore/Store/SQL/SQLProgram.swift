import CSQLite

/// What memory evaluates for a statement, row by row, from values that SQL looks up. For one statement at a time.
final class SQLProgram {
  enum Body {
    case predicate(PredicateNode)
    case expression(ExpressionNode, Result)
  }

  /// How SQL gets the value of an expression.
  enum Result {
    /// The id of an object.
    case objectID
    /// The value with its type, see `ItemCoding`.
    case coded
    /// The same so that equal values have equal bytes, for DISTINCT.
    case canonical
    /// The order of the section that the value belongs to.
    case section(SectionScan)
  }

  /// How the condition or expression was written.
  let text: String
  private let body: Body
  private let arguments: [(number: Int, kind: SQLLeaf.Kind)]
  private var scope: Scope

  init(_ body: Body, _ text: String, _ arguments: [(number: Int, kind: SQLLeaf.Kind)]) {
    self.body = body
    self.text = text
    self.arguments = arguments
    scope = Scope(subject: .nil, variables: [:])
    scope.arguments = Array(repeating: .nil, count: (arguments.map(\.number).max() ?? -1) + 1)
  }

  /// `values` has one for each argument.
  func run(_ values: UnsafeBufferPointer<OpaquePointer?>, _ context: OpaquePointer) throws(Failure) {
    for (place, argument) in arguments.enumerated() where place < values.count {
      scope.arguments[argument.number] = try Item(values[place], as: argument.kind)
    }
    switch body {
    case .predicate(let node): sqlite3_result_int(context, try node.holds(&scope) ? 1 : 0)
    case .expression(let node, let result):
      let item = try node.item(&scope)
      switch result {
      case .objectID:
        guard case .object(let box)? = item.scalar else { return sqlite3_result_null(context) }
        sqlite3_result_int64(context, box.reference.id)
      case .coded:
        if item.isNil { return sqlite3_result_null(context) }
        let bytes = try ItemCoding.encode(item)
        quire_sqlite_result_blob_copy(context, bytes, UInt64(bytes.count))
      case .canonical:
        if item.isNil { return sqlite3_result_null(context) }
        let bytes = try ItemCoding.encode(item.canonical)
        quire_sqlite_result_blob_copy(context, bytes, UInt64(bytes.count))
      case .section(let sections):
        try sections.order(of: item).bytes.withUnsafeBytes { SQLValue.give(context, data: $0) }
      }
    }
  }
}

extension Item {
  /// One form for numbers that are equal, whatever their types.
  fileprivate var canonical: Item {
    switch scalar {
    case .boolean(let boolean): .value(.integer(boolean ? 1 : 0))
    case .float(let float): Item.canonical(Double(float))
    case .double(let double): Item.canonical(double)
    case .decimal(let decimal): Item.canonical(decimal.double)
    default: self
    }
  }

  private static func canonical(_ double: Double) -> Item {
    if let integer = Int64(exactly: double) { return .value(.integer(integer)) }
    return .value(.double(double.isNaN ? .nan : double))
  }

  /// What SQL found for an argument of a program.
  init(_ value: OpaquePointer?, as kind: SQLLeaf.Kind) throws(Failure) {
    let storage = sqlite3_value_type(value)
    if storage == SQLITE_NULL {
      self = .nil
      return
    }
    switch kind {
    case .value, .number:
      let stored: StoredValue
      switch storage {
      case SQLITE_INTEGER: stored = .integer(sqlite3_value_int64(value))
      case SQLITE_FLOAT: stored = .real(sqlite3_value_double(value))
      case SQLITE_TEXT: stored = .text(SQLValue.bytes(value, sqlite3_value_text(value)))
      default: stored = .data(SQLValue.bytes(value, sqlite3_value_blob(value)))
      }
      self = try stored.item(as: kind)
    default: self = try StoredValue.data(SQLValue.bytes(value, sqlite3_value_blob(value))).item(as: kind)
    }
  }
}
