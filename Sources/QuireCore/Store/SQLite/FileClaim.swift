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

  /// All claims. The mutex covers no call of the system: one opening may take long, and the others go on meanwhile.
  private final class Register: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let openingsEnd = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var entries: [Entry] = []
    /// Paths of files that this process is opening.
    private var openings: [(path: String, owner: ObjectIdentifier)] = []

    init() {
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(openingsEnd, nil)
      pthread_atfork(
        { FileClaim.register.prepareFork() }, { FileClaim.register.endFork() }, { FileClaim.register.endForkInChild() })
    }

    /// No fork happens in the midst of an opening: the child would inherit what SQLite has half done, and a file
    /// without an entry. An opening that begins while a fork waits does not wait for it.
    private func prepareFork() {
      pthread_mutex_lock(mutex)
      while !openings.isEmpty { pthread_cond_wait(openingsEnd, mutex) }
    }

    private func endFork() { pthread_mutex_unlock(mutex) }

    private func endForkInChild() {
      // Other threads of the parent may have waited for it, and are not here.
      pthread_cond_init(openingsEnd, nil)
      pthread_mutex_unlock(mutex)
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body()
    }

    func beginOpening(_ path: String, for owner: ObjectIdentifier) { withLock { openings.append((path, owner)) } }

    /// `entry` is nil where there is no file.
    func endOpening(for owner: ObjectIdentifier, _ entry: Entry?) {
      withLock {
        openings.removeAll { $0.owner == owner }
        if let entry { entries.append(entry) }
        if openings.isEmpty { pthread_cond_broadcast(openingsEnd) }
      }
    }

    func remove(_ owner: ObjectIdentifier) {
      withLock { entries.removeAll { $0.owner == owner && $0.mark.isHere } }
    }

    /// How many claims of this process a file has. What an opening makes counts from the moment that it is there.
    func count(of file: FileIdentity) -> Int {
      let (count, paths) = withLock {
        (entries.count { $0.mark.isHere && $0.file == file }, openings.map(\.path))
      }
      return count + paths.count { FileIdentity(of: $0) == file }
    }

    func isInherited(_ file: FileIdentity) -> Bool {
      withLock { entries.contains { !$0.mark.isHere && $0.file == file } }
    }
  }

  private static let register = Register()
  private let mark = ProcessMark()

  private init() {}

  /// Runs `open`, which opens the file at `path` or makes it, and claims that file until the result goes. A file that
  /// `open` makes is claimed from the moment that it is there.
  static func opening<Result>(_ path: Text, _ open: () -> Result) -> (Result, FileClaim) {
    let claim = FileClaim(), owner = ObjectIdentifier(claim), path = path.string
    if path == ":memory:" { return (open(), claim) }
    register.beginOpening(path, for: owner)
    let result = open()
    register.endOpening(
      for: owner, FileIdentity(of: path).map { Entry(file: $0, mark: claim.mark, owner: owner) })
    return (result, claim)
  }

  deinit { if mark.isHere { FileClaim.register.remove(ObjectIdentifier(self)) } }

  /// Whether this process has a connection to the file at `path`, be it a store already or not.
  static func isClaimed(_ path: Text) -> Bool {
    FileIdentity(of: path.string).map { register.count(of: $0) > 0 } ?? false
  }

  /// Whether this process has several connections to the file at `path`, be they stores already or not.
  static func isShared(_ path: Text) -> Bool {
    FileIdentity(of: path.string).map { register.count(of: $0) > 1 } ?? false
  }

  /// Refuses a file that the process from which this one was forked had open at that moment.
  static func checkNotInherited(_ path: Text) throws(Failure) {
    guard path.string != ":memory:", let file = FileIdentity(of: path.string) else { return }
    if register.isInherited(file) {
      throw Failure(
        .cannotOpen,
        "'\(path)' was open when this process was forked, and SQLite takes the locks of the other process for its own: "
          + "what is saved here could be lost. Close the store before the fork, or start the process anew with exec.")
    }
  }
}
