/// An object that was inserted, changed or deleted, and which of its properties observers have not heard of.
struct ObjectChange {
  let object: ManagedObject
  let properties: PropertySet
}

/// Properties of one entity, by slot. Small rather than exact: those beyond the 63rd count as one.
struct PropertySet: Equatable {
  private var bits: UInt64 = 0

  static let all = PropertySet(bits: .max)

  private init(bits: UInt64) { self.bits = bits }
  init() {}

  func contains(_ property: Property) -> Bool { bits & PropertySet.bit(property.slot) != 0 }
  mutating func insert(slot: Int) { bits |= PropertySet.bit(slot) }
  mutating func formUnion(_ other: PropertySet) { bits |= other.bits }

  private static func bit(_ slot: Int) -> UInt64 { 1 << UInt64(min(slot, 63)) }
}
