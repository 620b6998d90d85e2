/// A column of values that may lie in files beside the store. Plain numbers, so that copies cost nothing.
struct ExternalColumn: Sendable {
  /// The number of the entity that declares the attribute.
  let entity: Int32
  let slot: Int16
  /// The column of the statement that holds the key of the row.
  var key: Int16 = 0

  init(_ attribute: Attribute) {
    entity = Int32(truncatingIfNeeded: attribute.entity.number)
    slot = Int16(truncatingIfNeeded: attribute.slot)
  }

  /// nil for a number that is not of any column.
  init?(number: Int64) {
    guard let entity = Int32(exactly: number >> 16) else { return nil }
    self.entity = entity
    slot = Int16(truncatingIfNeeded: number)
  }

  /// By which SQL names it to `SQLFunction.external`.
  var number: Int64 { Int64(entity) << 16 | Int64(UInt16(bitPattern: slot)) }
}

extension Property {
  /// nil where all values lie in the row. A model of a file may have the flag at any attribute; it counts for data.
  var externalColumn: ExternalColumn? {
    guard let attribute = self as? Attribute, attribute.traits.allowsExternalStorage, !attribute.isTransient,
      attribute.type == .binary || attribute.type == .transformable
    else { return nil }
    return ExternalColumn(attribute)
  }
}
