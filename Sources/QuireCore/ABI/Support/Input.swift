import CQuire
import Glibc

/// QUIRE_NUL, as the size of a text.
var endsWithNUL: Int { Int(QUIRE_NUL) }

/// The bytes of a text argument, measured if need be.
func bytes(_ text: CText, _ size: Int, _ name: InputName) throws(Failure) -> UnsafeBufferPointer<UInt8> {
  let isMeasured = size == endsWithNUL
  guard let text else {
    if size == 0 { return UnsafeBufferPointer(start: nil, count: 0) }
    throw Failure(.invalidArgument, "'\(name)' is NULL; text is needed.")
  }
  // Sizes beyond half of the address space are negative here.
  if !isMeasured, !(0..<endsWithNUL).contains(size) {
    throw Failure(
      .invalidArgument,
      "The size of '\(name)' is \(UInt(bitPattern: size)), more than a text can have. "
        + "Use QUIRE_NUL for text that ends with NUL.")
  }
  let count = isMeasured ? strlen(text) : size
  return UnsafeRawBufferPointer(start: text, count: count).bindMemory(to: UInt8.self)
}

/// A text argument as text of the library's own. Invalid UTF-8 is refused, not repaired.
func text(_ text: CText, _ size: Int, _ name: InputName) throws(Failure) -> Text {
  let bytes = try bytes(text, size, name)
  try Memory.require(bytes.count, for: "the text of '\(name)'")
  if let text = Text(validating: bytes) { return text }
  throw invalidText(bytes, name)
}

/// The same as a string, which for names of usual length takes no memory.
func string(_ pointer: CText, _ size: Int, _ name: InputName) throws(Failure) -> String {
  let bytes = try bytes(pointer, size, name)
  if let string = String(validating: bytes, as: UTF8.self) { return string }
  throw invalidText(bytes, name)
}

/// The names in the argument `key_path`.
func keyPath(_ pointer: CText, _ size: Int) throws(Failure) -> [String] {
  try FetchRequest.split(keyPath: string(pointer, size, "key_path"))
}

/// Passes on why a callback failed. That it did does not get lost for the sake of how it is put.
func failureReason(
  _ pointer: CText, _ size: Int, _ fail: (String) throws(Failure) -> Void
) throws(Failure) {
  let reason: String
  do throws(Failure) { reason = try string(pointer, size, "reason") } catch {
    try? fail("it gave a reason that is no text.")
    throw error
  }
  try fail(reason)
}

/// More than this are found faster by their hashes.
private let mostInTurn = 24

extension Model {
  /// The entity that a text argument names.
  func entity(_ entity: CText, _ size: Int, _ name: InputName) throws(Failure) -> Entity {
    let bytes = try bytes(entity, size, name)
    if entities.count <= mostInTurn, let known = entities.first(where: { $0.nameText.bytes.isEqual(to: bytes) }) {
      return known
    }
    return try self.entity(named: string(entity, size, name))
  }
}

extension Entity {
  /// The property that a text argument names.
  func property(_ key: CText, _ size: Int, _ name: InputName) throws(Failure) -> Property {
    let bytes = try bytes(key, size, name)
    if properties.count <= mostInTurn, let known = properties.first(where: { $0.nameText.bytes.isEqual(to: bytes) }) {
      return known
    }
    return try property(named: string(key, size, name))
  }
}

extension Bytes {
  fileprivate func isEqual(to other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard count == other.count, let start = other.baseAddress else { return false }
    return memcmp(self.start, start, count) == 0
  }
}

private func invalidText(_ bytes: UnsafeBufferPointer<UInt8>, _ name: InputName) -> Failure {
  let offset = Text.firstInvalidOffset(in: bytes) ?? 0
  return Failure(.invalidText, "'\(name)' is not valid UTF-8 at byte \(offset).", offset: offset)
}

/// Optional text that ends with NUL, from an options struct.
func optionalString(_ pointer: CText, _ name: InputName) throws(Failure) -> String? {
  pointer == nil ? nil : try string(pointer, endsWithNUL, name)
}

/// The same as text of the library's own, empty for NULL.
func optionalText(_ pointer: CText, _ name: InputName) throws(Failure) -> Text {
  pointer == nil ? "" : try text(pointer, endsWithNUL, name)
}

/// A count of elements at `pointer`, which may be NULL when the count is zero.
func array<T>(
  _ pointer: UnsafePointer<T>?, _ count: Int, _ name: InputName
) throws(Failure) -> UnsafeBufferPointer<T> {
  if count == 0 { return UnsafeBufferPointer(start: nil, count: 0) }
  guard let pointer else {
    throw Failure(.invalidArgument, "'\(name)' is NULL but its count is \(UInt(bitPattern: count)).")
  }
  try checkCount(count, of: MemoryLayout<T>.stride, name)
  return UnsafeBufferPointer(start: pointer, count: count)
}

func array<T>(
  _ pointer: UnsafeMutablePointer<T>?, _ count: Int, _ name: InputName
) throws(Failure) -> UnsafeMutableBufferPointer<T> {
  UnsafeMutableBufferPointer(mutating: try array(UnsafePointer(pointer), count, name))
}

/// Far more than a machine has and far less than addresses reach, so that a wild size is refused before it is followed.
private let mostBytes = 1 << 40

private func checkCount(_ count: Int, of stride: Int, _ name: InputName) throws(Failure) {
  if count < 0 || count > mostBytes / max(stride, 1) {
    throw Failure(.invalidArgument, "The count of '\(name)' is \(UInt(bitPattern: count)), more than memory can hold.")
  }
}

/// Names that end with NUL.
func strings(
  _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ name: InputName
) throws(Failure) -> [String] {
  var strings: [String] = []
  for element in try array(pointer, count, name) { strings.append(try string(element, endsWithNUL, name)) }
  return strings
}

/// Rows `first` to `first + count` of `total`.
func range(_ first: Int64, _ count: Int64, of total: Int) throws(Failure) -> Range<Int> {
  let end = first.addingReportingOverflow(count)
  guard first >= 0, count >= 0, !end.overflow, end.partialValue <= Int64(total) else {
    throw Failure(
      .invalidArgument, "Rows \(first) to \(first) + \(count) are not all among the \(total) that there are.")
  }
  return Int(first)..<Int(end.partialValue)
}

/// An unsigned number from C that Swift counts with.
func number(_ value: UInt64, _ name: InputName) throws(Failure) -> Int {
  guard let number = Int(exactly: value) else {
    throw Failure(.invalidArgument, "'\(name)' is \(value), which is more than \(Int.max).")
  }
  return number
}

/// No version of any struct is longer.
let mostStructBytes = 4096

/// Members without a meaning yet, which would be ignored.
func checkReserved(_ reserved: UInt32, _ name: InputName) throws(Failure) {
  if reserved != 0 {
    throw Failure(
      .unsupported,
      "'reserved' of '\(name)' is \(reserved), and this version of the library knows no meaning of it. Leave it zero.")
  }
}

/// A struct of callbacks.
protocol DelegateStruct {
  init()
  var reserved: UInt32 { get }
}

extension quire_results_delegate: DelegateStruct {}
extension quire_composite_delegate: DelegateStruct {}

/// The callbacks of a delegate, or nil for NULL.
func callbacks<T: DelegateStruct & BitwiseCopyable>(_ delegate: UnsafePointer<T>?) throws(Failure) -> T? {
  if delegate == nil { return nil }
  let callbacks = try options(delegate, defaults: T(), "delegate")
  try checkReserved(callbacks.reserved, "delegate")
  return callbacks
}

/// An options or delegate struct of any version. Members that the caller's struct lacks are as in `defaults`. Members
/// that this library does not know must be zero, because it would ignore them.
func options<T: BitwiseCopyable>(_ pointer: UnsafePointer<T>?, defaults: T, _ name: InputName) throws(Failure) -> T {
  guard let pointer else { return defaults }
  let raw = UnsafeRawPointer(pointer)
  let size = Int(raw.load(as: UInt32.self)), known = MemoryLayout<T>.stride
  // Fields come whole, whatever version they came with; the size itself is the first one.
  let isWhole = size == MemoryLayout<UInt32>.size || size % MemoryLayout<T>.alignment == 0
  guard size >= MemoryLayout<UInt32>.size, size <= mostStructBytes, isWhole else {
    throw Failure(.invalidArgument, "'\(name)' has the struct_size \(size); initialise it with its _INIT macro.")
  }
  if size > known, (known..<size).contains(where: { raw.load(fromByteOffset: $0, as: UInt8.self) != 0 }) {
    throw Failure(
      .unsupported, "'\(name)' sets fields that this version of the library does not know. Use a newer library.")
  }
  var result = defaults
  withUnsafeMutableBytes(of: &result) {
    $0.copyMemory(from: UnsafeRawBufferPointer(start: raw, count: min(size, known)))
  }
  return result
}
