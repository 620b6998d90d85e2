import Glibc

/// Writers wait for a checkpoint where the write-ahead log (WAL) is long.
///
/// Otherwise two writers without a pause write faster than pages get into the file, and each commit makes the moments
/// of all other contexts older again, so that the WAL never begins anew. While writers wait, contexts that merge or
/// whose pin ends reach the newest commit and stay at it.
extension Store {
  /// Waits while the WAL is long and a checkpoint is under way, for at most the store's busy timeout.
  ///
  /// To be called before a context writes, with no lock of the store held. `moment` is that of the context. An older
  /// moment keeps the WAL, and advances by the write: below the limit its writer does not wait.
  func awaitCheckpoint(before moment: (any Moment)?) {
    if !holdsMoments || isOfMigration || !folding.isLong { return }
    if !folding.isTooLong, let commit = moment?.commit, commit < commits.newestChange { return }
    folding.thread.awaitIdleness(milliseconds: Int(connection.busyTimeoutMilliseconds))
  }

  /// Waits until no context is at an older moment, as long as contexts may still advance. Returns whether it has
  /// waited.
  ///
  /// For the checkpointing thread, with no lock held.
  func awaitAdvancingContexts() -> Bool {
    var hasWaited = false
    while folding.isLong, !folding.thread.isToStop {
      let older = olderMoments
      let awaited = older.filter(mayAdvance)
      // Below the limit all of them must advance. Beyond it, moments without a pin can be given up.
      let areEnough =
        folding.isTooLong ? !older.contains { $0.isPinned && !mayAdvance($0) } : awaited.count == older.count
      if awaited.isEmpty || !areEnough { break }
      folding.noteWait(for: awaited, among: older)
      usleep(1000)
      hasWaited = true
    }
    return hasWaited
  }

  /// Has all moments read what is in the file, when all of the WAL is in it: the next commit then begins the WAL anew.
  /// False where a moment is in use, which with `waits` is waited for as long as for contexts that merge.
  ///
  /// For a thread that has the lock of the store, and of the file.
  func beginMomentsAnew(waits: Bool) -> Bool {
    let used = allMoments.filter { !$0.beginAnew() }
    if used.isEmpty || !waits { return true }
    for moment in used { moment.askToBeginAnew() }
    var left = used
    for _ in 0..<Store.longestPause {
      left = left.filter { !$0.beginAnew() && !$0.hasBegunAnew }
      if left.isEmpty { break }
      usleep(1000)
    }
    let areDone = used.map { moment in moment.endAsking() || !left.contains { $0 === moment } }
    return areDone.allSatisfy(\.self)
  }

  /// Whether it makes sense to wait for the context of an older moment.
  func mayAdvance(_ moment: SQLiteMoment) -> Bool {
    if moment.waitsToWrite || moment.isPinned && !folding.isTooLong { return false }
    // The thread of a waiting writer cannot merge another context meanwhile.
    if allMoments.contains(where: { $0.waitsToWrite && $0.lastThread == moment.lastThread }) { return false }
    return folding.waitedTime(for: moment) < folding.patience(with: moment)
  }
}

extension LogFolding {
  /// Whether writers wait for a running checkpoint: from three eighths of the limit on.
  var isLong: Bool { pageCount >= 6 * firstPageCount }

  /// Whether moments are given up.
  var isTooLong: Bool { pageCount >= mostPageCount }

  /// For how many milliseconds one checkpoint, or several in a row, wait for a context that stays at one older moment.
  /// Later ones do not wait for it: an idle context costs writers this time once, and a long pin once for each limit
  /// that the WAL grows by.
  fileprivate func patience(with moment: SQLiteMoment) -> Int {
    moment.isPinned ? patienceWithPins.load(ordering: .relaxed) * pageCount / mostPageCount : 100
  }

  /// For how many milliseconds checkpoints have waited for a context at that moment.
  fileprivate func waitedTime(for moment: SQLiteMoment) -> Int {
    guard let wait = waits[ObjectIdentifier(moment)], wait.commit == moment.commit else { return 0 }
    return wait.milliseconds
  }

  fileprivate func noteWait(for awaited: [SQLiteMoment], among older: [SQLiteMoment]) {
    let awaited = Set(awaited.map(ObjectIdentifier.init))
    waits = Dictionary(
      older.map { moment in
        let id = ObjectIdentifier(moment)
        return (id, (moment.commit, waitedTime(for: moment) + (awaited.contains(id) ? 1 : 0)))
      }, uniquingKeysWith: { $1 })
  }
}
