extension Store {
  /// Whether other programs have committed since this was last asked. Inboxes then have it, too.
  ///
  /// For a file without a log, of whose commits SQLite keeps no count that moments could compare. What cannot be asked
  /// now, because another program writes, is found the next time.
  func noticesOthers() -> Bool {
    if holdsMoments { return false }
    let isNoticed = try? withConnection { connection throws(Failure) in
      let version = try connection.dataVersion()
      if version == seenDataVersion { return false }
      seenDataVersion = version
      commits.noteOthersUncounted()
      return true
    }
    return isNoticed ?? false
  }
}
