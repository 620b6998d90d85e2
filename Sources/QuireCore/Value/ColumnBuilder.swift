import Glibc

/// Gathers the values of a column row by row. Its memory becomes that of the column: nothing is appended afterwards.
struct ColumnBuilder {
  let name: Text
  let kind: Column.Kind
  private(set) var length = 0
  private var nilCount = 0
  /// One bit a row; nil as long as no row is nil.
  private var validity: ColumnMemory?
  private let values: ColumnMemory
  /// nil for fixed widths.
  private let offsets: ColumnMemory?
  private var containsNUL = false

  init(name: Text, kind: Column.Kind, capacity: Int) {
    self.name = name
    self.kind = kind
    switch kind {
    case .integer, .objectID, .double, .date: values = ColumnMemory(capacity: capacity * 8)
    case .boolean: values = ColumnMemory(capacity: capacity)
    case .uuid: values = ColumnMemory(capacity: min(capacity, 256) * 16)
    default: values = ColumnMemory(capacity: min(capacity, 256) * 32)
    }
    switch kind {
    case .text, .decimal, .uri, .data:
      let ends = ColumnMemory(capacity: (capacity + 1) * 8)
      ends.append(0)
      offsets = ends
    default: offsets = nil
    }
  }

  /// A value of another kind than the column's counts as nil; columns are made for the kind of their attribute.
  mutating func append(_ value: Value) {
    switch (kind, value) {
    case (.integer, .integer(let integer)): append(integer: integer)
    case (.objectID, .object(let box)): append(integer: box.reference.id)
    case (.boolean, .boolean(let flag)): append(boolean: flag)
    case (.double, .double(let double)): append(double: double)
    case (.double, .float(let float)): append(double: Double(float))
    case (.date, .date(let seconds)): append(date: seconds)
    case (.text, .text(let text)), (.uri, .uri(let text)): append(text: text.bytes.buffer)
    case (.decimal, .decimal(let decimal)):
      let bytes = Text(decimal.description).bytes
      append(text: bytes.buffer)
      withExtendedLifetime(bytes) {}
    case (.data, .data(let data)): append(data: UnsafeRawBufferPointer(data.buffer))
    case (.uuid, .uuid(let uuid)):
      values.append(bytes: UnsafeRawBufferPointer(uuid.buffer))
      count(isNil: false)
    default: appendNil()
    }
  }

  /// The same for values of the column's kind without a value around them.
  @inline(__always)
  mutating func append(integer: Int64) {
    values.append(integer)
    count(isNil: false)
  }

  @inline(__always)
  mutating func append(boolean: Bool) {
    values.append(boolean ? 1 as UInt8 : 0)
    count(isNil: false)
  }

  @inline(__always)
  mutating func append(double: Double) {
    values.append(double)
    count(isNil: false)
  }

  @inline(__always)
  mutating func append(date seconds: Double) { append(double: Epoch.since1970(seconds)) }

  @inline(__always)
  mutating func append(text: UnsafeBufferPointer<UInt8>) {
    if let start = text.baseAddress, !containsNUL, memchr(start, 0, text.count) != nil { containsNUL = true }
    append(data: UnsafeRawBufferPointer(text))
  }

  @inline(__always)
  private mutating func append(data: UnsafeRawBufferPointer) {
    values.append(bytes: data)
    offsets?.append(values.count)
    count(isNil: false)
  }

  mutating func appendNil() {
    switch kind {
    case .integer, .objectID, .double, .date: values.append(0)
    case .boolean: values.append(0 as UInt8)
    case .uuid: values.append(repeating: 0, count: 16)
    case .text, .decimal, .uri, .data: offsets?.append(values.count)
    }
    count(isNil: true)
  }

  /// Whether there is memory for a value of so many bytes, and later for the column that is made of all.
  func hasRoom(for count: Int) -> Bool { values.count + count <= values.capacity || Memory.has(room(for: count)) }

  /// The values are copied when their memory grows, and when they are separated.
  func room(for count: Int) -> Int { (values.count + count) * 4 }

  @inline(__always)
  private mutating func count(isNil: Bool) {
    if isNil || validity != nil { note(isNil: isNil) }
    length += 1
  }

  @inline(never)
  private mutating func note(isNil: Bool) {
    let bits = validity ?? firstValidity()
    validity = bits
    if length % 8 == 0 { bits.append(0 as UInt8) }
    if isNil { nilCount += 1 } else { bits.setInLastByte(bit: length % 8) }
  }

  /// The bits of the rows so far, none of which is nil.
  private func firstValidity() -> ColumnMemory {
    let bits = ColumnMemory(capacity: length / 8 + 64)
    bits.append(repeating: 0xFF, count: length / 8)
    if length % 8 != 0 { bits.append(UInt8(truncatingIfNeeded: 1 << (length % 8) - 1)) }
    return bits
  }

  /// With `nulSeparated`, text is to get a NUL behind each value instead of offsets, unless a value contains one.
  func column(nulSeparated: Bool = false) throws(Failure) -> Column {
    for memory in [values, offsets, validity] { try memory?.require(for: "a page of '\(name)'") }
    var isText = false
    if case .text = kind { isText = true }
    if case .decimal = kind { isText = true }
    if case .uri = kind { isText = true }
    return Column(
      name: name, kind: kind, length: length, nilCount: nilCount, validity: validity, offsets: offsets,
      values: values, isToBeSeparated: nulSeparated && isText && !containsNUL)
  }
}
