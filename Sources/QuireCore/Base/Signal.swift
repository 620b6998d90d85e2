import CQuireFormat
import CRuntime
import Glibc

/// A descriptor that polls readable while there is something to do: what every event loop can wait for. Any thread.
final class Signal: Sendable {
  /// For the program. It polls readable with each of several descriptors, of which `own` is the first.
  let descriptor: Int32
  /// The same under a number that the program never sees. Should it close `descriptor` by mistake, nothing is done to
  /// whatever has that number next.
  private let poll: Int32
  private let own: Int32

  /// nil when the process has too many descriptors.
  init?() {
    own = quire_make_event()
    poll = own < 0 ? -1 : quire_poll_make(own)
    descriptor = poll < 0 ? -1 : fcntl(poll, F_DUPFD_CLOEXEC, 0)
    if descriptor >= 0 { return }
    for made in [own, poll] where made >= 0 { _ = Glibc.close(made) }
    return nil
  }

  deinit {
    if quire_poll_has(descriptor, own) { _ = Glibc.close(descriptor) }
    _ = Glibc.close(poll)
    _ = Glibc.close(own)
  }

  /// From now on `descriptor` polls readable with `other`, too, until that is closed. False where the system has no
  /// room for that.
  func add(_ other: Int32) -> Bool { quire_poll_add(poll, other) }

  func raise() {
    var one: UInt64 = 1
    _ = write(own, &one, MemoryLayout<UInt64>.size)
  }

  func lower() {
    var count: UInt64 = 0
    _ = read(own, &count, MemoryLayout<UInt64>.size)
  }
}
