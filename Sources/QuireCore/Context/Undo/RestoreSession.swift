/// Objects are made what their images say, by changes like those of a caller: both sides of every relationship follow.
/// What cannot be had back any more, because its row is gone from the source, is left out.
final class RestoreSession {
  private let context: Context
  private let images: [ObjectImage]
  private let direction: UndoManager.Direction?
  /// Objects that were away and are there again.
  private var returned: Set<ObjectIdentifier> = []
  /// The images of objects that are there.
  private var present: [ObjectImage] = []

  /// Without a direction it is the way back from half of a way: nothing can have happened to those that were just
  /// deleted.
  init(_ images: [ObjectImage], by direction: UndoManager.Direction?, in context: Context) {
    self.images = images
    self.direction = direction
    self.context = context
  }

  func run() throws(Failure) {
    try deleteArrived()
    try bringToLife()
    for image in present { try bringBackValues(image) }
    for image in present { try bringBackMembers(image) }
    for image in present { bringBackOrder(image) }
  }

  private func hasReturned(_ object: ManagedObject) -> Bool { returned.contains(ObjectIdentifier(object)) }

  // MARK: Life

  private func deleteArrived() throws(Failure) {
    for image in images where image.wasLive == false && image.object.isLive {
      if try !image.object.isStillStored() { continue }
      try context.prepareUndo(ofDeleting: image.object)
      // Only a deletion that is done again wants what rules take along; the group says what else is not to be there.
      context.markDeleted(image.object, isCancelledInsert: direction != .redo)
    }
  }

  private func bringToLife() throws(Failure) {
    // An object whose row another writer has brought back does not return to its state at the deletion.
    let images = images.filter { $0.wasLive != true || !$0.object.isLive }
    for image in images where image.wasLive == true {
      try bringToLife(image)
      returned.insert(ObjectIdentifier(image.object))
    }
    for image in images where image.object.isLive {
      if try image.object.isStillStored() { present.append(image) }
    }
  }

  private func bringToLife(_ image: ObjectImage) throws(Failure) {
    let object = image.object
    let hasRow = object.state == .deleted
    if !hasRow { fill(object, from: image) }
    // While it was away no other code kept its members up to date.
    if direction != nil || !hasRow { object.toMany = [:] }
    try noteHolders(of: object, image)
    context.markReturned(object)
    for relationship in object.entity.relationships { letGoOfLost(relationship, of: object) }
  }

  private func fill(_ object: ManagedObject, from image: ObjectImage) {
    // A caller may have asked for the row that was not there.
    if let stranger = context.registeredObject(object.reference), stranger !== object { stranger.state = .gone }
    object.fill(
      with: ContiguousArray(object.entity.properties.map { $0 is Attribute ? image.values[$0.slot] ?? .nil : .nil }))
  }

  private func noteHolders(of object: ManagedObject, _ image: ObjectImage) throws(Failure) {
    for relationship in object.entity.relationships where relationship.followsFromInverse {
      var holders = image.members[relationship.slot] ?? []
      if relationship.deleteRule == .noAction, let inverse = relationship.inverse {
        let root = relationship.destination.rootNumber
        let found = try context.source.owners(
          of: [object.reference], through: inverse, from: relationship.destination)
        holders += found.map { ObjectReference(root: root, id: $0) }
      }
      try context.noteHolders(of: object, among: holders, in: relationship)
    }
  }

  /// While it was deleted, the object at the other end of a one-to-one relationship has lost it.
  private func letGoOfLost(_ relationship: Relationship, of object: ManagedObject) {
    guard !relationship.isToMany, let inverse = relationship.inverse, !inverse.isToMany, !object.isFault,
      case .object(let box) = object.values[relationship.slot],
      let other = context.registeredObject(box.reference), !other.isFault
    else { return }
    if case .object(let back) = other.values[inverse.slot], back.reference == object.reference { return }
    object.write(.nil, at: relationship.slot)
  }

  // MARK: Values

  private func bringBackValues(_ image: ObjectImage) throws(Failure) {
    let object = image.object
    for property in object.entity.properties {
      guard let value = image.values[property.slot], !property.isDerived else { continue }
      if let relationship = property as? Relationship {
        if !relationship.isToMany { try bringBack(value, in: relationship, of: object) }
      } else {
        object.write(value, at: property.slot)
      }
    }
  }

  private func bringBack(
    _ value: Value, in relationship: Relationship, of object: ManagedObject
  ) throws(Failure) {
    guard case .object(let box) = value else { return try object.relate(to: nil, through: relationship) }
    guard let target = try objects([box.reference], of: relationship.destination).first else {
      return try bringBack(value, to: box.reference, in: relationship, of: object)
    }
    try object.relate(to: target, through: relationship)
    // While it was deleted, the object that it holds has lost it.
    if hasReturned(object), let inverse = relationship.inverse, inverse.isToMany {
      if inverse.isOrdered { _ = try target.members(of: inverse) }
      target.attach(object, to: inverse)
    }
  }

  /// A reference to an object that is gone may stay, if it was saved like that. A reference to an object that is only
  /// to be deleted may stay, if no rule empties it.
  private func bringBack(
    _ value: Value, to reference: ObjectReference, in relationship: Relationship, of object: ManagedObject
  ) throws(Failure) {
    let slot = relationship.slot
    let deleted = context.registeredObject(reference).flatMap { $0.state == .deleted ? $0 : nil }
    let kept = relationship.keepsDeleted ? deleted : nil
    if let inverse = relationship.inverse { kept?.toMany[inverse.slot] = nil }
    if object.values[slot].isIdentical(to: value) {
      let isPending = object.state == .inserted || object.committed[slot] != nil
      if isPending, kept == nil { object.write(.nil, at: slot) }
      return
    }
    let wasSaved = object.committed[slot]?.isIdentical(to: value) == true
    try object.relate(to: nil, through: relationship)
    if kept != nil || wasSaved && deleted == nil { object.write(value, at: slot) }
  }

  /// The objects behind references that are still there.
  private func objects(_ references: [ObjectReference], of entity: Entity) throws(Failure) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    for reference in references {
      if let object = try context.object(reference, of: entity), object.isLive { objects.append(object) }
    }
    try context.fulfil(objects)
    var stored: [ManagedObject] = []
    for object in objects where try object.isStillStored() { stored.append(object) }
    return stored
  }

  // MARK: Members

  private func bringBackMembers(_ image: ObjectImage) throws(Failure) {
    let object = image.object
    for relationship in object.entity.relationships where relationship.isToMany && !relationship.followsFromInverse {
      guard let references = image.members[relationship.slot] else { continue }
      try bringBack(references, latest: image.latest[relationship.slot], in: relationship, of: object)
      if !hasReturned(object) { continue }
      letGoOfDeleted(besides: Set(references), in: relationship, of: object)
      // Members that lost it while it was deleted are not among those that were read anew.
      object.toMany[relationship.slot]?.noteChange()
      context.touch(object, at: relationship.slot)
    }
  }

  /// Of members that others have added or removed since, which `latest` tells, none come or go.
  private func bringBack(
    _ references: [ObjectReference], latest: [ObjectReference]?, in relationship: Relationship,
    of object: ManagedObject
  ) throws(Failure) {
    let wanted = try objects(references, of: relationship.destination)
    let members = try object.objects(of: relationship)
    let known = Set(references), latest = latest.map { Set($0) }
    let identities = Set(members.map(ObjectIdentifier.init))
    // Known members whose rows are gone by now are taken out when that is merged.
    for other in members.reversed()
    where !known.contains(other.reference) && latest?.contains(other.reference) != false {
      // A member whose row is gone is taken out without a change of its own side.
      _ = try other.isStillStored()
      try object.remove(other, from: relationship)
    }
    for other in wanted
    where !identities.contains(ObjectIdentifier(other)) && latest?.contains(other.reference) != true {
      try object.add(other, to: relationship)
    }
  }

  /// The members of one that has returned were read anew from the source, where deleted objects still are.
  private func letGoOfDeleted(
    besides known: Set<ObjectReference>, in relationship: Relationship, of object: ManagedObject
  ) {
    for reference in object.toMany[relationship.slot]?.members ?? []
    where !known.contains(reference) && !context.mayBeLive(reference) {
      object.toMany[relationship.slot]?.remove(reference)
      context.touch(object, at: relationship.slot)
    }
  }

  /// After all members are there again.
  private func bringBackOrder(_ image: ObjectImage) {
    for relationship in image.object.entity.relationships where relationship.isOrdered {
      guard let references = image.members[relationship.slot] else { continue }
      // The members of one that was away were read with those that it has again: that they are is a change.
      image.object.reorder(references, in: relationship, isChange: hasReturned(image.object))
    }
  }
}
