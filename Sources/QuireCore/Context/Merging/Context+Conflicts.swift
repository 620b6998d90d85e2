/// Saving against other writers: what is in conflict is settled by the merge policy, outside of any transaction, and
/// the save is tried again.
extension Context {
  /// More than any sensible number of writers comes to get in between.
  private static let mostAttempts = 20

  /// Writes everything pending; on failure nothing was written, but what could be settled is settled here.
  func writeSettlingConflicts() throws(Failure) -> (request: SaveRequest, result: SaveResult?) {
    var reinserted: Set<ObjectReference> = []
    var round = 1
    while true {
      let request = try saveRequest()
      do throws(Failure) {
        return (request, try source.save(request, of: self))
      } catch {
        // What is settled is none of the caller's doing.
        undoManager?.isPaused = true
        defer { undoManager?.isPaused = false }
        switch error.kind {
        case .conflict:
          hasConflicted = true
          let session = SettleSession(error, in: self, reinserted: reinserted)
          try movingOn { move throws(Failure) in
            try session.run(isLastRound: round == Context.mostAttempts, move)
          }
          reinserted = session.reinserted
        case .constraint:
          let session = DuplicateSession(error, in: self)
          try movingOn { move throws(Failure) in
            try session.run(isLastRound: round == Context.mostAttempts, move)
          }
        default: throw error
        }
        try propagateDeletes()
      }
      round += 1
      try process()
      if !hasChanges { return (SaveRequest(), nil) }
      try Validation.check(self)
    }
  }

  /// Moves on to what is newest, by what `settle` makes of it. That is to accept the move when it has decided, and
  /// before it changes objects.
  ///
  /// Objects with pending changes that `settle` knows nothing of stay as they were read. Others may have changed them
  /// since the save was refused, and the next attempt is to find that.
  @discardableResult
  func movingOn(_ settle: (Move) throws(Failure) -> Void) throws(Failure) -> [ManagedObject] {
    let move = try source.beginMove(inbox)
    let valued = Set(registeredObjects.filter { !$0.isFault }.map(\.reference))
    let session = move.change.map { MergeSession(of: $0, in: self, valuedBefore: valued) }
    do throws(Failure) {
      try move.read { () throws(Failure) in try session?.prepare() }
      try settle(move)
    } catch {
      if move.isAccepted {
        take(session)
      } else {
        session?.abandon()
        move.cancel()
      }
      throw error
    }
    // What was settled has changed objects since that was prepared.
    let prepared = move.change.map { MergeSession(of: $0, in: self, valuedBefore: valued) }
    do throws(Failure) { try prepared?.prepare() } catch { return take(session) }
    return take(prepared)
  }

  /// Returns the objects that have read rows anew.
  @discardableResult
  private func take(_ session: MergeSession?) -> [ManagedObject] {
    guard let session else { return [] }
    loseTrack(of: session.adrift)
    let refreshed = session.run()
    if session.left.isEmpty {
      earlyReading.forget()
    } else {
      // The merge of these changes must know which objects and lists have read them already.
      inbox.putBack(session.left)
      hasLeftBehind = true
    }
    return refreshed
  }

  /// Merges what was left because of changes that are pending no more.
  func takeWhatWasLeft() throws(Failure) {
    if hasLeftBehind, !hasChanges, activity.isEmpty { try mergeInbox() }
  }

  /// What is in the store now, by reference.
  func storedRows(_ references: some Sequence<ObjectReference>) throws(Failure) -> [ObjectReference: Row] {
    var ids: [Int: [Int64]] = [:]
    for reference in references where !reference.isTemporary { ids[reference.root, default: []].append(reference.id) }
    var rows: [ObjectReference: Row] = [:]
    for (root, ids) in ids.sorted(by: { $0.key < $1.key }) {
      guard let entity = model.entity(numbered: root) else { continue }
      for row in try source.rows(root: entity, ids: ids) { rows[ObjectReference(root: root, id: row.id)] = row }
    }
    return rows
  }

  /// Has objects show what is stored now, with what was changed here on top.
  func reread(_ references: some Sequence<ObjectReference>) throws(Failure) {
    let objects = references.compactMap { registeredObject($0) }.filter { $0.state == .saved && !$0.isFault }
    let rows = try storedRows(objects.map(\.reference))
    for object in objects {
      if let row = rows[object.reference], row.entity === object.entity { object.rebase(onto: row) }
    }
  }
}
