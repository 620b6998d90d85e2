/// What a transaction has changed, for the inboxes of the contexts that follow it.
struct Publication {
  var changes: [StoreChange] = []
  /// The inbox of the context that writes, which is not told of its own changes. nil where it is to be told.
  var writer: ChangeInbox?
  /// Makes the changes where nothing has asked for them and a context has come since; nil where they are there.
  var late: (() -> StoreChange)?
  /// Whether contexts read something else after it. What that is need not be told where no context follows.
  var hasChanged = true
}
