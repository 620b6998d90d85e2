import Glibc
import Testing

@testable import QuireCore

/// A thread of its own: it may wait for something without keeping other tests from running.
struct OtherThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    /// What the system tells of the thread; nil until it has begun.
    let folder = Guarded<String?>(nil)

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func run() {
      folder.withLock { $0 = OtherThread.folderOfThisThread() }
      body()
    }
  }

  private let thread: pthread_t
  private let work: Work

  init(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    work = Work(body)
    pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, Unmanaged.passRetained(work).toOpaque())
    self.thread = thread
  }

  /// Waits for its end.
  func join() { pthread_join(thread, nil) }

  /// Waits until it sleeps or waits for a lock.
  func waitUntilAsleep(_ location: SourceLocation = #_sourceLocation) {
    OtherThread.wait(location) { work.folder.withLock { $0 }.map(OtherThread.isAsleep) ?? false }
  }

  /// Waits until that is so, which other threads bring about. What has not happened after two minutes never does.
  static func wait<Problem>(
    _ location: SourceLocation = #_sourceLocation, until isSo: () throws(Problem) -> Bool
  ) throws(Problem) {
    let end = ContinuousClock.now + .seconds(120)
    while try !isSo() {
      if ContinuousClock.now > end {
        Issue.record("It has not happened within two minutes.", sourceLocation: location)
        return
      }
      // The others need the processors more.
      usleep(500)
    }
  }

  /// Where the system tells of the running thread.
  static func folderOfThisThread() -> String {
    var name = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &name, name.count)
    return "/proc/" + String(decoding: name.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether the thread of that folder sleeps or waits for a lock.
  static func isAsleep(_ folder: String) -> Bool {
    let file = open("\(folder)/stat", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = read(file, &bytes, bytes.count)
    // It stands behind the name, which is in parentheses.
    guard let end = bytes.prefix(max(count, 0)).lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return false }
    return bytes[end + 2] == UInt8(ascii: "S")
  }
}
