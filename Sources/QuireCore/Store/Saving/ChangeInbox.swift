/// What works out beside a context what a merge will make of what is in its inbox.
protocol InboxReader: AnyObject, Sendable {
  /// Whether the program is to be told now: it is told later of what is still being worked out. Called with the lock of
  /// the inbox held. With `begins`, `begin` is called without it.
  func look(isEmpty: Bool, rowCount: Int) -> (isToTell: Bool, begins: Bool)

  func begin()
}

/// What others have saved since a context last took that over: for each row its end, not every step. Any thread.
final class ChangeInbox: Sendable {
  private enum Fate { case inserted, updated, deleted, returned }

  /// What one commit has changed.
  private struct Entry {
    let commit: Int64
    let changes: [StoreChange]

    var rowCount: Int { changes.reduce(0) { $0 + $1.rowCount } }
  }

  private struct Contents {
    var rows: [RowIdentifier: Fate] = [:]
    var membershipChanges: [ObjectIdentifier: (relationship: Relationship, owners: Set<RowIdentifier>)] = [:]
    var isUnknown = false
    var rootsWithoutOwners: Set<Int> = []
    /// The newest commit of those that are folded into the above.
    var foldedCommit: Int64 = 0
    /// Later commits, in order.
    private(set) var entries: [Entry] = []
    private var entryRowCount = 0
    /// Whether the context is about to take what came in up to a commit that it will name.
    var isBeingTaken = false
    /// Whether something is worked out of what came in up to a commit. Later commits are then kept apart, too.
    var isRead = false
    weak var reader: (any InboxReader)?
    /// Whether the reader is to begin once the lock is free.
    var beginsReader = false
    /// Made when it is first asked for.
    var signal: Signal?
    private var isRaised = false
    /// Whether there is nothing to take any more, as the store was closed.
    var isClosed = false
    /// Whether what is there could not be taken over, and will not be. Until something is taken.
    var isHopeless = false

    var isFoldedEmpty: Bool { rows.isEmpty && membershipChanges.isEmpty && !isUnknown }
    var isEmpty: Bool { entries.isEmpty && isFoldedEmpty }
    var rowCount: Int { rows.count + entryRowCount }

    mutating func dropFolded() {
      rows = [:]
      membershipChanges = [:]
      isUnknown = false
      rootsWithoutOwners = []
      isHopeless = false
      settleSignal()
    }

    /// Has the descriptor poll readable while there is something to take.
    mutating func settleSignal() {
      var isNews = !isEmpty
      if let reader {
        let (isToTell, begins) = reader.look(isEmpty: isEmpty, rowCount: rowCount)
        isNews = isToTell
        if begins { beginsReader = true }
      }
      if isHopeless { isNews = false }
      guard let signal, isNews != isRaised else { return }
      if isNews { signal.raise() } else { signal.lower() }
      isRaised = isNews
    }

    /// So many commits are kept apart.
    var mostEntries: Int { isBeingTaken ? .max : isRead ? ChangeInbox.mostReadEntries : ChangeInbox.mostEntries }

    /// What was folded, in the order of keys; nil when that is nothing.
    var foldedChange: StoreChange? {
      if isFoldedEmpty { return nil }
      var change = StoreChange()
      change.isUnknown = isUnknown
      change.rootsWithoutOwners = rootsWithoutOwners
      for (row, fate) in rows.sorted(by: { ($0.key.entity, $0.key.id) < ($1.key.entity, $1.key.id) }) {
        switch fate {
        case .inserted: change.inserted.append(row)
        case .updated: change.updated.append(row)
        case .deleted: change.deleted.append(row)
        case .returned:
          change.updated.append(row)
          change.returned.append(row)
        }
      }
      for (relationship, owners) in membershipChanges.values.sorted(by: {
        ($0.relationship.entity.number, $0.relationship.slot) < ($1.relationship.entity.number, $1.relationship.slot)
      }) {
        change.membershipChanges.append((relationship, owners.sorted { $0.id < $1.id }))
      }
      return change
    }

    mutating func fold(_ change: StoreChange) {
      if change.isUnknown { isUnknown = true }
      rootsWithoutOwners.formUnion(change.rootsWithoutOwners)
      // A row that came and then changed is a row that came, and one that came and went is a deleted one: the owner may
      // have been told of the first, as a child is.
      for row in change.inserted {
        switch rows[row] {
        case .deleted: rows[row] = .returned
        // A parent has changed it before it merged that others had inserted it.
        case .updated: break
        default: rows[row] = .inserted
        }
      }
      for row in change.updated {
        rows[row] = rows[row] == .deleted || rows[row] == .returned ? .returned : .updated
      }
      for row in change.returned { rows[row] = .returned }
      for row in change.deleted { rows[row] = .deleted }
      for (relationship, owners) in change.membershipChanges {
        membershipChanges[ObjectIdentifier(relationship), default: (relationship, [])].owners.formUnion(owners)
      }
    }

    mutating func append(_ entry: Entry) {
      entries.append(entry)
      entryRowCount += entry.rowCount
      if entries.count > mostEntries { fold(upTo: entry.commit) }
    }

    /// Folds what came in up to a commit.
    mutating func fold(upTo commit: Int64) {
      for entry in removeEntries(upTo: commit) { for change in entry.changes { fold(change) } }
    }

    @discardableResult
    mutating func removeEntries(upTo commit: Int64) -> ArraySlice<Entry> {
      let removed = entries[..<(entries.firstIndex { $0.commit > commit } ?? entries.count)]
      guard let last = removed.last else { return removed }
      foldedCommit = last.commit
      entryRowCount -= removed.reduce(0) { $0 + $1.rowCount }
      entries.removeFirst(removed.count)
      return removed
    }

    mutating func removeAll() {
      removeEntries(upTo: .max)
      dropFolded()
    }
  }

  private let contents = Guarded(Contents())
  /// So many commits are kept apart. A context that never merges has the end of each row, however many they are.
  private static let mostEntries = 64
  private static let mostReadEntries = 1 << 14

  var isEmpty: Bool { contents.withLock { $0.isEmpty } }

  /// Whether something came in up to a commit.
  func hasChanges(upTo commit: Int64) -> Bool {
    contents.withLock { contents in
      if let first = contents.entries.first, first.commit <= commit { return true }
      return !contents.isFoldedEmpty
    }
  }

  /// Files what a parent has changed.
  func post(_ change: StoreChange) {
    adding { $0.fold(change) }
  }

  /// Files what a commit has changed. Later commits come later.
  func post(_ changes: [StoreChange], of commit: Int64) {
    adding { contents in
      contents.append(Entry(commit: commit, changes: changes))
    }
  }

  private func adding(_ body: (inout Contents) -> Void) {
    changing { contents in
      if contents.isClosed { return }
      body(&contents)
      contents.settleSignal()
    }
  }

  /// Runs `body` under the lock, and then what settling the signal has come to.
  private func changing<Result>(_ body: (inout Contents) -> Result) -> Result {
    let (result, reader) = contents.withLock { contents in
      let result = body(&contents)
      defer { contents.beginsReader = false }
      return (result, contents.beginsReader ? contents.reader : nil)
    }
    reader?.begin()
    return result
  }

  /// From now on commits are kept apart, until `take` says up to which one.
  func prepareToTake() { contents.withLock { $0.isBeingTaken = true } }

  /// Nothing is to be taken now.
  func takeNothing() { contents.withLock { $0.isBeingTaken = false } }

  /// Whether what came in up to a commit is kept apart from what came later, so that `take` returns no more than that.
  func keepsApart(upTo commit: Int64) -> Bool { contents.withLock { $0.isFoldedEmpty || $0.foldedCommit <= commit } }

  /// From now on nothing tells what has changed since the state that the context shows.
  func loseTrack() {
    adding { contents in
      contents.isBeingTaken = false
      contents.isRead = false
      contents.removeEntries(upTo: .max)
      contents.rows = [:]
      contents.membershipChanges = [:]
      contents.rootsWithoutOwners = []
      contents.isUnknown = true
    }
  }

  /// What has happened up to a commit since the last time, in the order of keys; nil when that is nothing.
  func take(upTo commit: Int64 = .max) -> StoreChange? {
    changing { contents in
      contents.isBeingTaken = false
      contents.isRead = false
      contents.fold(upTo: commit)
      defer { contents.dropFolded() }
      return contents.foldedChange
    }
  }

  // MARK: Reading beside the context

  /// From now on that is asked whether the program is to be told at once. Held weakly.
  func follow(by reader: any InboxReader) {
    changing { contents in
      contents.reader = reader
      contents.settleSignal()
    }
  }

  /// From now on commits are kept apart, until what `read` returns is dropped, or anything is taken.
  func prepareToRead() { contents.withLock { $0.isRead = true } }

  /// What `take` would return, which stays here; nil where that is nothing, or was taken meanwhile.
  func read(upTo commit: Int64) -> StoreChange? {
    var shared: Contents? = contents.withLock { $0 }
    // What is shared is changed in place as soon as this lets go of it: under the lock, which orders that.
    defer { contents.withLock { _ in shared = nil } }
    guard var copy = shared, copy.isRead, copy.foldedCommit <= commit else { return nil }
    copy.fold(upTo: commit)
    return copy.foldedChange
  }

  /// Drops what `read` has returned. False where that is not there any more as it was.
  func drop(upTo commit: Int64) -> Bool {
    changing { contents in
      guard contents.isRead, contents.foldedCommit <= commit else { return false }
      contents.isRead = false
      contents.removeEntries(upTo: commit)
      contents.dropFolded()
      return true
    }
  }

  /// What was to be worked out is, or never will be: the program is told.
  func noteRead() { changing { $0.settleSignal() } }

  /// How many rows have changed, or some more.
  var rowCount: Int { contents.withLock { $0.rowCount } }

  /// What is there can not be taken over, now or later. The descriptor would be readable for good, and is quiet.
  func noteHopeless() {
    adding { $0.isHopeless = true }
  }

  /// Whether a program waits for changes with a descriptor.
  var isWatched: Bool { contents.withLock { $0.signal != nil } }

  /// Puts back what was taken, under what has come in meanwhile.
  func putBack(_ change: StoreChange) {
    adding { contents in
      let later = contents
      contents.rows = [:]
      contents.membershipChanges = [:]
      contents.isUnknown = false
      contents.rootsWithoutOwners = later.rootsWithoutOwners
      contents.fold(change)
      // Mostly nothing was folded meanwhile.
      for (row, fate) in later.rows {
        contents.rows[row] = contents.rows[row] == .deleted && fate == .inserted ? .returned : fate
      }
      for (key, value) in later.membershipChanges {
        contents.membershipChanges[key, default: (value.relationship, [])].owners.formUnion(value.owners)
      }
      if later.isUnknown { contents.isUnknown = true }
    }
  }

  /// Drops what came in, and whatever else will.
  func close() {
    changing { contents in
      contents.isClosed = true
      contents.removeAll()
    }
  }

  /// Objects of the context that posts here got permanent ids.
  func rename(_ permanent: [ObjectReference: ObjectReference], _ model: Model) {
    func renamed(_ row: RowIdentifier) -> RowIdentifier {
      guard row.id < 0, let entity = model.entity(numbered: Int(row.entity)),
        let reference = permanent[ObjectReference(root: entity.rootNumber, id: row.id)]
      else { return row }
      return RowIdentifier(id: reference.id, entity: row.entity)
    }
    contents.withLock { contents in
      if contents.isEmpty { return }
      contents.rows = Dictionary(
        contents.rows.map { (renamed($0), $1) }, uniquingKeysWith: { first, _ in first })
      for (key, value) in contents.membershipChanges {
        contents.membershipChanges[key]?.owners = Set(value.owners.map(renamed))
      }
    }
  }

  /// A descriptor that polls readable while there is something to take, or while `other` does.
  func descriptor(with other: Int32?) throws(Failure) -> Int32 {
    let made = changing { contents -> Int32? in
      if contents.signal == nil {
        contents.signal = Signal()
        contents.settleSignal()
      }
      if let other, contents.signal?.add(other) == false { return nil }
      return contents.signal?.descriptor
    }
    if let made { return made }
    throw Failure(
      .invalidState, "The system gives no descriptors for changes to be merged. Close some of those that are open.")
  }
}

/// The inboxes of a store's contexts, held weakly.
struct Inboxes: Sendable {
  struct Reference: WeakReference, Sendable {
    weak var inbox: ChangeInbox?

    var isGone: Bool { inbox == nil }
  }

  /// Get what others save.
  var followers = WeakReferences<Reference>()
  /// Receive the changes of their parents.
  var children = WeakReferences<Reference>()
}

extension Store {
  /// From now on `inbox` gets what others save.
  func add(_ inbox: ChangeInbox) { inboxes.withLock { $0.followers.add(.init(inbox: inbox)) } }

  /// From now on `inbox`, which is that of a child, is closed with the store.
  func add(childInbox inbox: ChangeInbox) { inboxes.withLock { $0.children.add(.init(inbox: inbox)) } }

  func closeInboxes() {
    let all = inboxes.withLock { inboxes in (inboxes.followers.all + inboxes.children.all).compactMap(\.inbox) }
    for inbox in all { inbox.close() }
  }

  /// Whether another inbox, the change journal, or a transaction that may be rolled back needs what the owner of
  /// `inbox` writes. To be asked within a write.
  func hasFollowers(besides inbox: ChangeInbox) -> Bool {
    assert(lock.isHeld)
    if held != nil || journal.recordsSaves { return true }
    return inboxes.withLock { inboxes in inboxes.followers.all.contains { $0.inbox != nil && $0.inbox !== inbox } }
  }

  /// Files a commit of the store in the inboxes. `Commits` has this called, in order, within the write. Returns whether
  /// there was anything to file.
  func file(_ number: Int64) -> Bool {
    guard let publication, publication.hasChanged else { return false }
    let others = followers(besides: publication.writer)
    if others.isEmpty { return true }
    // A context may have come since the writer looked for followers.
    let changes = publication.changes.isEmpty ? [publication.late?() ?? .unknown] : publication.changes
    for other in others { other.post(changes, of: number) }
    return true
  }

  /// The same for commits of other programs.
  func file(_ number: Int64, ofOthers change: StoreChange) -> Bool {
    if change.isEmpty { return false }
    for other in followers(besides: nil) { other.post([change], of: number) }
    return true
  }

  private func followers(besides writer: ChangeInbox?) -> [ChangeInbox] {
    inboxes.withLock { inboxes in inboxes.followers.all.compactMap(\.inbox).filter { $0 !== writer } }
  }
}
