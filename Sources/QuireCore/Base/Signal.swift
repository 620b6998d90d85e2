import CRuntime
import Glibc

/// A descriptor that polls readable while there is something to do: what every event loop can wait for. Any thread.
final class Signal: Sendable {
  /// For the program.
  let descriptor: Int32
  /// The same counter under a number that the program never sees. Should it close `descriptor` by mistake, nothing is
  /// written to whatever has that number next.
  private let own: Int32

  /// nil when the process has too many descriptors.
  init?() {
    own = quire_make_event()
    if own < 0 { return nil }
    descriptor = fcntl(own, F_DUPFD_CLOEXEC, 0)
    if descriptor < 0 {
      _ = Glibc.close(own)
      return nil
    }
  }

  deinit {
    if isStillThere { _ = Glibc.close(descriptor) }
    _ = Glibc.close(own)
  }

  func raise() {
    var one: UInt64 = 1
    _ = write(own, &one, MemoryLayout<UInt64>.size)
  }

  func lower() {
    var count: UInt64 = 0
    _ = read(own, &count, MemoryLayout<UInt64>.size)
  }

  /// Whether `descriptor` is still the one that was made here: then it shows what is done to the counter.
  private var isStillThere: Bool {
    raise()
    let showsRaising = isReadable
    lower()
    return showsRaising && !isReadable
  }

  private var isReadable: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) == 1 && waiting.revents == Int16(POLLIN)
  }
}
