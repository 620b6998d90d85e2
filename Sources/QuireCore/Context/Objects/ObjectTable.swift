/// The objects of a context by their references, and what was found out about rows.
///
/// The table holds no object. `forget` runs on the thread on which an object goes. Everything else belongs to the
/// thread that is inside the context.
final class ObjectTable {
  private let registered = ReferenceTable()
  /// Objects that are gone while a caller holds them: should their rows return, so do they.
  private let departed = ReferenceTable()
  /// References to rows that turned out to be gone.
  private var missing: Set<ObjectReference> = []

  /// What the tables hold is nothing else.
  private static func managed(_ object: AnyObject) -> ManagedObject { unsafeDowncast(object, to: ManagedObject.self) }

  // MARK: Looking up

  var isEmpty: Bool { registered.isEmpty }

  var all: [ManagedObject] { registered.all.map(ObjectTable.managed) }

  /// With those that are gone while a caller holds them.
  var known: [ManagedObject] { (registered.all + departed.all).map(ObjectTable.managed) }

  /// The one object with that reference, if a caller or the context holds it.
  func object(_ reference: ObjectReference) -> ManagedObject? {
    registered.object(reference).map(ObjectTable.managed)
  }

  /// An object of that reference which is gone while a caller holds it.
  func goneObject(_ reference: ObjectReference) -> ManagedObject? {
    let object = object(reference) ?? departed.object(reference).map(ObjectTable.managed)
    return object?.state == .gone ? object : nil
  }

  /// The objects that are gone while callers hold them.
  var allGone: [ManagedObject] {
    (registered.all + departed.all).map(ObjectTable.managed).filter { $0.state == .gone }
  }

  // MARK: Coming and going

  /// Files an object under its reference, instead of another one with that reference.
  func register(_ object: ManagedObject) { registered.file(object, as: object.reference) }

  /// The reference finds no object any more. An object that is gone is kept in mind, because its row may return.
  func unregister(_ reference: ObjectReference) {
    guard let object = registered.remove(reference).map(ObjectTable.managed), object.state == .gone,
      departed.object(reference) == nil
    else { return }
    departed.file(object, as: reference)
  }

  /// The object is being freed.
  func forget(_ object: ObjectIdentifier, _ reference: ObjectReference) {
    registered.forget(object, reference)
    departed.forget(object, reference)
  }

  /// There is a row again for an object that was gone, so that there need not be two objects of it. Returns the object
  /// if it was gone.
  @discardableResult
  func readmit(_ reference: ObjectReference) -> ManagedObject? {
    guard let object = goneObject(reference) else { return nil }
    object.state = .saved
    object.dropValues()
    takeBack(object)
    return object
  }

  /// An object that was deleted, or is gone, is there again.
  func takeBack(_ object: ManagedObject) {
    assert(object.isLive)
    let reference = object.reference
    missing.remove(reference)
    _ = departed.remove(reference)
    register(object)
  }

  // MARK: Rows

  /// Files a row as gone; false when that was known.
  func noteMissing(_ reference: ObjectReference) -> Bool { missing.insert(reference).inserted }

  /// The row was just read.
  func notePresent(_ reference: ObjectReference) {
    if !missing.isEmpty { missing.remove(reference) }
  }

  /// Rows that were gone may be there again.
  func forgetMissing() { missing = [] }
}
