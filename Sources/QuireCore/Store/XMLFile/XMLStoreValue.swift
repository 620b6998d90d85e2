import Glibc

/// How values of attributes are spelled in an XML store.
enum XMLStoreValue {
  /// `value` is that of a stored attribute, and not nil.
  static func append(_ value: Value, to output: inout ContiguousArray<UInt8>) throws(Failure) {
    switch value {
    case .nil: break
    case .integer(let integer): output.append(contentsOf: "\(integer)".utf8)
    case .boolean(let flag): output.append(UInt8(ascii: flag ? "1" : "0"))
    case .double(let double): output.append(contentsOf: "\(double)".utf8)
    case .float(let float): output.append(contentsOf: "\(float)".utf8)
    case .decimal(let decimal): output.append(contentsOf: decimal.description.utf8)
    case .text(let text), .uri(let text): XMLStoreText.append(text, to: &output)
    case .date(let seconds): output.append(contentsOf: date(seconds).utf8)
    case .data(let data): appendBase64(data, to: &output)
    case .external(let external): appendBase64(try external.data(), to: &output)
    case .uuid(let bytes): output.append(contentsOf: uuid(bytes).utf8)
    case .object, .list:
      throw Failure(.invalidState, "An attribute holds \(value.kindName), which no XML store has.")
    }
  }

  /// nil where the text spells no value of the type. `text` has the references of XML resolved.
  static func value(_ text: UnsafeBufferPointer<UInt8>, as type: AttributeType) -> Value? {
    switch type {
    case .integer16: return Int16(trimmed(text)).map { .integer(Int64($0)) }
    case .integer32: return Int32(trimmed(text)).map { .integer(Int64($0)) }
    case .integer64: return Int64(trimmed(text)).map { .integer($0) }
    case .boolean:
      switch trimmed(text) {
      case "1", "YES", "true": return .boolean(true)
      case "0", "NO", "false": return .boolean(false)
      default: return nil
      }
    case .double: return number(text).map { .double($0) }
    case .float: return number(text).map { .float(Float($0)) }
    case .date: return number(text).map { .date($0) }
    case .decimal:
      let written = trimmed(text)
      return (Decimal(written.utf8) ?? Double(written).flatMap { Decimal($0) }).map { .decimal($0.stored) }
    case .string: return .text(Text(trusted: XMLStoreText.decoded(text)))
    case .uri: return .uri(Text(trusted: XMLStoreText.decoded(text)))
    case .binary, .transformable: return base64(text).map { .data($0) }
    case .uuid: return uuid(trimmed(text)).map { .uuid($0) }
    case .undefined, .composite: return nil
    }
  }

  /// nil for NaN, too, which no store has.
  private static func number(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    let written = trimmed(text)
    guard let number = Double(written), !number.isNaN else { return nil }
    return number == 0 ? 0 : number
  }

  private static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> String {
    var rest = Slice(base: text, bounds: text.indices)
    while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
    while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
    return String(decoding: rest, as: UTF8.self)
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  // MARK: Dates

  /// With twenty decimals, as Core Data writes them, unless these say less than the number.
  private static func date(_ seconds: Double) -> String {
    if !seconds.isFinite { return "\(seconds)" }
    let written = formatted("%.20f", seconds)
    return Double(written) == seconds ? written : "\(seconds)"
  }

  private static func formatted(_ format: String, _ number: Double) -> String {
    var buffer = [CChar](repeating: 0, count: 352)
    let count = withVaList([number]) { vsnprintf(&buffer, buffer.count, format, $0) }
    let bytes = buffer.prefix(max(0, min(Int(count), buffer.count - 1))).map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: UUIDs

  private static let uuidDashes = [8, 13, 18, 23]

  private static func uuid(_ bytes: Bytes) -> String {
    defer { withExtendedLifetime(bytes) {} }
    var text = ""
    for byte in bytes.buffer {
      if uuidDashes.contains(text.utf8.count) { text += "-" }
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return text
  }

  private static func uuid(_ text: String) -> Bytes? {
    guard ObjectURI.isUUID(text.utf8) else { return nil }
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
    return Bytes(
      stride(from: 0, to: digits.count, by: 2).map { place in
        UInt8(String(decoding: digits[place...(place + 1)], as: UTF8.self), radix: 16) ?? 0
      })
  }

  // MARK: Data

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// The six bits of each character, and 255 for others.
  private static let sextets: [UInt8] = {
    var sextets = [UInt8](repeating: 255, count: 256)
    for (value, character) in alphabet.enumerated() { sextets[Int(character)] = UInt8(value) }
    return sextets
  }()

  @_optimize(speed)
  private static func appendBase64(_ bytes: Bytes, to output: inout ContiguousArray<UInt8>) {
    defer { withExtendedLifetime(bytes) {} }
    let data = bytes.buffer
    output.reserveCapacity(output.count + (data.count + 2) / 3 * 4)
    var place = 0
    while place < data.count {
      let count = min(3, data.count - place)
      var bits = UInt32(data[place]) << 16
      if count > 1 { bits |= UInt32(data[place + 1]) << 8 }
      if count > 2 { bits |= UInt32(data[place + 2]) }
      output.append(alphabet[Int(bits >> 18 & 63)])
      output.append(alphabet[Int(bits >> 12 & 63)])
      output.append(count > 1 ? alphabet[Int(bits >> 6 & 63)] : UInt8(ascii: "="))
      output.append(count > 2 ? alphabet[Int(bits & 63)] : UInt8(ascii: "="))
      place += 3
    }
  }

  /// White space is passed over, and what fills the last group may be missing.
  @_optimize(speed)
  private static func base64(_ text: UnsafeBufferPointer<UInt8>) -> Bytes? {
    var output: ContiguousArray<UInt8> = []
    output.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0, count = 0, hasEnded = false
    for byte in text {
      if isSpace(byte) { continue }
      if byte == UInt8(ascii: "=") {
        hasEnded = true
        continue
      }
      let value = sextets[Int(byte)]
      if value == 255 || hasEnded { return nil }
      bits = bits << 6 | UInt32(value)
      count += 1
      if count == 4 {
        output.append(UInt8(truncatingIfNeeded: bits >> 16))
        output.append(UInt8(truncatingIfNeeded: bits >> 8))
        output.append(UInt8(truncatingIfNeeded: bits))
        (bits, count) = (0, 0)
      }
    }
    switch count {
    case 0: break
    case 2: output.append(UInt8(truncatingIfNeeded: bits >> 4))
    case 3:
      output.append(UInt8(truncatingIfNeeded: bits >> 10))
      output.append(UInt8(truncatingIfNeeded: bits >> 2))
    default: return nil
    }
    return Bytes(output)
  }
}
