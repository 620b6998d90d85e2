/// Commits of other programs.
extension Store {
  /// Whether other programs have committed since this was last asked. Inboxes then have it, too.
  ///
  /// For a file without a log, of whose commits SQLite keeps no count that moments could compare. It waits for nothing:
  /// what cannot be asked now is found the next time, or with the next write.
  func noticesOthers() -> Bool {
    if holdsMoments || isClosed || !connection.mark.isHere { return false }
    return hasUncountedCommits() ?? false
  }

  /// nil where that cannot be asked now.
  private func hasUncountedCommits() -> Bool? {
    let isFound = lock.withFreeLock { () -> Bool? in
      // While a transaction is open no other program writes.
      if connection.isHeld || isClosed { return false }
      return connection.withoutWaiting { connection.noteOthersUncounted() }
    }
    return isFound ?? nil
  }

  /// Whether SQLite has a log open, which stays as long as the store is open. False where that cannot be asked now.
  private func hasLogOpen() -> Bool {
    let answer = lock.withFreeLock { () -> Bool in
      if connection.isHeld || isClosed { return false }
      return connection.withoutWaiting { (try? connection.usesLogNow()) ?? false }
    }
    return answer ?? false
  }

  /// A descriptor that polls readable when other programs may have committed; nil for what no other program changes. It
  /// is closed with the store.
  func watchOthers() throws(Failure) -> Int32? {
    if isInMemory || xml != nil || connection.sharesNothing { return nil }
    let (found, isNew) = try watch.withLock { watch throws(Failure) -> (FileWatch, Bool) in
      if let watch { return (watch, false) }
      try checkMayRead()
      let made = try FileWatch(location, usesLog: holdsMoments)
      watch = made
      return (made, true)
    }
    if isNew { found.start(unless: { isWriting.load(ordering: .sequentiallyConsistent) }, look(for: found)) }
    return found.descriptor
  }

  /// Files what other programs have committed, where that descriptor may have polled readable.
  func noticeOthers() {
    guard !isClosed, let watch = watch.withLock({ $0 }) else { return }
    watch.settle(look(for: watch))
  }

  /// What the store itself writes wakes no program by that: inboxes do, when it is committed.
  func noteWriting(_ isWriting: Bool) {
    // First: a watch that is just being made asks for it.
    self.isWriting.store(isWriting, ordering: .sequentiallyConsistent)
    guard let watch = watch.withLock({ $0 }) else { return }
    if isWriting { watch.rest() } else { watch.endRest(look(for: watch)) }
  }

  private func look(for watch: FileWatch) -> FileWatch.Look {
    if !holdsMoments {
      return FileWatch.Look(isDone: { self.hasUncountedCommits() != nil }, hasLogOpen: { self.hasLogOpen() })
    }
    return FileWatch.Look(
      isDone: {
        if self.commits.hasNews(at: watch.changeCount) { self.fileOthers() }
        return true
      }, hasLogOpen: { true })
  }

  private func fileOthers() {
    // To read what is newest files what is in it.
    do throws(Failure) {
      let (connection, _) = try pool.take()
      pool.giveBack(connection)
    } catch {
      // What it is, contexts are told when they take over what is there.
      for inbox in inboxes.withLock({ $0.followers.all.compactMap(\.inbox) }) { inbox.loseTrack() }
    }
  }
}
