/// What a to-many relationship of one object holds, and how that differs from what is saved.
///
/// Asking, adding and removing take constant time; only removing from an ordered relationship looks for the place.
struct ToManyMembers {
  let isOrdered: Bool
  /// In order when the relationship is ordered, otherwise in no order that means anything.
  private(set) var members: [ObjectReference]
  private(set) var saved: [ObjectReference]
  // Against `saved`.
  private var added: Set<ObjectReference> = []
  private var removed: Set<ObjectReference> = []
  private var hasBeenChanged = false
  /// Where each member stands; of an ordered relationship only which there are. Made when it is first needed.
  private var places: [ObjectReference: Int]?

  /// `members` are the saved ones with the changes of unsaved objects laid over, which are changes of those alone.
  init(_ members: [ObjectReference], saved: [ObjectReference], isOrdered: Bool) {
    self.isOrdered = isOrdered
    self.members = members
    self.saved = saved
    if members != saved {
      added = Set(members).subtracting(saved)
      removed = Set(saved).subtracting(members)
    }
  }

  /// Members that came back to the saved ones are no change.
  var isChanged: Bool { hasBeenChanged && (!added.isEmpty || !removed.isEmpty || isOrdered && members != saved) }
  var addedMembers: [ObjectReference] { members.filter(added.contains) }
  var removedMembers: [ObjectReference] { saved.filter(removed.contains) }

  mutating func contains(_ member: ObjectReference) -> Bool { knownPlaces()[member] != nil }

  /// Whether it was added or removed here; nil when nothing was done to it.
  func pendingClaim(on member: ObjectReference) -> Bool? {
    if !hasBeenChanged { return nil }
    if added.contains(member) { return true }
    return removed.contains(member) ? false : nil
  }

  /// At the end when ordered.
  mutating func add(_ member: ObjectReference) {
    if contains(member) { return }
    places?[member] = members.count
    members.append(member)
    if removed.remove(member) == nil { added.insert(member) }
    hasBeenChanged = true
  }

  /// The same for one that another writer has added, which is no change.
  mutating func addSaved(_ member: ObjectReference) {
    if contains(member) { return }
    places?[member] = members.count
    members.append(member)
    if removed.remove(member) == nil { saved.append(member) }
  }

  mutating func remove(_ member: ObjectReference) {
    guard contains(member), let place = places?.removeValue(forKey: member) else { return }
    if isOrdered {
      // From the end, which is where `set` begins to remove.
      if let place = members.lastIndex(of: member) { members.remove(at: place) }
    } else {
      let last = members.removeLast()
      if last != member {
        members[place] = last
        places?[last] = place
      }
    }
    if added.remove(member) == nil { removed.insert(member) }
    hasBeenChanged = true
  }

  /// What was saved, and no object takes away, is a member again, behind the one that it was saved behind.
  mutating func takeBack(_ member: ObjectReference) {
    guard !contains(member), let end = saved.firstIndex(of: member) else { return }
    let known = Set(members)
    let before = saved[..<end].last(where: known.contains)
    members.insert(member, at: before.flatMap { members.firstIndex(of: $0) }.map { $0 + 1 } ?? 0)
    removed.remove(member)
    places = nil
  }

  /// Has the same members in another order.
  mutating func reorder(_ order: [ObjectReference]) {
    members = order
    hasBeenChanged = true
  }

  /// That others say so makes how they differ from the saved ones a change of this relationship too.
  mutating func noteChange() { hasBeenChanged = true }

  /// What is in memory is now what is saved.
  mutating func commit() {
    saved = members
    added = []
    removed = []
    hasBeenChanged = false
  }

  /// Whether some of them are members, or were when it was saved.
  func mentions(_ references: Set<ObjectReference>) -> Bool {
    members.contains(where: references.contains) || saved.contains(where: references.contains)
  }

  /// Drops objects that are gone from the store: no change of this relationship.
  mutating func forget(_ gone: Set<ObjectReference>) {
    if !mentions(gone) { return }
    members.removeAll(where: gone.contains)
    saved.removeAll(where: gone.contains)
    added.subtract(gone)
    removed.subtract(gone)
    places = nil
  }

  /// The store has come to hold other members: what was added and removed here stays so.
  mutating func rebase(onto present: [ObjectReference]) {
    let before = Set(saved), now = Set(present)
    members.removeAll { before.contains($0) && !now.contains($0) }
    let known = Set(members)
    members += present.filter { !before.contains($0) && !known.contains($0) }
    saved = present
    added = Set(members).subtracting(now)
    removed = now.subtracting(members)
    places = nil
  }

  /// The store has come to hold other members: a save makes them those that are here.
  mutating func overwrite(_ present: [ObjectReference]) {
    saved = present
    added = Set(members).subtracting(present)
    removed = Set(present).subtracting(members)
    hasBeenChanged = true
  }

  /// Objects got permanent ids.
  mutating func replace(_ permanent: [ObjectReference: ObjectReference]) {
    func renamed(_ reference: ObjectReference) -> ObjectReference { permanent[reference] ?? reference }
    if !members.contains(where: { permanent[$0] != nil }), !saved.contains(where: { permanent[$0] != nil }) { return }
    members = members.map(renamed)
    saved = saved.map(renamed)
    added = Set(added.map(renamed))
    removed = Set(removed.map(renamed))
    places = nil
  }

  private mutating func knownPlaces() -> [ObjectReference: Int] {
    if let places { return places }
    let made = Dictionary(members.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    places = made
    return made
  }
}

extension [ObjectReference] {
  /// Whether those that are in both stand in another order than in `other`.
  func isReordered(from other: [ObjectReference]) -> Bool {
    if self == other { return false }
    let own = Set(self), theirs = Set(other)
    return filter(theirs.contains) != other.filter(own.contains)
  }
}
