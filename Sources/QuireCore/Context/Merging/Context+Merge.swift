extension Context {
  /// Takes over the saves of other contexts of the store since the last time, and notifies observers. Pending changes
  /// stay, on top of the new values. What fails is tried again the next time.
  ///
  /// What has begun to be worked out beside the context is waited for. Without `waits` the context stays where it is
  /// until then.
  func merge(waits: Bool = true) throws(Failure) {
    try checkMayChange()
    store.noticeOthers()
    do throws(Failure) { try process() } catch {
      // What cannot be read at this moment may be mended in a later one.
      if error.kind == .function || !source.hasNews(for: inbox) { throw error }
    }
    do throws(Failure) { try mergeInbox(waits: waits) } catch {
      // The file has another model by now, and goes on to have it.
      if error.kind == .modelMismatch { inbox.noteHopeless() }
      throw error
    }
  }

  /// The same without telling what has happened here.
  func mergeInbox(waits: Bool = true) throws(Failure) {
    var fetchesHere = false
    switch preparation?.take(waits: waits) {
    case .underWay: return
    case .ready(let prepared):
      if try merge(prepared) {
        if !waits { return try fetchAsked(here: false) }
      } else if !readsAhead, preparation?.noteMisfit() == true {
        if !waits { return preparation?.beginAgain() ?? () }
      } else {
        fetchesHere = true
      }
    case .failed: fetchesHere = true
    case .nothing, nil: break
    }
    try mergeHere()
    try fetchAsked(here: fetchesHere)
  }

  /// All of it on this thread.
  private func mergeHere() throws(Failure) {
    if !source.hasNews(for: inbox) { return try tellRestOfLists() }
    let move = try source.beginMove(inbox)
    guard let change = move.change else { return move.accept() }
    let session = MergeSession(of: change, in: self)
    try merge(session, by: move)
    try finish(session)
  }

  /// Lists that were to be fetched beside the context, and were not.
  private func fetchAsked(here: Bool) throws(Failure) {
    guard let preparation else { return }
    let lists = announcer.observers.filter(\.isFetchAsked)
    if lists.isEmpty { return preparation.noteFetched() }
    if !here { return preparation.beginFetch() }
    for list in lists { try list.fetchHere() }
    preparation.noteFetched()
  }

  /// Has a list fetched that asks for it. False where only this thread can. With `anew` what was fetched before, and
  /// was not merged yet, is of no use any more.
  func beginFetch(anew: Bool = false) throws(Failure) -> Bool {
    if !mayFetchInBackground { return false }
    if preparation == nil { makePreparation() }
    // What it begins from.
    try source.moment.begin()
    preparation?.beginFetch(anew: anew)
    return true
  }

  /// Whether the store may fetch in the background for the context: the merge that shows the rows advances it.
  var mayFetchInBackground: Bool { store.holdsMoments && parent == nil && transaction == nil && !source.isPinned }

  func merge(_ session: MergeSession, by move: Move) throws(Failure) {
    do throws(Failure) { try move.read { () throws(Failure) in try session.prepare() } } catch {
      session.abandon()
      move.cancel()
      throw error
    }
    move.accept()
  }

  /// Takes over what was worked out. False where that does not fit what the context is now.
  private func merge(_ prepared: PreparedMerge) throws(Failure) -> Bool {
    guard prepared.observers.allSatisfy(\.isCurrent),
      let move = (source as? StoreSource)?.beginMove(from: prepared.base, to: prepared.moment, prepared.change),
      inbox.drop(upTo: prepared.commit)
    else { return false }
    preparation?.noteFit()
    let session = MergeSession(of: prepared, in: self)
    do throws(Failure) { try merge(session, by: move) } catch {
      inbox.putBack(prepared.change)
      throw error
    }
    session.handToObservers()
    hasUntoldLists = true
    try finish(session)
    return true
  }

  /// From now on large changes are worked out beside the context, where it merges automatically, or the program waits
  /// for changes with its descriptor.
  func prepareMerges() {
    if preparation != nil || !store.holdsMoments || parent != nil { return }
    if mergesAutomatically || inbox.isWatched { makePreparation() }
  }

  private func makePreparation() {
    let made = MergePreparation(of: self)
    preparation = made
    inbox.follow(by: made)
  }

  /// Within a write: reads what it takes to take over a change when all is written. `abandonMergeAfterSave` forgets
  /// that.
  func prepareMergeAfterSave(of change: StoreChange) throws(Failure) {
    let session = MergeSession(of: change, in: self)
    mergeAfterSave = session
    try session.prepare()
  }

  func abandonMergeAfterSave() {
    mergeAfterSave?.abandon()
    mergeAfterSave = nil
  }

  /// Takes over what a save has found others to have saved before it, once all of the save is told.
  func finishSave() throws(Failure) {
    pageAhead.release()
    let isBeyondCommit = isBeyondOwnCommit
    try finishOwnSave()
    if isBeyondCommit { try mergeInbox() }
  }

  /// Whether the context reads commits that it has not merged: another program may have committed before the context
  /// came to read its own commit.
  var isBeyondOwnCommit: Bool {
    parent == nil && source.moment.commit.map(inbox.hasChanges(upTo:)) ?? false
  }

  private func finishOwnSave() throws(Failure) {
    if let session = mergeAfterSave {
      mergeAfterSave = nil
      try finish(session)
    } else if hasLeftBehind {
      // A conflict has moved the context, and nothing was left to be written.
      try mergeInbox()
    } else {
      // A conflict may have moved the context.
      try tellRestOfLists()
    }
  }

  func finish(_ session: MergeSession) throws(Failure) {
    hasLeftBehind = false
    pageAhead.release()
    loseTrack(of: session.adrift)
    let refreshed = session.run()
    earlyReading.forget()
    try tell(refreshed)
  }

  /// Ends a move: observers and hooks hear of it. `refreshed` have read their rows anew.
  func tell(_ refreshed: [ManagedObject]) throws(Failure) {
    runHooks(.refresh, refreshed)
    try propagateDeletesToOthers()
    try process()
    try tellRestOfLists()
    try throwHookFailure()
  }

  /// What others have made refer to objects that are deleted here is for the delete rules, and not to be undone.
  func propagateDeletesToOthers() throws(Failure) {
    let wasPaused = undoManager?.isPaused ?? false
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = wasPaused }
    try propagateDeletes()
  }

  /// Of what other programs have changed nothing tells. Each list finds what became of its rows with the next notice.
  func loseTrack(of observers: [any ContextObserver]) {
    if observers.isEmpty { return }
    hasUntoldLists = true
    for observer in observers { observer.loseTrack() }
  }

  /// Has lists tell what is no change of objects, where no notice has done so.
  func tellRestOfLists() throws(Failure) {
    if !hasUntoldLists { return }
    for observer in announcer.observers { try observer.tellRest() }
    hasUntoldLists = false
    try process()
  }

  /// For what shows the state of the store. Within an observer the running bracket goes on first.
  func mergeIfAutomatic() throws(Failure) {
    try source.mergeIfAutomatic()
    guard mergesAutomatically, activity.isDisjoint(with: [.notifying, .askingHandler]) else { return }
    if source.isPinned { return try fetchAsked(here: true) }
    if preparation?.isUnderWay == true { return }
    if source.hasNews(for: inbox) || preparation?.isReady == true { try merge(waits: false) }
  }

  /// The rows that must lose objects which are changed here to be related one to one to others.
  func partners(of rows: [(object: ManagedObject, row: Row)]) throws(Failure) -> [Row] {
    var wanted: Set<ObjectReference> = []
    for (object, row) in rows {
      for relationship in object.entity.relationships where relationship.isOneToOne {
        guard object.committed[relationship.slot] != nil, case .object(let box) = row.values[relationship.slot] else {
          continue
        }
        wanted.insert(box.reference)
      }
    }
    return wanted.isEmpty ? [] : Array(try storedRows(wanted).values)
  }

  /// The one object of a row, if it is held.
  func registeredObject(_ row: RowIdentifier) -> ManagedObject? { reference(of: row).flatMap(registeredObject) }

  func reference(of row: RowIdentifier) -> ObjectReference? {
    model.entity(numbered: Int(row.entity)).map { ObjectReference(root: $0.rootNumber, id: row.id) }
  }

  /// Removes deleted rows from objects: from to-many members that were read, and from pending references to them, which
  /// could not be saved.
  func forgetMembers(_ gone: Set<ObjectReference>) {
    if gone.isEmpty { return }
    for object in registeredObjects {
      for (slot, members) in object.toMany where members.mentions(gone) {
        object.toMany[slot]?.forget(gone)
        touch(object, at: slot)
      }
    }
    for object in pending.insertedAndUpdated {
      for relationship in object.entity.relationships where !relationship.isToMany && !object.isFault {
        let slot = relationship.slot
        guard case .object(let box) = object.values[slot], gone.contains(box.reference),
          object.state == .inserted || object.committed[slot] != nil
        else { continue }
        object.write(.nil, at: slot)
      }
    }
  }
}
