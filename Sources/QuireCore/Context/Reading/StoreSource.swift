/// The store, to a context that has no other one above it.
final class StoreSource: SavedSource {
  let store: any Engine
  var moment: any Moment
  private(set) var isInTransaction = false
  private(set) var isPinned = false

  /// Tells the moments whether a call of the context runs, and whether callers hold its objects.
  let holder: MomentHolder

  /// For the context with that inbox.
  init(_ store: any Engine, _ inbox: ChangeInbox, for holder: MomentHolder = .none) {
    self.store = store
    self.holder = holder
    moment = store.makeMoment(isPinned: false, unread: inbox, for: holder)
  }

  /// A moment that has not begun.
  func newMoment() -> any Moment { store.makeMoment(isPinned: isPinned, unread: nil, for: holder) }

  // MARK: Rows

  func rows(root: Entity, ids: [Int64]) throws(Failure) -> [Row] { try moment.rows(root: root, ids: ids) }

  func usedIDs(_ ids: [Int64], root: Entity) throws(Failure) -> Set<Int64> { Set(try moment.usedIDs(ids, root: root)) }

  func usedIDs(_ ids: [Int64], of entity: Entity) throws(Failure) -> Set<Int64> {
    ids.isEmpty ? [] : Set(try moment.ids(FetchPlan(entity: entity, isRestrictedTo: ids)).map(\.id))
  }

  // MARK: Relationships

  func members(of relationship: Relationship, owner: Int64) throws(Failure) -> [RowIdentifier] {
    Array(try moment.relatedIDs(relationship, of: owner))
  }

  /// One statement for all of them.
  func readMembers(
    of relationship: Relationship, _ owners: [ManagedObject], in context: Context
  ) throws(Failure) -> [ManagedObject] {
    if relationship.isTransient { return [] }
    let unread = owners.filter { $0.toMany[relationship.slot] == nil && $0.state != .inserted && $0.id > 0 }
    if unread.isEmpty { return [] }
    let found = try moment.members(of: relationship, owners: unread.map(\.id))
    var objects: [ManagedObject] = []
    objects.reserveCapacity(found.rows.count)
    for row in found.rows { objects.append(context.object(for: row)) }
    let root = relationship.destination.rootNumber
    var next = 0
    for owner in unread.sorted(by: { $0.id < $1.id }) {
      var members: [ObjectReference] = []
      while next < found.members.count, found.members[next].owner <= owner.id {
        members.append(ObjectReference(root: root, id: found.members[next].id))
        next += 1
      }
      owner.take(members, asSavedIn: relationship)
    }
    return objects
  }

  func owners(
    of members: [ObjectReference], through relationship: Relationship, from entity: Entity
  ) throws(Failure) -> [Int64] {
    try moment.ids(reaching: members, along: [relationship], from: entity)
  }

  // MARK: Statements

  var holdsObjects: Bool { false }

  // MARK: What is to come

  func hasNews(for inbox: ChangeInbox) -> Bool {
    if isInTransaction { return false }
    return !inbox.isEmpty || moment.hasNews || moment.isLost
  }

  func readsAhead(of inbox: ChangeInbox) -> Bool {
    if isInTransaction { return false }
    return store.holdsMoments ? moment.isLost : !inbox.isEmpty || moment.hasNews
  }

  func giveUpIfAsked() { moment.giveUpIfAsked() }

  func beginMove(_ inbox: ChangeInbox) throws(Failure) -> Move {
    if isInTransaction || !store.holdsMoments { return moveOnNewest(inbox) }
    let next = newMoment(), former = moment
    inbox.prepareToTake()
    let commit: Int64
    do throws(Failure) { commit = try next.begin().commit } catch {
      inbox.takeNothing()
      throw error
    }
    let change = inbox.take(upTo: commit)
    return Move(
      change, reading: { body throws(Failure) in try self.reading(next, body) },
      accept: {
        self.moment = next
        former.end()
        self.store.sweepFiles()
      },
      cancel: {
        next.end()
        if let change { inbox.putBack(change) }
      })
  }

  /// A step to what was worked out beside the context; nil where that does not begin from what the context shows.
  func beginMove(from base: Int64, to next: any Moment, _ change: StoreChange) -> Move? {
    // What the context has read since it lost its moment is not what that begins from.
    if isInTransaction || moment.isLost || moment.commit != base || next.isLost { return nil }
    let former = moment
    next.isPinned = isPinned
    next.isOfContext = true
    return Move(
      change, reading: { body throws(Failure) in try self.reading(next, body) },
      accept: {
        self.moment = next
        former.end()
        self.store.sweepFiles()
      })
  }

  /// Where the context reads what is newest anyway.
  private func moveOnNewest(_ inbox: ChangeInbox) -> Move {
    let change = inbox.take()
    return Move(
      change,
      reading: { [store] body throws(Failure) in try store.readingNewest(body) },
      cancel: { if let change { inbox.putBack(change) } })
  }

  /// Runs `body`, which reads at another moment.
  func reading<Result>(
    _ other: any Moment, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let former = moment
    moment = other
    defer { moment = former }
    return try body()
  }

  func mergeIfAutomatic() {}

  // MARK: Saving

  func save(_ request: SaveRequest, of context: Context) throws(Failure) -> SaveResult? {
    if request.isEmpty {
      try saveProperties(of: context)
      return nil
    }
    var taken: StoreChange?
    do throws(Failure) {
      return try writing(in: context) { () throws(Failure) in
        try store.save(request) { result throws(Failure) in
          if !isInTransaction { taken = context.inbox.take() }
          if let taken { try prepareMerge(of: taken, in: context) }
          context.publish(request, result)
        } completion: {
          renewMoment()
        }
      }
    } catch {
      takeBack(taken, in: context)
      throw error
    }
  }

  /// Runs what writes, and moves the context on by that.
  private func writing<Result>(
    in context: Context, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let shown = moment
    shown.waitsToWrite = true
    defer { shown.waitsToWrite = false }
    if !isInTransaction { store.awaitCheckpoint(before: shown) }
    return try context.writing { () throws(Failure) in
      shown.waitsToWrite = false
      return try body()
    }
  }

  /// Within a write: reads what it takes to take over a change afterwards.
  private func prepareMerge(of change: StoreChange, in context: Context) throws(Failure) {
    try reading(store.newest) { () throws(Failure) in try context.prepareMergeAfterSave(of: change) }
  }

  /// The write has failed.
  private func takeBack(_ taken: StoreChange?, in context: Context) {
    context.abandonMergeAfterSave()
    if let taken { context.inbox.putBack(taken) }
  }

  /// The context is at what it has just committed.
  private func renewMoment() {
    moment.renew()
    store.sweepFiles()
  }

  func batch(
    in context: Context, merges: Bool,
    _ body: (any BatchWriter) throws(Failure) -> ContiguousArray<RowIdentifier>
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    var taken: StoreChange?
    do throws(Failure) {
      return try writing(in: context) { () throws(Failure) in
        try store.batch(by: context.authorship, body) { change throws(Failure) in
          if !isInTransaction { taken = context.inbox.take() }
          // The context reads what it has written in any case. Without a merge its objects and lists stay as they are.
          let known = merges ? taken.map { $0.followed(by: change) } ?? change : taken
          if let known { try prepareMerge(of: known, in: context) }
          store.publish(Publication(changes: [change], writer: context.inbox))
        } completion: {
          renewMoment()
        }
      }
    } catch {
      takeBack(taken, in: context)
      throw error
    }
  }

  var hasPropertiesToSave: Bool { store.hasPropertiesToSave }

  func saveProperties(of context: Context) throws(Failure) {
    if !store.hasPropertiesToSave { return }
    try context.writing { () throws(Failure) in try store.saveProperties() }
  }

  /// Other contexts find it in their inboxes.
  func announceSave() {}

  func obtainPermanentIDs() {}

  // MARK: What only a store has

  func readNewest(_ body: () throws(Failure) -> Void) throws(Failure) { try reading(store.newest, body) }

  func beginTransaction() {
    isInTransaction = true
    moment.end()
    moment = store.newest
  }

  func endTransaction() {
    isInTransaction = false
    moment = newMoment()
    // Now, before others commit. What cannot be read now is read with the first use.
    _ = try? moment.begin()
  }

  func setPinned(_ isPinned: Bool) throws(Failure) {
    if isPinned {
      try checkMayPin()
      try checkHasMoment()
    }
    self.isPinned = isPinned
    moment.isPinned = isPinned
  }

  func checkHasTransactions() {}

  func checkHasBatchRequests() {}

  var noTransaction: Failure {
    Failure(.invalidState, "The context has no transaction open. Begin one first.")
  }
}
