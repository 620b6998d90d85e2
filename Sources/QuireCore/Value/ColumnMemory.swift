import Glibc

/// Memory of a column: it grows while values are put behind each other, and then stays where it is.
final class ColumnMemory: @unchecked Sendable {
  private(set) var start: UnsafeMutableRawPointer
  /// Bytes that are written.
  private(set) var count = 0
  private(set) var capacity: Int

  init(capacity: Int) {
    // Never empty, so that there is always an address to lend; aligned for anything that Arrow has.
    self.capacity = max(capacity, 16)
    start = malloc(self.capacity)!
  }

  deinit { free(start) }

  @inline(__always)
  func append<T: BitwiseCopyable>(_ value: T) {
    let size = MemoryLayout<T>.size
    if count + size > capacity { grow(to: count + size) }
    (start + count).storeBytes(of: value, as: T.self)
    count += size
  }

  @inline(__always)
  func append(bytes source: UnsafeRawBufferPointer) {
    guard let base = source.baseAddress, source.count > 0 else { return }
    if count + source.count > capacity { grow(to: count + source.count) }
    memcpy(start + count, base, source.count)
    count += source.count
  }

  func append(repeating byte: UInt8, count repeated: Int) {
    if count + repeated > capacity { grow(to: count + repeated) }
    memset(start + count, Int32(byte), repeated)
    count += repeated
  }

  /// Sets a bit of the last byte.
  @inline(__always)
  func setInLastByte(bit: Int) { start.assumingMemoryBound(to: UInt8.self)[count - 1] |= 1 << UInt8(bit) }

  @inline(never)
  private func grow(to needed: Int) {
    capacity = max(needed, capacity * 2)
    start = realloc(start, capacity)!
  }

  func bound<T>(to type: T.Type) -> UnsafePointer<T> { UnsafePointer(start.assumingMemoryBound(to: type)) }
}
