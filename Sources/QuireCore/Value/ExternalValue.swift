/// Data that lies in a file beside the store. It is read when it is first asked for, and kept from then on.
final class ExternalValue: Sendable {
  /// The attribute and the row that it was read from.
  struct Place: Sendable {
    let entity: Int
    let slot: Int
    let row: Int64
  }

  let place: Place
  /// nil where the row names no file, as it is damaged.
  let file: ExternalFile?
  private let source: any ExternalSource
  private let known = Guarded<Bytes?>(nil)

  init(_ file: ExternalFile?, at place: Place, of source: any ExternalSource) {
    self.file = file
    self.place = place
    self.source = source
  }

  /// Whether it needs its file no more.
  var isRead: Bool { known.withLock { $0 != nil } }

  func data() throws(Failure) -> Bytes {
    if let data = known.withLock({ $0 }) { return data }
    let data = try source.data(of: self)
    return known.withLock { known in
      // Another thread may have been faster, and its caller may have borrowed what it found.
      if let first = known { return first }
      known = data
      return data
    }
  }

  /// Whether it is that data. What cannot be read is not.
  func holds(_ data: Bytes) -> Bool {
    if known.withLock({ $0 }) == nil, source.size(of: self) != data.count { return false }
    return (try? self.data()) == data
  }

  /// Two files may have the same contents.
  func isSame(as other: ExternalValue) -> Bool {
    if self === other { return true }
    if let file, file == other.file { return true }
    guard let data = try? other.data() else { return false }
    return holds(data)
  }
}

/// The name of a file that holds one value: a UUID.
struct ExternalFile: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64

  static let nameLength = 36

  static func random() -> ExternalFile {
    var generator = SystemRandomNumberGenerator()
    let high: UInt64 = generator.next(), low: UInt64 = generator.next()
    // Version 4, and the variant of RFC 4122.
    return ExternalFile(high: high & ~0xF000 | 0x4000, low: low & ~(3 << 62) | 1 << 63)
  }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// nil for everything but 36 characters in upper case. No other name leads out of the folder.
  init?(_ name: some Collection<UInt8>) {
    guard name.count == ExternalFile.nameLength else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    for (place, character) in name.enumerated() {
      if [8, 13, 18, 23].contains(place) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
      default: return nil
      }
      if place < 18 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
    }
    self.init(high: words.0, low: words.1)
  }

  var name: String {
    let digits = [high, low].map { word in
      let digits = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
    var name = "", start = digits.startIndex
    for (index, length) in [8, 4, 4, 4, 12].enumerated() {
      let end = digits.index(start, offsetBy: length)
      name += (index == 0 ? "" : "-") + digits[start..<end]
      start = end
    }
    return name
  }
}

/// What reads files of values.
protocol ExternalSource: AnyObject, Sendable {
  func data(of value: ExternalValue) throws(Failure) -> Bytes
  /// nil where there is no such file.
  func size(of value: ExternalValue) -> Int?
}

extension Value {
  /// The value itself, or the data of the file that it lies in.
  @inline(__always)
  func inPlace() throws(Failure) -> Value {
    if case .external(let value) = self { return .data(try value.data()) }
    return self
  }
}
