/// A state of a list, as a place in its history: from here on it is known which rows came to show other values and
/// which got other ids, as no list of ids would tell. Earlier moments keep later ones alive, never the other way round,
/// so that what nobody can ask for is forgotten.
final class ListMoment: Sendable {
  private struct Step {
    let updated: [Int64]
    let renamed: [Int64: Int64]
    let next: ListMoment
  }

  private let step = Guarded<Step?>(nil)

  deinit {
    // One after the other: a long history would need as deep a stack.
    var next = step.withLock { $0.take() }?.next
    while isKnownUniquelyReferenced(&next) { next = next?.step.withLock { $0.take() }?.next }
  }

  /// The moment after a change. The list alone goes on from its last moment.
  func after(updated: [Int64], renamed: [Int64: Int64] = [:]) -> ListMoment {
    let next = ListMoment()
    step.withLock { $0 = Step(updated: updated, renamed: renamed, next: next) }
    return next
  }

  /// The rows that came to show other values up to `later`, and the ids that others have become, by their ids then; nil
  /// when that moment did not follow this one, or was reached by a fetch.
  func changes(until later: ListMoment) -> (updated: Set<Int64>, renamed: [Int64: Int64])? {
    var updated: Set<Int64> = []
    var renamed: [Int64: Int64] = [:]
    var moment = self
    while moment !== later {
      guard let step = moment.step.withLock({ $0 }) else { return nil }
      updated.formUnion(step.updated)
      for (old, new) in step.renamed {
        if updated.remove(old) != nil { updated.insert(new) }
        renamed[old] = new
      }
      moment = step.next
    }
    return (updated, renamed)
  }
}
