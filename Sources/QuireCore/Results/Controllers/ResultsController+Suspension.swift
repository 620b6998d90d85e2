/// Leaving a list as it is for a while, and failures of delegates.
extension ResultsController {
  /// Keeps the list as it is, without reports to its delegate, until `resume`. Earlier changes are reported first.
  func suspend() throws(Failure) {
    try prepareToRead("be suspended")
    if withheld != nil {
      throw Failure(.invalidState, "The results controller is suspended already; resume it first.")
    }
    withheld = WithheldChanges()
  }

  /// Takes over the changes since `suspend`: as one bracket, or without a report where the view shows them already.
  func resume(telling: Bool) throws(Failure) {
    try prepareToRead("be resumed")
    guard let withheld else {
      throw Failure(.invalidState, "The results controller is not suspended; suspend it first.")
    }
    var changes = withheld.all
    try contents.prepare(changes, in: context)
    if !telling {
      self.withheld = nil
      let report = contents.apply(changes)
      if !report.isEmpty {
        note(report)
        gatherer?.generation.increment()
      }
      return
    }
    // What is named follows from all that changed meanwhile.
    var names = ChangeNames(watch)
    for place in changes.indices where changes[place].newKey != nil {
      guard let entity = withheld.objects[changes[place].id]?.entity else { continue }
      changes[place].names = names.texts(changes[place].keys, of: entity)
    }
    try context.notifying {
      self.withheld = nil
      deliver(makeBracket(changes, withheld.objects))
    }
  }

  /// For a delegate that cannot do what it was told to. The bracket goes on to its end; then the call that has the
  /// context process changes fails.
  func delegateFailed(_ reason: String) throws(Failure) {
    if bracket == nil {
      throw Failure(
        .invalidState,
        "Only a delegate that is being told of changes can fail; report other failures where they happen.")
    }
    context.noteDelegateFailure(Failure(.function, "A delegate of a results controller failed: \(reason)"))
  }
}
