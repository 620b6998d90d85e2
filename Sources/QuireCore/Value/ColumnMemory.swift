import Glibc

/// Memory of a column: it grows while values are put behind each other, and then stays where it is. Where there is no
/// more of it, what is there is overwritten, and `require` fails: so no value that is appended is asked about.
final class ColumnMemory: @unchecked Sendable {
  private(set) var start: UnsafeMutableRawPointer
  /// Bytes that are written.
  private(set) var count = 0
  private(set) var capacity: Int
  /// Bytes that were not to be had; 0 as long as all were.
  private(set) var missing = 0

  /// Never empty, so that there is always an address to lend; aligned for anything that Arrow has.
  private static let least = 16

  init(capacity: Int) {
    self.capacity = max(capacity, ColumnMemory.least)
    if let memory = malloc(self.capacity) {
      start = memory
    } else {
      missing = self.capacity
      self.capacity = ColumnMemory.least
      start = malloc(ColumnMemory.least)!
    }
  }

  deinit { free(start) }

  @inline(__always)
  func append<T: BitwiseCopyable>(_ value: T) {
    let size = MemoryLayout<T>.size
    if count + size > capacity { _ = grow(to: count + size) }
    (start + count).storeBytes(of: value, as: T.self)
    count += size
  }

  @inline(__always)
  func append(bytes source: UnsafeRawBufferPointer) {
    guard let base = source.baseAddress, source.count > 0 else { return }
    if count + source.count > capacity, !grow(to: count + source.count) { return }
    memcpy(start + count, base, source.count)
    count += source.count
  }

  func append(repeating byte: UInt8, count repeated: Int) {
    if count + repeated > capacity, !grow(to: count + repeated) { return }
    memset(start + count, Int32(byte), repeated)
    count += repeated
  }

  /// Sets a bit of the last byte.
  @inline(__always)
  func setInLastByte(bit: Int) { start.assumingMemoryBound(to: UInt8.self)[count - 1] |= 1 << UInt8(bit) }

  /// False without memory. It is empty then, so that a value of at most 16 bytes finds room.
  @inline(never)
  private func grow(to needed: Int) -> Bool {
    let wanted = max(needed, capacity * 2)
    guard let memory = realloc(start, wanted) else {
      missing = wanted
      count = 0
      return false
    }
    capacity = wanted
    start = memory
    return true
  }

  /// Fails when there was no memory for all that was appended, or is to be.
  func require(for what: @autoclosure () -> String) throws(Failure) {
    if missing > 0 { throw Memory.failure(missing, for: what()) }
  }

  func bound<T>(to type: T.Type) -> UnsafePointer<T> { UnsafePointer(start.assumingMemoryBound(to: type)) }
}
