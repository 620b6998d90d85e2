/// Staying at one moment, and going to that of another context.
extension StoreSource {
  func checkMayPin() throws(Failure) {
    if isInTransaction {
      throw Failure(
        .invalidState,
        "The context has a transaction open, and shows what that has written. Pin the context when it has ended.")
    }
    if !store.holdsMoments {
      throw Failure(
        .unsupported,
        "The store '\(store.path)' has no write-ahead log, so that each read is of what is newest. It can have one "
          + "when no other program has it open without one, on a file system with shared memory.")
    }
  }

  /// There is no moment to stay at where the context has lost the one that it shows.
  func checkHasMoment() throws(Failure) {
    if moment.isLost {
      throw Failure(
        .invalidState,
        "The store '\(store.path)' has given up the moment that the context shows, because its write-ahead log had "
          + "become too long. Merge the context first (quire_context_merge).")
    }
  }

  func token() throws(Failure) -> MomentToken {
    try checkMayPin()
    try checkHasMoment()
    return MomentToken(try moment.begin(), of: store)
  }

  func beginMove(_ inbox: ChangeInbox, to token: MomentToken) throws(Failure) -> Move {
    try checkMayPin()
    if !token.isOf(store) {
      throw Failure(
        .invalidArgument,
        "The moment is of another store than '\(store.path)', or of an earlier opening of it. Take that of a context "
          + "of this store.")
    }
    let shown = try moment.begin()
    if shown.changes == token.changes, !moment.isLost {
      return Move(nil, reading: { body throws(Failure) in try body() })
    }
    let next = newMoment()
    inbox.prepareToTake()
    let reached: MomentState
    do throws(Failure) {
      guard let begun = try store.begin(next, at: token.changes) else { throw StoreSource.lostMoment }
      reached = begun
    } catch {
      inbox.takeNothing()
      throw error
    }
    let isLater = !moment.isLost && reached.changes > shown.changes
    let isKnown = isLater && inbox.keepsApart(upTo: reached.commit)
    let known = isKnown ? inbox.take(upTo: reached.commit) : nil
    if !isKnown { inbox.takeNothing() }
    return Move(
      isKnown ? known : .unknown, reading: { body throws(Failure) in try self.reading(next, body) },
      accept: {
        let former = self.moment
        self.moment = next
        former.end()
        // What leads from there to what is newest came in before, or together with what led to there.
        if !isKnown { inbox.loseTrack() }
        self.store.sweepFiles()
      },
      cancel: {
        next.end()
        if let known { inbox.putBack(known) }
      })
  }

  private static var lostMoment: Failure {
    Failure(
      .notFound,
      "The moment is no longer there: others have committed since, and no context of the store shows it. Keep a "
        + "context pinned at a moment that is to be returned to.")
  }
}
