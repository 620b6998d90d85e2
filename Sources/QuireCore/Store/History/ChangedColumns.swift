/// ZCOLUMNS of an update: a bit for each property of the entity, the first of which is the highest of the first byte.
///
/// The order of the properties is not known. With all bits set it says "any of these", whatever the order is.
enum ChangedColumns {
  static func any(of entity: Entity) -> Bytes {
    let count = entity.properties.count
    return Bytes(
      (0..<(count + 7) / 8).map { place in
        UInt8(truncatingIfNeeded: 0xFF00 >> min(8, count - place * 8))
      })
  }

  /// The properties of which one or more were changed; nil where the bits do not tell.
  static func changed(_ bits: Bytes, of entity: Entity) -> [Property]? {
    guard entity.properties.count == 1, let first = bits.buffer.first, first & 0x80 != 0 else { return nil }
    return entity.properties
  }
}
