public typealias Destroy = (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

/// A pointer that a program has given to something of a context. It calls `destroy` when it goes.
final class UserData {
  let pointer: UnsafeMutableRawPointer?
  private let destroy: Destroy
  private let confinement: Confinement

  init(_ pointer: UnsafeMutableRawPointer?, _ destroy: Destroy, in confinement: Confinement) {
    self.pointer = pointer
    self.destroy = destroy
    self.confinement = confinement
  }

  deinit {
    guard let destroy else { return }
    confinement.asProgram { [pointer] in destroy(pointer) }
  }
}
