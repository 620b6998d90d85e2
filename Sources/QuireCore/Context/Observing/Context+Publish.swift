extension Context {
  /// Sends the changes of a save to the other contexts of the store.
  func publish(_ request: SaveRequest, _ result: SaveResult) {
    var publication = Publication(writer: inbox)
    if store.hasFollowers(besides: inbox) {
      publication.changes = [change(request, result)]
    } else {
      publication.late = { self.change(request, result) }
    }
    store.publish(publication)
  }

  private func change(_ request: SaveRequest, _ result: SaveResult) -> StoreChange {
    func permanent(_ reference: ObjectReference) -> Int64 {
      reference.isTemporary ? result.permanentIDs[reference] ?? reference.id : reference.id
    }
    var change = StoreChange()
    var membershipChanges = MembershipChanges()
    func note(_ value: Value?, _ relationship: Relationship) {
      guard let inverse = relationship.inverse, inverse.isToMany, case .object(let box) = value else { return }
      membershipChanges.add(inverse, permanent(box.reference))
    }
    for insert in request.inserts {
      let id = permanent(insert.reference)
      change.inserted.append(RowIdentifier(id: id, entity: Int32(insert.entity.number)))
      for relationship in insert.entity.relationships where !relationship.isToMany {
        note(insert.values[relationship.slot], relationship)
      }
    }
    for update in request.updates {
      change.updated.append(RowIdentifier(id: update.id, entity: Int32(update.entity.number)))
      let committed = registeredObject(update.reference)?.committed
      for (slot, value) in update.changes {
        guard let relationship = update.entity.properties[slot] as? Relationship else { continue }
        note(value, relationship)
        note(committed?[slot], relationship)
      }
    }
    for delete in request.deletes {
      change.deleted.append(RowIdentifier(id: delete.id, entity: Int32(delete.entity.number)))
      guard let object = registeredObject(delete.reference) else { continue }
      for relationship in delete.entity.relationships {
        let slot = relationship.slot
        if !relationship.isToMany {
          if !object.isFault { note(object.committed[slot] ?? object.values[slot], relationship) }
        } else if relationship.isManyToMany, let inverse = relationship.inverse {
          // A merge policy may have dropped what the delete rules made of them, while the pairs go with the row.
          for member in object.toMany[slot]?.saved ?? [] { membershipChanges.add(inverse, member.id) }
        }
      }
    }
    for members in request.toManyChanges {
      membershipChanges.add(members.relationship, permanent(members.owner))
      guard let inverse = members.relationship.inverse, inverse.isToMany else { continue }
      for member in members.added + members.removed { membershipChanges.add(inverse, permanent(member)) }
    }
    for (relationship, owners) in result.ownersLosingMembers {
      for owner in owners { membershipChanges.add(relationship, owner.id) }
    }
    change.membershipChanges = membershipChanges.all
    if result.derived.isEmpty { return change }
    let written = Set(change.inserted + change.updated)
    change.updated += ContiguousArray(Set(result.derived.map(\.row)).subtracting(written))
    return change
  }

  /// Owners of to-many relationships, each once.
  struct MembershipChanges {
    private var owners: [ObjectIdentifier: (relationship: Relationship, ids: Set<Int64>)] = [:]

    mutating func add(_ relationship: Relationship, _ owner: Int64) {
      owners[ObjectIdentifier(relationship), default: (relationship, [])].ids.insert(owner)
    }

    var all: [(relationship: Relationship, owners: [RowIdentifier])] {
      owners.values.map { (relationship, ids) in
        (relationship, ids.map { RowIdentifier(id: $0, entity: Int32(relationship.entity.number)) })
      }
    }
  }
}
