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
