import Glibc

/// Gathers the values of a column row by row.
struct ColumnBuilder {
  let name: Text
  let kind: Column.Kind
  private var length = 0
  private var nilCount = 0
  private var validity: [UInt8] = []
  private var integers: [Int64] = []
  private var doubles: [Double] = []
  private var bytes: [UInt8] = []
  private var offsets: [Int64] = [0]
  private var containsNUL = false

  init(name: Text, kind: Column.Kind, capacity: Int) {
    self.name = name
    self.kind = kind
    switch kind {
    case .integer, .objectID: integers.reserveCapacity(capacity)
    case .double, .date: doubles.reserveCapacity(capacity)
    case .boolean: bytes.reserveCapacity(capacity)
    default:
      offsets.reserveCapacity(capacity + 1)
      bytes.reserveCapacity(min(capacity, 256) * 32)
    }
    validity.reserveCapacity(capacity / 8 + 1)
  }

  /// A value of another kind than the column's counts as nil; columns are made for the kind of their attribute.
  mutating func append(_ value: Value) {
    var isNil = false
    switch (kind, value) {
    case (.integer, .integer(let integer)): integers.append(integer)
    case (.objectID, .object(let box)): integers.append(box.reference.id)
    case (.integer, _), (.objectID, _): integers.append(0); isNil = true
    case (.boolean, .boolean(let flag)): bytes.append(flag ? 1 : 0)
    case (.boolean, _): bytes.append(0); isNil = true
    case (.double, .double(let double)): doubles.append(double)
    case (.double, .float(let float)): doubles.append(Double(float))
    case (.date, .date(let seconds)): doubles.append(Epoch.since1970(seconds))
    case (.double, _), (.date, _): doubles.append(0); isNil = true
    case (.text, .text(let text)), (.uri, .uri(let text)): add(text.bytes.buffer)
    case (.decimal, .decimal(let decimal)): add(decimal.description)
    case (.data, .data(let data)): add(data.buffer)
    case (.uuid, .uuid(let uuid)): bytes.append(contentsOf: uuid.buffer)
    case (.uuid, _): bytes.append(contentsOf: repeatElement(0, count: 16)); isNil = true
    default: offsets.append(Int64(bytes.count)); isNil = true
    }
    count(isNil: isNil)
  }

  /// Whether there is memory for a value of so many bytes, and later for the column that is made of all.
  func hasRoom(for count: Int) -> Bool { bytes.count + count <= bytes.capacity || Memory.has(room(for: count)) }

  /// The values are copied when their memory grows, when they are separated, and when the column is made.
  func room(for count: Int) -> Int { (bytes.count + count) * 4 }

  /// The same for text, to a column of it.
  mutating func append(text: UnsafeBufferPointer<UInt8>) {
    add(text)
    count(isNil: false)
  }

  @inline(__always)
  private mutating func count(isNil: Bool) {
    if length % 8 == 0 { validity.append(0) }
    if isNil { nilCount += 1 } else { validity[length / 8] |= 1 << UInt8(length % 8) }
    length += 1
  }

  private mutating func add(_ text: String) {
    let bytes = Text(text).bytes
    add(bytes.buffer)
    withExtendedLifetime(bytes) {}
  }

  private mutating func add(_ text: UnsafeBufferPointer<UInt8>) {
    if let start = text.baseAddress, !containsNUL, memchr(start, 0, text.count) != nil { containsNUL = true }
    bytes.append(contentsOf: text)
    offsets.append(Int64(bytes.count))
  }

  /// With `nulSeparated`, text gets a NUL behind each value instead of offsets, unless a value contains one.
  func column(nulSeparated: Bool = false) -> Column {
    func make(_ values: UnsafeRawBufferPointer, offsets: [Int64]? = nil) -> Column {
      Column(
        name: name, kind: kind, length: length, nilCount: nilCount, validity: validity, offsets: offsets,
        values: values)
    }
    let separates = nulSeparated && !containsNUL
    switch kind {
    case .integer, .objectID: return integers.withUnsafeBytes { make($0) }
    case .double, .date: return doubles.withUnsafeBytes { make($0) }
    case .boolean, .uuid: return bytes.withUnsafeBytes { make($0) }
    case .text where separates, .decimal where separates, .uri where separates:
      var separated: [UInt8] = []
      separated.reserveCapacity(bytes.count + length)
      for row in 0..<length {
        separated.append(contentsOf: bytes[Int(offsets[row])..<Int(offsets[row + 1])])
        separated.append(0)
      }
      return separated.withUnsafeBytes { make($0) }
    default: return bytes.withUnsafeBytes { make($0, offsets: offsets) }
    }
  }
}
