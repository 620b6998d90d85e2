/// How large the write-ahead log of a store is, and what keeps it from beginning anew.
struct LogState: Equatable {
  /// In bytes, of the pages that are in use.
  var size = 0
  /// Those of them that are not in the file yet.
  var unfoldedSize = 0
  var limit = 0
  /// How many contexts show an older moment than the newest.
  var olderCount = 0
  /// Those of them that are pinned.
  var pinnedCount = 0
  /// How many commits the oldest of them lags behind.
  var lag = 0
  /// How many contexts have lost the moment that they show, and have not advanced since.
  var lostCount = 0
}

extension Store {
  /// Waits for a write that is under way. Any thread.
  func logState() throws(Failure) -> LogState {
    try checkMayRead()
    return try lock.withLock { () throws(Failure) in
      if isClosed { throw connection.closedFailure }
      var state = LogState()
      if let pages = connection.logPages {
        state.size = pages.count * folding.pageSize
        state.unfoldedSize = (pages.count - pages.foldedCount) * folding.pageSize
        state.limit = folding.mostPageCount * folding.pageSize
      }
      // Commits of other programs that were not noticed yet count as one.
      let newest = commits.newestState.changes + (commits.hasNews(at: connection.changeCount) ? 1 : 0)
      for moment in allMoments {
        if moment.isOfContext, moment.isLost { state.lostCount += 1 }
        guard let shown = moment.contents, shown.changes < newest else { continue }
        state.olderCount += 1
        if moment.isPinned { state.pinnedCount += 1 }
        state.lag = max(state.lag, Int(newest - shown.changes))
      }
      return state
    }
  }
}
