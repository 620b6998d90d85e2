/// A state of a list, as a place in its history. From here on it records which rows were reported, whatever became of
/// them, and which got other ids. Earlier moments keep later ones alive, never the other way round. A record that can
/// no longer be asked for is therefore freed.
final class ListMoment: Sendable {
  private struct Step {
    let changed: [Int64]
    let renamed: [Int64: Int64]
    let contentsMayDiffer: Bool
    let next: ListMoment
  }

  private let step = Guarded<Step?>(nil)

  deinit {
    // One after the other: a long history would need as deep a stack.
    var next = step.withLock { $0.take() }?.next
    while isKnownUniquelyReferenced(&next) { next = next?.step.withLock { $0.take() }?.next }
  }

  /// The moment after a change. The list alone goes on from its last moment.
  func after(changed: [Int64], renamed: [Int64: Int64] = [:], contentsMayDiffer: Bool = false) -> ListMoment {
    let next = ListMoment()
    step.withLock {
      $0 = Step(changed: changed, renamed: renamed, contentsMayDiffer: contentsMayDiffer, next: next)
    }
    return next
  }

  /// The rows that change sets reported between two moments of a list.
  struct Reported {
    /// The rows, by their ids at the later moment.
    var changed: Set<Int64> = []
    /// Which ids became which.
    var renamed: [Int64: Int64] = [:]
    /// Whether other rows may show other values.
    var contentsMayDiffer = false
  }

  /// Returns the rows reported from this moment to `later`; nil when `later` did not follow, or a fetch led to it.
  func changes(until later: ListMoment) -> Reported? {
    var contentsMayDiffer = false
    var changed: Set<Int64> = []
    var renamed: [Int64: Int64] = [:]
    // The ids at the beginning: an id may be replaced more than once.
    var origins: [Int64: Int64] = [:]
    var moment = self
    while moment !== later {
      guard let step = moment.step.withLock({ $0 }) else { return nil }
      changed.formUnion(step.changed)
      if step.contentsMayDiffer { contentsMayDiffer = true }
      for (old, new) in step.renamed {
        if changed.remove(old) != nil { changed.insert(new) }
        let first = origins.removeValue(forKey: old) ?? old
        renamed[first] = new
        origins[new] = first
      }
      moment = step.next
    }
    return Reported(changed: changed, renamed: renamed, contentsMayDiffer: contentsMayDiffer)
  }
}
