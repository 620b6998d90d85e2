import Glibc

/// Memory in pieces so large that there may be none. Swift ends the process when an allocation fails, so those are
/// asked for beforehand.
enum Memory {
  /// Less than that is not asked for: a process that lacks so little is at its end anyway.
  static let sure = 1 << 22

  /// Whether so many bytes are to be had in one piece.
  static func has(_ size: Int) -> Bool {
    size <= sure || isGiven(size)
  }

  /// Not optimized: a compiler takes memory that is freed at once for memory that need not be allocated.
  @inline(never) @_optimize(none)
  private static func isGiven(_ size: Int) -> Bool {
    guard let memory = malloc(size) else { return false }
    free(memory)
    return true
  }

  /// Fails when so many bytes are not to be had in one piece. `what` names what they are for.
  static func require(_ size: Int, for what: @autoclosure () -> String) throws(Failure) {
    if !has(size) { throw failure(size, for: what()) }
  }

  static func failure(_ size: Int, for what: String) -> Failure {
    Failure(
      .noMemory,
      "There is not enough memory for \(what), which would take \((size >> 20) + 1) MB. "
        + "Ask for less at a time, or free some and try again.")
  }

  /// As many bytes as so many elements take, or the most there can be.
  static func size<Element>(of count: Int, _ type: Element.Type) -> Int {
    let (size, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    return overflow || count < 0 ? Int.max >> 1 : size
  }
}

extension ContiguousArray {
  /// Whether one more element is sure to find room: an array that is full moves to twice the memory.
  var canGrow: Bool { count < capacity || Memory.has(Memory.size(of: count, Element.self) * 2) }
}
