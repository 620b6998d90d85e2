/// What contexts ask of a store on SQLite, where it has no place of its own.
extension Store {
  var opening: any AnyObject & Sendable { commits }

  func makeMoment(isPinned: Bool, unread: ChangeInbox?, for holder: MomentHolder) -> any Moment {
    SQLiteMoment(of: self, isPinned: isPinned, unread: unread, for: holder)
  }

  var newest: any Moment { newestMoment }

  /// The newest state can be had by the moment alone. Any other one can be had together with a moment that shows it.
  func begin(_ moment: any Moment, at changes: Int64) throws(Failure) -> MomentState? {
    if changes >= commits.newestState.changes {
      let reached = try moment.begin()
      if reached.changes == changes { return reached }
      moment.end()
    }
    guard let moment = moment as? SQLiteMoment else { return nil }
    for other in allMoments where other.contents?.changes == changes {
      if !moment.begin(with: other, at: changes) { continue }
      // The system may have failed to read it meanwhile.
      let reached = try moment.begin()
      if reached.changes == changes { return reached }
      moment.end()
    }
    return nil
  }

  func readingNewest(_ body: () throws(Failure) -> Void) throws(Failure) {
    try withConnection { connection throws(Failure) in try connection.snapshot(body) }
  }

  func writing<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try withConnection { _ throws(Failure) in try body() }
  }

  var fewestPreparedRows: Int { fewestRows.load(ordering: .relaxed) }

  var hasPropertiesToSave: Bool { !metadataChanges.isEmpty && !isClosed }
}
