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

extension StoredValue {
  func item(as kind: SQLLeaf.Kind) throws(Failure) -> Item {
    switch (kind, self) {
    case (_, .null): return .nil
    case (.value(let type), _): return .value(try value(as: type))
    case (.number, .integer(let integer)): return .value(.integer(integer))
    case (.number, .real(let double)): return .value(.double(double))
    case (.number, .data): return .value(.double(.nan))
    case (.list(let element), .data(let bytes)): return try ItemCoding.list(bytes, of: element)
    case (.coded, .data(let bytes)): return try ItemCoding.decode(bytes)
    default: throw Failure(.database, "A value that SQL passed on is damaged.")
    }
  }
}

/// A value of a row before its declared type makes a `Value` of it.
enum StoredValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeBufferPointer<UInt8>)
  case data(UnsafeBufferPointer<UInt8>)

  func value(as type: ColumnType) throws(Failure) -> Value {
    switch (type, self) {
    case (_, .null): return .nil
    case (.integer, .integer(let integer)): return .integer(integer)
    case (.boolean, .integer(let integer)): return .boolean(integer != 0)
    case (.object(let root), .integer(let id)): return .object(ObjectReference(root: root, id: id))
    // Another program may have written one that is no double; see `Item.item(forKey:asValue:)`.
    case (.decimal, .integer(let integer)): return .decimal(Decimal(integer).stored)
    case (.text, .text(let bytes)): return .text(Text(trusted: Bytes(bytes)))
    case (.uri, .text(let bytes)): return .uri(Text(trusted: Bytes(bytes)))
    case (.data, .data(let bytes)): return .data(Bytes(bytes))
    case (.uuid, .data(let bytes)): return .uuid(Bytes(bytes))
    case (.double, _), (.float, _), (.date, _), (.decimal, _):
      guard let real else { break }
      switch type {
      case .float: return .float(Float(real))
      case .date: return .date(real)
      case .decimal: if let decimal = Decimal(real) { return .decimal(decimal) }
      default: return .double(real)
      }
    default: break
    }
    throw Failure(
      .database,
      "A row of the store holds a value that its attribute cannot have. The file was changed by other means, "
        + "or is damaged.", databaseCode: SQLITE_MISMATCH)
  }

  private var real: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let double): double
    default: nil
    }
  }
}
