/// Leaving a list as it is for a while.
extension ResultsController {
  /// Keeps the list as it is, without reports to its delegate, until `resume`. Earlier changes are reported first.
  func suspend() throws(Failure) {
    try prepareToChange("be suspended")
    if withheld != nil {
      throw Failure(.invalidState, "The results controller is suspended already; resume it first.")
    }
    withheld = WithheldChanges()
  }

  /// Takes over the changes since `suspend`: as one bracket, or without a report where the view shows them already.
  func resume(telling: Bool) throws(Failure) {
    try prepareToChange("be resumed")
    if preparedRequest != nil {
      // It was suspended in the midst of the merge that was to show this.
      preparedRequest = nil
      isAdrift = true
    }
    try endSuspension(telling: telling)
    try pursueAwaitedRequest()
  }

  private func endSuspension(telling: Bool) throws(Failure) {
    guard let withheld else {
      throw Failure(.invalidState, "The results controller is not suspended; suspend it first.")
    }
    if isAdrift { return try resumeAnew(telling: telling) }
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

  /// The same where nothing tells what has changed since.
  private func resumeAnew(telling: Bool) throws(Failure) {
    let fresh = try listing.contents(in: context)
    isAdrift = false
    withheld = nil
    if telling {
      return try context.notifying { deliver(replacement(with: fresh, [:], contentsMayDiffer: true)) }
    }
    let report = ChangeSet.difference(from: ListSnapshot(index), to: ListSnapshot(fresh.index))
      .telling(contentsMayDiffer: true)
    contents = fresh
    note(report)
    gatherer?.generation.increment()
  }
}
