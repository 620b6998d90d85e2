import Glibc

/// The files that migrations of this process are changing, each with its thread.
///
/// A callback of the migration that opened the file, or migrated it, would wait for its own transaction to end.
enum MigratedFiles {
  private static let all = Guarded<[(file: FileIdentity, thread: UInt)]>([])

  /// Runs `body`, which changes the file on this thread.
  static func during<Result>(_ path: Text, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    guard let file = FileIdentity(of: path.string) else { return try body() }
    let thread = UInt(pthread_self())
    all.withLock { $0.append((file, thread)) }
    defer {
      all.withLock { all in
        if let place = all.firstIndex(where: { $0.file == file && $0.thread == thread }) { all.remove(at: place) }
      }
    }
    return try body()
  }

  /// Refuses a file that this thread is in the midst of migrating.
  static func checkIsNone(_ path: Text, _ what: String) throws(Failure) {
    if all.withLock({ $0.isEmpty }) { return }
    guard let file = FileIdentity(of: path.string) else { return }
    let thread = UInt(pthread_self())
    if all.withLock({ $0.contains { $0.file == file && $0.thread == thread } }) {
      throw Failure(
        .invalidState,
        "The store '\(path)' cannot be \(what): this is a callback of its migration. Use the context that the callback "
          + "was given.")
    }
  }
}
