/// What the deletion of an object does to those that it relates to.
extension ManagedObject {
  /// What a deleted object still relates to. Those that were given to another meanwhile are no longer its concern.
  func remainingObjects(of relationship: Relationship) throws(Failure) -> [ManagedObject] {
    var references: [ObjectReference] = []
    if relationship.isToMany {
      references = try members(of: relationship)
    } else if !isFault, case .object(let box) = values[relationship.slot] {
      references = [box.reference]
    }
    var remaining: [ManagedObject] = []
    for reference in references {
      guard let other = try context.object(reference, of: relationship.destination), other.isLive,
        try other.isStillStored()
      else { continue }
      if let inverse = relationship.inverse {
        if inverse.isToMany {
          if other.toMany[inverse.slot]?.contains(self.reference) == false { continue }
        } else {
          guard case .object(let box) = other.values[inverse.slot], box.reference == self.reference else { continue }
        }
      }
      remaining.append(other)
    }
    return remaining
  }

  /// Takes a deleted object out of everything that it related to. Returns the objects to delete with it.
  func applyDeleteRules(cascades: Bool) throws(Failure) -> [ManagedObject] {
    var cascade: [ManagedObject] = []
    for relationship in entity.relationships where relationship.hasDeleteRule {
      for other in try remainingObjects(of: relationship) {
        if relationship.deleteRule == .cascade, cascades {
          cascade.append(other)
        } else if relationship.deleteRule == .nullify || relationship.deleteRule == .cascade,
          let inverse = relationship.inverse, try other.isPrepared(for: inverse)
        {
          other.detach(self, from: inverse)
        }
      }
    }
    return cascade
  }
}
