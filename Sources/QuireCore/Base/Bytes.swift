import Glibc

/// An immutable run of bytes at a fixed address, ended by a NUL that is not counted.
///
/// The address holds for the life of the buffer, so the ABI can lend it to a caller. A Swift `String` of fifteen bytes
/// or fewer lives inline and has no address to lend.
struct Bytes: @unchecked Sendable {
  /// One allocation: the count, then the bytes.
  private final class Storage: ManagedBuffer<Int, UInt8> {}

  private let storage: ManagedBuffer<Int, UInt8>

  /// Allocates `count` bytes and lets `body` fill every one of them.
  init(count: Int, fill body: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
    storage = Storage.create(minimumCapacity: count + 1) { _ in count }
    storage.withUnsafeMutablePointerToElements { memory in
      body(UnsafeMutableBufferPointer(start: memory, count: count))
      memory[count] = 0
    }
  }

  init(_ source: UnsafeBufferPointer<UInt8>) {
    self.init(count: source.count) { target in
      if let base = source.baseAddress, source.count > 0 {
        memcpy(target.baseAddress!, base, source.count)
      }
    }
  }

  init(_ source: some Collection<UInt8>) {
    let array = ContiguousArray(source)
    self = array.withUnsafeBufferPointer { Bytes($0) }
  }

  /// Holds as long as a copy of these bytes does.
  var start: UnsafePointer<UInt8> { storage.withUnsafeMutablePointerToElements { UnsafePointer($0) } }
  var count: Int { storage.header }

  var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

  /// Orders by the bytes, shorter first among equals: the order of SQLite's BINARY collation and of BLOBs.
  static func order(_ left: Bytes, _ right: Bytes) -> Int {
    let shared = memcmp(left.start, right.start, min(left.count, right.count))
    return shared != 0 ? Int(shared) : left.count - right.count
  }
}

extension Bytes: Hashable {
  static func == (left: Bytes, right: Bytes) -> Bool {
    left.storage === right.storage
      || (left.count == right.count && memcmp(left.start, right.start, left.count) == 0)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(bytes: UnsafeRawBufferPointer(buffer)) }
}
