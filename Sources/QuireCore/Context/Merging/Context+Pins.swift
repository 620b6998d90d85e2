/// Staying at one moment, whatever others commit and however long the log becomes.
extension Context {
  /// Names the commit that the context shows.
  func momentToken() throws(Failure) -> MomentToken {
    try checkMayChange()
    try beginReading()
    return try source.token()
  }

  /// Stays at what the context shows. Where it shows nothing yet, that begins with its next read.
  func pin() throws(Failure) {
    try checkMayChange()
    try beginReading()
    try source.setPinned(true)
  }

  /// Has the whole context show the commit of a token, tells observers what becomes different by that, and stays there.
  func pin(at token: MomentToken) throws(Failure) {
    try checkMayChange()
    try checkNotReverting()
    if !activity.isDisjoint(with: [.notifying, .inHook]) {
      throw Failure(
        .invalidState,
        "A context cannot be moved to another moment by a delegate or a hook that it is calling. Do it when the "
          + "running call has returned.")
    }
    try process()
    let move = try source.beginMove(inbox, to: token)
    guard let change = move.change else {
      move.accept()
      return try source.setPinned(true)
    }
    let session = MergeSession(of: change, in: self)
    try merge(session, by: move)
    try source.setPinned(true)
    try finish(session)
  }

  /// Follows others again, as far as it is set to. This moves nothing.
  func unpin() throws(Failure) {
    try store.checkOpen()
    try source.setPinned(false)
  }
}
