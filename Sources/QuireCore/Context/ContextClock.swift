/// What a context tells earlier from later by: two counts, each with one meaning.
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

  /// Returns the time of the change.
  mutating func noteChange() -> UInt64 {
    change += 1
    return change
  }

  mutating func noteNewValues() { generation += 1 }
}

extension Context {
  /// Values of objects come to be others. What they have lent ends with that.
  func noteNewValues() { clock.noteNewValues() }
}
