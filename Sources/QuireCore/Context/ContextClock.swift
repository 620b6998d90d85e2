/// What a context tells earlier from later by: three counts, each with one meaning.
struct ContextClock {
  /// Ticks with each change of an object that observers are to be told of.
  ///
  /// `UnheardChange.time` and `ObjectChange.time` are such times. An observer tells by them the changes that its fetch
  /// has seen from those that came later.
  private(set) var change: UInt64 = 0

  /// Ticks whenever values of objects come to be others by something else than a call that sets them.
  ///
  /// A caller that keeps values reads them again then (`quire_context_generation`).
  private(set) var generation: UInt64 = 0

  /// Ticks with each merge of what others have saved.
  ///
  /// `ManagedObject.aheadSince` is such a time. Time 0 is before all merges.
  private(set) var merge: UInt32 = 1

  /// The time of `merge` when a list was last read ahead of what objects show.
  private var listsAheadSince: UInt32 = 0

  /// Returns the time of the change.
  mutating func noteChange() -> UInt64 {
    change += 1
    return change
  }

  mutating func noteNewValues() { generation += 1 }

  mutating func noteMerge() { merge &+= 1 }

  /// A list is read, whose rows may be newer than objects that were read before.
  mutating func noteListAhead() { listsAheadSince = merge }

  /// Whether an object with this `aheadSince`, or a list, was read ahead of the merge that is under way.
  func isAhead(since time: UInt32) -> Bool { time == merge || listsAheadSince == merge }
}
