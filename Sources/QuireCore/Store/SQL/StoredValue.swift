import CSQLite

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
