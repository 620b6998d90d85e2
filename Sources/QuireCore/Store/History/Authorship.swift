/// What the history says of the program's part in a transaction.
struct Authorship: Sendable {
  /// For other programs, to know whose changes these are.
  var author: Text?
  /// Of the context that saves.
  var contextName: Text?
}
