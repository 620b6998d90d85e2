/// How calls that only read begin. They advance the context to no other moment, and call no delegate.
extension Context {
  /// The first call in everything that reads.
  func beginReading() throws(Failure) {
    try store.checkOpen()
    // A delegate or a hook that reads is within a call, whose moment stays.
    var isWithinCall = !activity.isEmpty, root = self
    while let parent = root.parent {
      root = parent
      isWithinCall = isWithinCall || !root.activity.isEmpty
    }
    if isWithinCall { return }
    root.source.giveUpIfAsked()
    // Nothing has come in since it was read, so that it is what the context shows.
    if !store.holdsMoments, !root.earlyReading.isEmpty, !root.readsAhead { root.earlyReading.forget() }
  }

  /// The first call in fetches: applies delete rules, those of the contexts above first. Pending changes are laid over
  /// the result, and reported by the next call that processes changes.
  func beginFetching() throws(Failure) {
    try beginReading()
    try applyAllDeleteRules()
  }

  private func applyAllDeleteRules() throws(Failure) {
    try parent?.applyAllDeleteRules()
    try propagateDeletes()
  }

  /// Whether rows that are read now may be of a later commit than what the context shows: its moment was given up, or
  /// the file has no write-ahead log, and there is something to merge.
  var readsAhead: Bool { source.readsAhead(of: inbox) }

  /// The failure for a row that is not in the store. Where the context reads ahead it says what brings objects and
  /// lists up to date.
  func missingRow(_ sentence: String, about offender: Offender? = nil) -> Failure {
    let remedy =
      readsAhead
      ? " The context can no longer read the moment that it shows, and others have committed since. Merge it "
        + "(quire_context_merge)." : ""
    return Failure(.notFound, sentence + remedy, about: offender)
  }
}
