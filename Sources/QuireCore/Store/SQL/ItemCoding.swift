import CSQLite

/// Values and lists as bytes, so that SQL can hand them from one of its functions to another.
///
/// Each begins with a tag. Integers and reals have eight bytes; text, data and lists have their size first.
enum ItemCoding {
  private enum Tag: UInt8 {
    case null, integer, boolean, double, float, decimal, text, date, data, uuid, uri, object, list
  }

  // MARK: What SQL found

  /// Appends one value as SQLite has it.
  static func append(_ value: OpaquePointer?, to bytes: inout [UInt8]) {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: append(.integer, UInt64(bitPattern: sqlite3_value_int64(value)), to: &bytes)
    case SQLITE_FLOAT: append(.double, sqlite3_value_double(value).bitPattern, to: &bytes)
    case SQLITE_TEXT: append(.text, SQLValue.bytes(value, sqlite3_value_text(value)), to: &bytes)
    case SQLITE_BLOB: append(.data, SQLValue.bytes(value, sqlite3_value_blob(value)), to: &bytes)
    default: bytes.append(Tag.null.rawValue)
    }
  }

  /// The list that `append` made, whose elements are of one kind.
  static func list(
    _ bytes: UnsafeBufferPointer<UInt8>, of kind: SQLLeaf.Kind
  ) throws(Failure) -> Item {
    var reader = Reader(bytes)
    var items: [Item] = []
    while let stored = try reader.nextStored() {
      switch (kind, stored) {
      case (_, .null): items.append(.nil)
      case (.value(let type), let stored): items.append(.value(try stored.value(as: type)))
      case (.list(let element), .data(let bytes)): items.append(try list(bytes, of: element))
      case (.coded, .data(let bytes)): items.append(try decode(bytes))
      default: throw Reader.damaged
      }
    }
    return .list(items)
  }

  // MARK: What programs gave

  static func encode(_ item: Item) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    try append(item, to: &bytes)
    return bytes
  }

  static func decode(_ bytes: UnsafeBufferPointer<UInt8>) throws(Failure) -> Item {
    var reader = Reader(bytes)
    return try reader.nextItem()
  }

  private static func append(_ item: Item, to bytes: inout [UInt8]) throws(Failure) {
    if let items = item.elements {
      var content: [UInt8] = []
      for item in items { try append(item, to: &content) }
      append(.list, content, to: &bytes)
      return
    }
    switch item.scalar ?? .nil {
    // What programs compute with is in place.
    case .nil, .list, .external: bytes.append(Tag.null.rawValue)
    case .integer(let integer): append(.integer, UInt64(bitPattern: integer), to: &bytes)
    case .boolean(let boolean): append(.boolean, boolean ? 1 : 0, to: &bytes)
    case .double(let double): append(.double, double.bitPattern, to: &bytes)
    case .float(let float): append(.float, UInt64(float.bitPattern), to: &bytes)
    case .date(let seconds): append(.date, seconds.bitPattern, to: &bytes)
    case .decimal(let decimal): append(.decimal, Array("\(decimal)".utf8), to: &bytes)
    case .text(let text): append(.text, text.bytes.buffer, to: &bytes)
    case .uri(let text): append(.uri, text.bytes.buffer, to: &bytes)
    case .data(let data): append(.data, data.buffer, to: &bytes)
    case .uuid(let uuid): append(.uuid, uuid.buffer, to: &bytes)
    case .object(let box):
      append(.object, UInt64(bitPattern: box.reference.id), to: &bytes)
      append(UInt64(truncatingIfNeeded: box.reference.root), to: &bytes)
    }
  }

  // MARK: Bytes

  private static func append(_ tag: Tag, _ bits: UInt64, to bytes: inout [UInt8]) {
    bytes.append(tag.rawValue)
    append(bits, to: &bytes)
  }

  private static func append(_ tag: Tag, _ content: some Collection<UInt8>, to bytes: inout [UInt8]) {
    append(tag, UInt64(content.count), to: &bytes)
    bytes.append(contentsOf: content)
  }

  private static func append(_ bits: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: bits) { bytes.append(contentsOf: $0) }
  }

  private struct Reader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    static var damaged: Failure { Failure(.database, "A value that SQL passed on is damaged.") }

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private mutating func tag() -> Tag? {
      guard place < bytes.count, let tag = Tag(rawValue: bytes[place]) else { return nil }
      place += 1
      return tag
    }

    private mutating func word() throws(Failure) -> UInt64 {
      guard bytes.count - place >= 8 else { throw Reader.damaged }
      defer { place += 8 }
      return UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }

    private mutating func content() throws(Failure) -> UnsafeBufferPointer<UInt8> {
      guard let count = Int(exactly: try word()), count <= bytes.count - place else { throw Reader.damaged }
      defer { place += count }
      return UnsafeBufferPointer(rebasing: bytes[place..<(place + count)])
    }

    /// nil at the end.
    mutating func nextStored() throws(Failure) -> StoredValue? {
      if place == bytes.count { return nil }
      switch tag() {
      case .null: return .null
      case .integer: return .integer(Int64(bitPattern: try word()))
      case .double: return .real(Double(bitPattern: try word()))
      case .text: return .text(try content())
      case .data: return .data(try content())
      default: throw Reader.damaged
      }
    }

    mutating func nextItem() throws(Failure) -> Item {
      switch tag() {
      case .null: return .nil
      case .integer: return .value(.integer(Int64(bitPattern: try word())))
      case .boolean: return .value(.boolean(try word() != 0))
      case .double: return .value(.double(Double(bitPattern: try word())))
      case .float: return .value(.float(Float(bitPattern: UInt32(truncatingIfNeeded: try word()))))
      case .date: return .value(.date(Double(bitPattern: try word())))
      case .decimal:
        guard let decimal = Decimal(try content()) else { throw Reader.damaged }
        return .value(.decimal(decimal))
      case .text: return .value(.text(Text(trusted: Bytes(try content()))))
      case .uri: return .value(.uri(Text(trusted: Bytes(try content()))))
      case .data: return .value(.data(Bytes(try content())))
      case .uuid: return .value(.uuid(Bytes(try content())))
      case .object:
        let id = Int64(bitPattern: try word()), root = Int(truncatingIfNeeded: try word())
        return .value(.object(ObjectReference(root: root, id: id)))
      case .list:
        var inner = Reader(try content())
        var items: [Item] = []
        while inner.place < inner.bytes.count { items.append(try inner.nextItem()) }
        return .list(items)
      case nil: throw Reader.damaged
      }
    }
  }
}
