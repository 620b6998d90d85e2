/// The objects that a group of changes touched, as they were before it.
struct UndoGroup {
  var name: Text?
  /// In the order in which they were touched.
  private(set) var images: [ObjectImage] = []
  private var places: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool { images.isEmpty }

  /// Notes what a property was. What it was before the first change of a group is what counts, and nothing is of an
  /// object that the group inserted.
  mutating func note(_ value: Value, at slot: Int, of object: ManagedObject) {
    let place = place(of: object)
    if images[place].wasLive == nil, images[place].values[slot] == nil { images[place].values[slot] = value }
  }

  mutating func note(_ members: [ObjectReference], at slot: Int, of object: ManagedObject) {
    let place = place(of: object)
    if images[place].wasLive == nil, images[place].members[slot] == nil { images[place].members[slot] = members }
  }

  mutating func noteArrival(of object: ManagedObject) {
    let place = place(of: object)
    if images[place].wasLive == nil { images[place].wasLive = false }
  }

  /// Notes all that an object has, because its deletion will take it away.
  mutating func noteDeparture(of object: ManagedObject) {
    let place = place(of: object)
    if images[place].wasLive != nil { return }
    for (slot, value) in object.values.enumerated() { note(value, at: slot, of: object) }
    for (slot, members) in object.toMany { note(members.members, at: slot, of: object) }
    images[place].wasLive = true
  }

  /// Takes in what came after: of what both have touched, the older image counts.
  mutating func add(_ later: UndoGroup) {
    for image in later.images {
      let place = place(of: image.object)
      if images[place].wasLive != nil { continue }
      images[place].values.merge(image.values) { older, _ in older }
      images[place].members.merge(image.members) { older, _ in older }
      images[place].wasLive = image.wasLive
    }
  }

  /// Whether anything differs from what it was: a group whose changes were taken back is none.
  var hasEffect: Bool {
    images.contains { image in
      let object = image.object
      if let wasLive = image.wasLive, wasLive != object.isLive { return true }
      return object.isLive && object.differs(from: image)
    }
  }

  /// Ends it. What is as it was before it is no part of it: should others change that, undoing does not.
  mutating func seal() {
    images = images.compactMap { image in
      let object = image.object
      if image.wasLive == false { return object.isLive ? image : nil }
      if !object.isLive { return image }
      var image = image
      image.wasLive = nil
      image.dropUnchanged()
      for (slot, members) in image.members {
        let known = Set(members)
        // Of those that the group deleted, the ones it had added before are not to return with their objects.
        image.latest[slot] = object.toMany[slot]?.members.filter {
          !known.contains($0) || object.context.mayBeLive($0)
        }
      }
      return image.values.isEmpty && image.members.isEmpty ? nil : image
    }
    places = [:]
  }

  /// Forgets the images that equal the present state, of an object that is about to become a fault. A fault cannot be
  /// compared with its images any more.
  mutating func dropUnchanged(of object: ManagedObject) {
    if let place = places[ObjectIdentifier(object)], images[place].wasLive == nil { images[place].dropUnchanged() }
  }

  /// The store has come to hold another value than it had before the group: that is what undoing leads to.
  mutating func rebase(_ object: ManagedObject, at slot: Int, from old: Value, to present: Value) {
    guard let place = places[ObjectIdentifier(object)], images[place].wasLive == nil,
      images[place].values[slot]?.isIdentical(to: old) == true
    else { return }
    images[place].values[slot] = present
  }

  /// The store has come to hold other members, which undoing leaves alone.
  mutating func rebase(_ object: ManagedObject, at slot: Int, added: [ObjectReference], removed: Set<ObjectReference>) {
    guard let place = places[ObjectIdentifier(object)], var members = images[place].members[slot] else { return }
    members.removeAll(where: removed.contains)
    let known = Set(members)
    images[place].members[slot] = members + added.filter { !known.contains($0) }
  }

  /// Objects got permanent ids.
  mutating func replace(_ permanent: [ObjectReference: ObjectReference]) {
    for place in images.indices {
      for (slot, value) in images[place].values {
        if case .object(let box) = value, let reference = permanent[box.reference] {
          images[place].values[slot] = .object(reference)
        }
      }
      images[place].members = images[place].members.mapValues { $0.map { permanent[$0] ?? $0 } }
      images[place].latest = images[place].latest.mapValues { $0.map { permanent[$0] ?? $0 } }
    }
  }

  private mutating func place(of object: ManagedObject) -> Int {
    if let place = places[ObjectIdentifier(object)] { return place }
    places[ObjectIdentifier(object)] = images.count
    images.append(ObjectImage(object: object))
    return images.count - 1
  }
}

extension ManagedObject {
  /// Whether a property is another than it was, apart from references to what is no longer there.
  fileprivate func differs(from image: ObjectImage) -> Bool {
    func visible(_ value: Value, _ slot: Int) -> Value {
      guard case .object(let box) = value, !context.mayBeLive(box.reference) else { return value }
      // One that is to be deleted may be refused that because of this.
      let isKept = (entity.properties[slot] as? Relationship)?.keepsDeleted == true
      return isKept && context.isToBeDeleted(box.reference) ? value : .nil
    }
    for (slot, value) in image.values
    where !values.indices.contains(slot)
      || !entity.properties[slot].isDerived && !visible(values[slot], slot).isIdentical(to: visible(value, slot))
    { return true }
    for (slot, members) in image.members {
      guard let present = toMany[slot]?.members.filter(context.mayBeLive) else { return true }
      let before = members.filter(context.mayBeLive)
      let isOrdered = (entity.properties[slot] as? Relationship)?.isOrdered == true
      if isOrdered ? present != before : Set(present) != Set(before) { return true }
    }
    return false
  }
}
