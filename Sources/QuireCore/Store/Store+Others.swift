extension Store {
  /// Whether other programs have committed since this was last asked. Inboxes then have it, too.
  ///
  /// For a file without a log, of whose commits SQLite keeps no count that moments could compare. It waits for nothing:
  /// what cannot be asked now is found the next time, or with the next write.
  func noticesOthers() -> Bool {
    if holdsMoments || isClosed || !connection.mark.isHere { return false }
    return lock.withFreeLock {
      // While a transaction is open no other program writes.
      if held != nil || isClosed { return false }
      return connection.withoutWaiting { connection.noteOthersUncounted() }
    } ?? false
  }
}
