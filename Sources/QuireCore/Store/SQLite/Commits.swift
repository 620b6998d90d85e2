import Glibc
import Synchronization

/// Files what commits have changed, under their numbers. Called in their order, one at a time.
protocol CommitFiler: AnyObject, Sendable {
  /// Files the commit of the store itself that was announced. Returns whether there was anything to file: some commits
  /// change nothing that contexts read.
  func file(_ number: Int64) -> Bool

  /// Files what other programs have committed since the newest state that was filed. `connection` shows the one that
  /// follows. `commitCount` is how many commits they are; nil where SQLite does not say it.
  func fileOthers(_ number: Int64, on connection: Connection?, commitCount: Int?) -> Bool

  /// The store has written all of a transaction, and commits it next.
  func announce(on connection: Connection?)

  /// The commit that was announced was made, or has failed.
  func endAnnouncement(isMade: Bool)
}

/// The commits of an open store's file, numbered in their order: those of the store, and those of other programs as
/// they are noticed.
///
/// SQLite counts all commits of a file. That count tells of which commit a state is. Of a commit of the store itself
/// the count becomes visible a little before its changes are filed, and what finds it then waits for that. Any thread.
final class Commits: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let isFiled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let newestNumber = Atomic<Int64>(0)
  private let newestCount = Atomic<UInt32>(0)
  private let othersNumber = Atomic<Int64>(0)
  private let changeNumber = Atomic<Int64>(0)
  // Under the mutex.
  /// SQLite's count for the commit that is being made.
  private var announced: UInt32?
  /// The states behind the last commits, newest last.
  private var known: [(count: UInt32, state: MomentState)] = []
  private var filer: (any CommitFiler)?

  private static let mostKnown = 64

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(isFiled, nil)
  }

  deinit {
    pthread_cond_destroy(isFiled)
    isFiled.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Begins with the state that the file has now.
  func start(at count: UInt32?, _ filer: any CommitFiler) {
    self.filer = filer
    note(count ?? 0, MomentState(commit: 0, changes: 0))
  }

  /// The number of the newest commit that was filed.
  var newest: Int64 { newestNumber.load(ordering: .acquiring) }

  /// The number of the newest commit that was filed in inboxes. What contains it lacks nothing.
  var newestChange: Int64 { changeNumber.load(ordering: .acquiring) }

  /// What the newest state that was filed contains.
  var newestState: MomentState { withLock { known.last?.state ?? MomentState(commit: 0, changes: 0) } }

  /// The number of the newest commit of another program that was noticed; 0 for none.
  var newestOfOthers: Int64 { othersNumber.load(ordering: .acquiring) }

  /// SQLite's count for the newest commit that was filed.
  var count: UInt32 { newestCount.load(ordering: .acquiring) }

  /// Whether SQLite counts a commit that was not filed yet.
  func hasNews(at count: UInt32?) -> Bool { count.map { $0 != newestCount.load(ordering: .acquiring) } ?? false }

  // MARK: For what writes, under the lock of the file

  /// The file is locked for writing, and nothing is written yet.
  func noteOthers(_ count: UInt32?, on connection: Connection?) {
    guard let count else { return }
    withLock {
      if count != newestCount.load(ordering: .relaxed) { fileOthers(count, on: connection) }
    }
  }

  /// Other programs have written a file of whose commits SQLite keeps no count.
  func noteOthersUncounted(on connection: Connection?) {
    withLock { fileOthers(newestCount.load(ordering: .relaxed), isCounted: false, on: connection) }
  }

  /// A commit is about to be made. `count` is that of the commit before it.
  func announce(_ count: UInt32?, on connection: Connection?) {
    withLock {
      announced = count.map { $0 &+ 1 }
      filer?.announce(on: connection)
    }
  }

  /// It was made. Where nothing was written there is no commit.
  func file(hasWritten: Bool) {
    withLock {
      if hasWritten { file(announced ?? newestCount.load(ordering: .relaxed)) { filer?.file($0) } }
      endAnnouncement(isMade: true)
    }
  }

  /// It failed.
  func withdraw() { withLock { endAnnouncement(isMade: false) } }

  private func endAnnouncement(isMade: Bool) {
    filer?.endAnnouncement(isMade: isMade)
    announced = nil
    pthread_cond_broadcast(isFiled)
  }

  // MARK: For what reads

  /// What the state contains that has that count, and that `connection` shows. nil where it is not known any more, so
  /// that a newer state is to be taken.
  ///
  /// A state that has commits of other programs which were not noticed before has them filed. `former` is the newest
  /// count from before the state was taken.
  func state(
    at count: UInt32?, on connection: Connection?, after former: UInt32? = nil, isLastTry: Bool = false
  ) -> MomentState? {
    guard let count else { return newestState }
    return withLock {
      // A state is not older than what was known before it. SQLite has begun to count anew.
      if let former, Int32(bitPattern: count &- former) < 0, known.last?.count == former {
        fileOthers(count, isCounted: false, on: connection)
        known.removeFirst(known.count - 1)
      }
      while true {
        if let entry = known.last(where: { $0.count == count }) { return entry.state }
        if count == announced {
          // Of the store itself: what it has changed is about to be filed.
          pthread_cond_wait(isFiled, mutex)
          continue
        }
        let isOlder = Int32(bitPattern: count &- newestCount.load(ordering: .relaxed)) <= 0
        // SQLite begins to count anew when it has to make the index of the log anew.
        if isOlder, !isLastTry { return nil }
        fileOthers(count, isCounted: !isOlder, on: connection)
      }
    }
  }

  /// Commits of other programs in a row count as one. With `isCounted` SQLite says how many they are.
  private func fileOthers(_ count: UInt32, isCounted: Bool = true, on connection: Connection?) {
    let commitCount = Int(Int32(bitPattern: count &- newestCount.load(ordering: .relaxed)))
    file(count) { number in
      filer?.fileOthers(number, on: connection, commitCount: isCounted && commitCount > 0 ? commitCount : nil)
    }
    othersNumber.store(newest, ordering: .releasing)
  }

  private func file(_ count: UInt32, _ filing: (Int64) -> Bool?) {
    let number = newestNumber.load(ordering: .relaxed) + 1
    var changes = known.last?.state.changes ?? 0
    if filing(number) == true {
      changeNumber.store(number, ordering: .releasing)
      changes += 1
    }
    note(count, MomentState(commit: number, changes: changes))
  }

  private func note(_ count: UInt32, _ state: MomentState) {
    if known.count >= Commits.mostKnown { known.removeFirst(Commits.mostKnown / 2) }
    known.append((count, state))
    newestCount.store(count, ordering: .releasing)
    newestNumber.store(state.commit, ordering: .releasing)
  }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
