/// The objects with pending changes by the value of one property. A program that looks up each object before it inserts
/// one thus does not go through all that it has inserted so far.
///
/// An object may stand under values that it no longer has. A lookup checks what it finds.
final class PendingValues {
  let property: Property
  private var objects: [ContiguousArray<UInt8>: ObjectSet] = [:]

  init(of property: Property, among pending: some Sequence<ManagedObject>) {
    self.property = property
    for object in pending { note(object) }
  }

  /// Files an object that was inserted or changed.
  func note(_ object: ManagedObject) {
    guard object.entity.isKind(of: property.entity), let key = PendingValues.key(of: object, property) else { return }
    objects[key, default: ObjectSet()].insert(object)
  }

  /// The objects that have the value now.
  func objects(with value: Value) -> [ManagedObject] {
    let key = PendingValues.key(value)
    guard let filed = objects[key] else { return [] }
    return filed.filter { PendingValues.key(of: $0, property) == key }
  }

  private static func key(of object: ManagedObject, _ property: Property) -> ContiguousArray<UInt8>? {
    object.isLive && !object.isFault ? key(object.values[property.slot]) : nil
  }

  /// Equal for values that are equal in the file, and for no others.
  private static func key(_ value: Value) -> ContiguousArray<UInt8> {
    var key = SortKey()
    key.append(value)
    return key.bytes
  }
}
