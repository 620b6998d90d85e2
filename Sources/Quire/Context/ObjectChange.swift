/// What observers are told of an object: that it came or went, or which of its properties are others than before.
struct ObjectChange {
  let object: ManagedObject
  let properties: PropertySet
  /// When it was last touched, by `Context.touchCount`.
  let time: UInt64
  /// Whether others may have changed more of it than `properties`, since observers were last told of it.
  let isUncertain: Bool
  /// What its to-one relationships referred to before, with the objects of temporary ids, which may get others while
  /// this is told.
  var formerTargets: [(slot: Int, target: ObjectReference, object: ManagedObject?)] = []
}

/// Properties of one entity, by slot. Small rather than exact: those beyond the 63rd count as one.
struct PropertySet: Hashable {
  private var bits: UInt64 = 0

  static let all = PropertySet(bits: .max)

  private init(bits: UInt64) { self.bits = bits }
  init() {}

  var isEmpty: Bool { bits == 0 }
  mutating func formUnion(_ other: PropertySet) { bits |= other.bits }
  func isDisjoint(with other: PropertySet) -> Bool { bits & other.bits == 0 }
  func contains(_ property: Property) -> Bool { bits & PropertySet.bit(property.slot) != 0 }
  mutating func insert(slot: Int) { bits |= PropertySet.bit(slot) }

  private static func bit(_ slot: Int) -> UInt64 { 1 << UInt64(min(slot, 63)) }
}

/// What an object was when observers last heard of it, as far as it has changed since.
struct UnheardChange {
  /// Whether it was there; nil when that did not change.
  var wasLive: Bool?
  var time: UInt64 = 0
  /// Properties to tell of in any case.
  var properties = PropertySet()
  /// Whether another writer's row was laid under the object: it may have been read from one that observers know not.
  var isUncertain = false
  private var values: [(slot: Int, value: Value)] = []
  /// To-one relationships as they were in between, while some observers looked and others did not.
  private var passing: [(slot: Int, value: Value)] = []

  mutating func remember(_ value: Value, at slot: Int) {
    // One that comes, or returns, is told of whole.
    if wasLive == false || values.contains(where: { $0.slot == slot }) { return }
    values.append((slot, value))
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

extension ManagedObject {
  /// What to tell observers, who then know the object as it is; nil when they know it so already.
  func takeUnheardChange() -> ObjectChange? {
    let unheard = unheard
    self.unheard = UnheardChange()
    // One that was asked for while there was no row has given way to the object that is there again.
    if state == .gone, let present = context.registeredObject(reference), present !== self { return nil }
    func change(_ properties: PropertySet) -> ObjectChange {
      ObjectChange(
        object: self, properties: properties, time: unheard.time, isUncertain: unheard.isUncertain,
        formerTargets: unheard.formerTargets(in: context))
    }
    if let wasLive = unheard.wasLive {
      if wasLive != isLive { return change(.all) }
      if !isLive, unheard.properties.isEmpty { return nil }
    }
    let changed = unheard.changed(in: values)
    return changed.isEmpty ? nil : change(changed)
  }

  /// Not everybody could be told. To be told twice of one state does no harm.
  func restoreUnheard(_ change: ObjectChange) {
    unheard.properties = change.properties
    unheard.time = change.time
    unheard.isUncertain = change.isUncertain
    for (slot, target, _) in change.formerTargets { unheard.notePassing(.object(target), at: slot) }
  }
}
