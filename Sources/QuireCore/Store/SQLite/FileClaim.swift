import Glibc

/// A file that this process has open, noted so that a forked process does not open it again.
///
/// SQLite keeps its locks by device and inode for the whole process. After a fork the child finds locks there that it
/// does not have, and takes them for its own. It then writes to a log that other processes believe to be abandoned.
final class FileClaim: Sendable {
  private struct Entry {
    let file: FileIdentity
    let mark: ProcessMark
    let owner: ObjectIdentifier
  }

  private final class Entries: @unchecked Sendable {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var entries: [Entry] = []

    init() {
      pthread_mutex_init(mutex, nil)
      // No fork happens in the midst of a change.
      pthread_atfork(
        { pthread_mutex_lock(FileClaim.entries.mutex) }, { pthread_mutex_unlock(FileClaim.entries.mutex) },
        { pthread_mutex_unlock(FileClaim.entries.mutex) })
    }

    func with<Result>(_ body: (inout [Entry]) -> Result) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body(&entries)
    }
  }

  private static let entries = Entries()
  private let mark = ProcessMark()

  private init() {}

  /// Runs `open`, which opens the file at `path` or makes it, and claims that file until the result goes. A file that
  /// `open` makes is claimed from the moment that it is there.
  static func opening<Result>(_ path: Text, _ open: () -> Result) -> (Result, FileClaim) {
    let claim = FileClaim()
    if path.string == ":memory:" { return (open(), claim) }
    let result = entries.with { entries in
      let result = open()
      if let file = FileIdentity(of: path.string) {
        entries.append(Entry(file: file, mark: claim.mark, owner: ObjectIdentifier(claim)))
      }
      return result
    }
    return (result, claim)
  }

  deinit {
    if !mark.isHere { return }
    let owner = ObjectIdentifier(self)
    FileClaim.entries.with { $0.removeAll { $0.owner == owner && $0.mark.isHere } }
  }

  /// Whether this process has a connection to the file at `path`, be it a store already or not.
  static func isClaimed(_ path: Text) -> Bool {
    guard let file = FileIdentity(of: path.string) else { return false }
    return entries.with { $0.contains { $0.mark.isHere && $0.file == file } }
  }

  /// Whether this process has several connections to the file at `path`, be they stores already or not.
  static func isShared(_ path: Text) -> Bool {
    guard let file = FileIdentity(of: path.string) else { return false }
    return entries.with { $0.filter { $0.mark.isHere && $0.file == file }.count > 1 }
  }

  /// Refuses a file that the process from which this one was forked had open at that moment.
  static func checkNotInherited(_ path: Text) throws(Failure) {
    guard path.string != ":memory:", let file = FileIdentity(of: path.string) else { return }
    if entries.with({ $0.contains { !$0.mark.isHere && $0.file == file } }) {
      throw Failure(
        .cannotOpen,
        "'\(path)' was open when this process was forked, and SQLite takes the locks of the other process for its own: "
          + "what is saved here could be lost. Close the store before the fork, or start the process anew with exec.")
    }
  }
}
