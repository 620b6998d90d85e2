/// What a transaction has changed, for the inboxes of the contexts that follow it.
struct Publication {
  var changes: [StoreChange] = []
  /// The inbox of the context that writes, which is not told of its own changes. nil where it is to be told.
  var writer: ChangeInbox?
  /// Whether contexts read something else after it. What that is need not be told where no context follows.
  var hasChanged = true
}
