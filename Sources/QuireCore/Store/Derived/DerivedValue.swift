/// A value that the store has calculated.
struct DerivedValue: Sendable {
  let row: RowIdentifier
  let slot: Int
  let value: Value
}
