/// What a move leaves as it was read, because it has pending changes.
extension StoreChange {
  /// Removes what is about objects with pending changes; returns that, for a later merge. Rows are read where the
  /// context moves to.
  mutating func removePending(in context: Context) throws(Failure) -> StoreChange {
    func isPending(_ row: RowIdentifier) -> Bool {
      guard let object = context.registeredObject(row) else { return false }
      return object.state == .inserted || object.state == .deleted || object.isUpdated
    }
    func removePending(_ rows: inout ContiguousArray<RowIdentifier>) -> ContiguousArray<RowIdentifier> {
      let pending = ContiguousArray(rows.filter(isPending))
      if !pending.isEmpty { rows.removeAll(where: Set(pending).contains) }
      return pending
    }
    var left = StoreChange()
    left.inserted = removePending(&inserted)
    left.updated = removePending(&updated)
    left.returned = removePending(&returned)
    left.deleted = removePending(&deleted)
    for place in membershipChanges.indices {
      let (relationship, owners) = membershipChanges[place]
      let pending = owners.filter { owner in
        let reference = ObjectReference(root: relationship.entity.rootNumber, id: owner.id)
        return context.registeredObject(reference).map { isPending($0.identifier) } ?? false
      }
      if pending.isEmpty { continue }
      left.membershipChanges.append((relationship, pending))
      membershipChanges[place].owners = owners.filter(Set(owners).subtracting(pending).contains)
    }
    left.membershipChanges += try left.ownersOfUpdated(in: context)
    return left
  }

  /// The objects to which updated rows come to belong, or cease to. They may be read before these rows are taken over,
  /// and have other members then once more.
  private func ownersOfUpdated(
    in context: Context
  ) throws(Failure) -> [(relationship: Relationship, owners: [RowIdentifier])] {
    let references = updated.compactMap { context.reference(of: $0) }
    if references.isEmpty { return [] }
    let rows = try context.storedRows(references)
    var found: [(relationship: Relationship, owners: [RowIdentifier])] = []
    for reference in references {
      guard let object = context.registeredObject(reference), !object.isFault, let row = rows[reference],
        row.entity === object.entity
      else { continue }
      for relationship in object.entity.relationships where !relationship.isToMany && !relationship.isTransient {
        guard let inverse = relationship.inverse, inverse.isToMany else { continue }
        let slot = relationship.slot
        let former = object.committed[slot] ?? object.values[slot], present = row.values[slot]
        if former.isIdentical(to: present) { continue }
        for case .object(let box) in [former, present] {
          found.append((inverse, [RowIdentifier(id: box.reference.id, entity: Int32(inverse.entity.number))]))
        }
      }
    }
    return found
  }
}
