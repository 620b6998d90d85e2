/// What an object was when observers last heard of it, as far as it has changed since.
struct UnheardChange {
  /// Whether it was there; nil when that did not change.
  var wasLive: Bool?
  var time: UInt64 = 0
  /// Properties to report in any case.
  var properties = PropertySet()
  /// Whether another writer's row was laid under the object: it may have been read from one that observers know not.
  var isUncertain = false
  private var values: [(slot: Int, value: Value)] = []
  /// To-one relationships as they were in between, while some observers looked and others did not.
  private var passing: [(slot: Int, value: Value)] = []

  mutating func remember(_ value: Value, at slot: Int) {
    // An object that comes, or returns, is reported whole.
    if wasLive == false || values.contains(where: { $0.slot == slot }) { return }
    values.append((slot, value))
  }

  /// An observer looks at the object with these values, and others know it as it was before: what has changed so far is
  /// reported whatever takes it back.
  mutating func settle(_ current: ContiguousArray<Value>) {
    if wasLive != nil { properties = .all }
    properties.formUnion(changed(in: current))
  }

  mutating func notePassing(_ value: Value, at slot: Int) {
    if case .object = value { passing.append((slot, value)) }
  }

  func formerTargets(
    in context: Context
  ) -> [(slot: Int, target: ObjectReference, object: ManagedObject?)] {
    func isReference(_ change: (slot: Int, value: Value)) -> Bool {
      if case .object = change.value { true } else { false }
    }
    // Most changes are of attributes.
    if passing.isEmpty, !values.contains(where: isReference) { return [] }
    return (values + passing).compactMap { slot, value in
      guard case .object(let box) = value else { return nil }
      let target = box.reference
      return (slot, target, target.isTemporary ? context.registeredObject(target) : nil)
    }
  }

  /// The properties that differ now: a change that was taken back is none.
  func changed(in current: ContiguousArray<Value>) -> PropertySet {
    var changed = properties
    for (slot, value) in values where !current.indices.contains(slot) || !current[slot].isIdentical(to: value) {
      changed.insert(slot: slot)
    }
    return changed
  }
}
