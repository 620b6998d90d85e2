/// What a merge makes of one observer, worked out beside its context.
protocol PreparedObserver: AnyObject, Sendable {
  /// Works it out, with what is read at a moment where that has changed. On the thread of the store, once.
  ///
  /// Returns those of the `known` objects for which only the context can tell what their changes mean to others. Fails
  /// soon after `goesOn` returns false.
  func prepare(
    for change: StoreChange, besides known: Set<ObjectReference>, at moment: any Moment,
    while goesOn: @escaping () -> Bool
  ) throws(Failure) -> Set<ObjectReference>
  /// Whether the observer needs another preparation by now, so that this one is to be rebuilt. Any thread.
  var isSuperseded: Bool { get }
  /// Whether it fits what the observer is now. On the thread of the context, as what follows.
  var isCurrent: Bool { get }
  /// Whose it is.
  var observer: (any ContextObserver)? { get }
  /// The observer tells it with the next notice. Objects of `reread` have taken over their rows by then.
  func hand(reread: [ObjectReference])
}

extension PreparedObserver {
  var isSuperseded: Bool { false }
}
