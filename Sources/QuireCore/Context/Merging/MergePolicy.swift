/// What a save does with an object that another writer has changed since it was read here. The numbers are Core Data's.
enum MergePolicy: UInt32, Sendable {
  /// The save fails and nothing is changed.
  case error = 0
  /// Property by property; what the store changed wins, other changes of this context stay.
  case storeWins = 1
  /// Property by property; what was changed here wins over what the store changed.
  case objectWins = 2
  /// The object as it is in memory, with all its values.
  case overwrite = 3
  /// The changes of the object are dropped.
  case rollback = 4
}

extension Context {
  func policy(for conflict: Conflict) -> MergePolicy {
    guard let mergeHandler else { return mergePolicy }
    return askingHandler { mergeHandler.decide(conflict) }
  }

  /// Runs `body` while neither this context nor those above may change: what a child read of its parents is what the
  /// conflict is about. Handlers may nest, by saves of other children.
  private func askingHandler<Result>(_ body: () -> Result) -> Result {
    during(.askingHandler) {
      guard let parent else { return body() }
      return parent.askingHandler(body)
    }
  }
}
