/// A number at a fixed address, so that a caller can watch it without a call.
final class Counter: @unchecked Sendable {
  let address: UnsafePointer<UInt64>

  init() {
    let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    memory.initialize(to: 0)
    address = UnsafePointer(memory)
  }

  deinit { UnsafeMutablePointer(mutating: address).deallocate() }

  var value: UInt64 { address.pointee }

  func increment() { UnsafeMutablePointer(mutating: address).pointee &+= 1 }
}
