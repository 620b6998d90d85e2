/// Objects that have the unique values of another. By policy a new one is folded into the one that was there before.
extension Context {
  private struct Duplicate {
    let conflict: Conflict
    let object: ManagedObject
    let other: ManagedObject
    let constraint: UniquenessConstraint
    let row: Row?

    /// Two rows cannot become one; a saved object can only give its change up.
    func canSettle(by policy: MergePolicy) -> Bool {
      switch policy {
      case .error: false
      case .objectWins, .overwrite: object.state == .inserted && other.entity.isKind(of: object.entity)
      case .storeWins, .rollback: object.state != .inserted || other.entity.isKind(of: object.entity)
      }
    }
  }

  /// Settles what a save with this failure has broken of uniqueness constraints, or throws it with a report.
  func settleDuplicates(_ failure: Failure, isLastRound: Bool) throws(Failure) {
    let duplicates = try duplicates()
    if duplicates.isEmpty { throw failure }
    var decided: [(Duplicate, MergePolicy)] = []
    var unresolved: [Conflict] = []
    for duplicate in duplicates {
      let policy = isLastRound ? MergePolicy.error : self.policy(for: duplicate.conflict)
      if duplicate.canSettle(by: policy) {
        decided.append((duplicate, policy))
      } else {
        unresolved.append(duplicate.conflict)
      }
    }
    if !unresolved.isEmpty {
      throw Failure(
        .constraint, failure.message.string, about: failure.offender, databaseCode: failure.databaseCode,
        report: ConflictReport(conflicts: unresolved))
    }
    clock.noteNewValues()
    for (duplicate, policy) in decided {
      settledCount += 1
      let object = duplicate.object
      if object.state == .inserted {
        if duplicate.row != nil { try reread(CollectionOfOne(duplicate.other.reference)) }
        try fold(object, into: duplicate.other, by: policy)
      } else if policy == .rollback {
        if let row = try storedRows(CollectionOfOne(object.reference))[object.reference] {
          try object.settle(onto: row, by: .rollback)?.finish()
        }
      } else {
        try object.giveUp(duplicate.constraint.properties)
      }
    }
    var settled: [ObjectIdentifier: ManagedObject] = [:]
    for (duplicate, _) in decided {
      let survivor = duplicate.object.isLive ? duplicate.object : duplicate.other
      if survivor.isLive, settled.updateValue(survivor, forKey: ObjectIdentifier(survivor)) == nil {
        runHooks(.mergePolicy, [survivor])
      }
    }
    try throwHookFailure()
  }

  /// Pending objects with the unique values of a row that stays, or of another pending object, each at most once.
  private func duplicates() throws(Failure) -> [Duplicate] {
    var duplicates: [Duplicate] = []
    var found: Set<ObjectIdentifier> = []
    for constraint in store.uniquenessConstraints() {
      func isVacated(_ object: ManagedObject) -> Bool {
        object.state == .deleted || constraint.properties.contains { object.committed[$0.slot] != nil }
      }
      // A saved object keeps its row, whichever came first.
      let candidates = pending.updated.filter(isVacated) + Array(pending.inserted)
      var holders: [UniqueKey: (ManagedObject, Row?)] = [:]
      for object in candidates where object.entity.isKind(of: constraint.entity) && !object.isFault {
        guard let key = UniqueKey(constraint, of: object.values) else { continue }
        if holders[key] == nil {
          guard let row = try source.reader.row(with: key, of: constraint) else {
            holders[key] = (object, nil)
            continue
          }
          let reference = ObjectReference(root: row.entity.rootNumber, id: row.id)
          if let holder = registeredObject(reference), holder === object || isVacated(holder) {
            holders[key] = (object, nil)
            continue
          }
          holders[key] = (self.object(for: row), row)
        }
        guard let (other, row) = holders[key], found.insert(ObjectIdentifier(object)).inserted else { continue }
        let conflict = Conflict(.unique, object, other: other, stored: row)
        duplicates.append(
          Duplicate(conflict: conflict, object: object, other: other, constraint: constraint, row: row))
      }
    }
    return duplicates
  }

  /// Drops a new object in favour of another, which gets its values as the policy says, and whatever referred to it.
  private func fold(_ object: ManagedObject, into other: ManagedObject, by policy: MergePolicy) throws(Failure) {
    if !object.isLive || !other.isLive || object === other { return }
    try other.fulfil()
    for property in object.entity.properties {
      if property.isDerived { continue }
      if let attribute = property as? Attribute {
        let mine = object.values[attribute.slot]
        let isTaken =
          switch policy {
          case .overwrite: true
          case .objectWins: !mine.isIdentical(to: attribute.defaultValue)
          case .storeWins: other.values[attribute.slot].isNil && !mine.isIdentical(to: attribute.defaultValue)
          case .error, .rollback: false
          }
        if isTaken { other.write(mine, at: attribute.slot) }
      } else if let relationship = property as? Relationship {
        if relationship.isToMany {
          try moveMembers(of: relationship, from: object, to: other, by: policy)
        } else {
          try moveTarget(of: relationship, from: object, to: other, by: policy)
        }
      }
    }
    redirectLooseReferences(from: object, to: other)
    markGone(object)
  }

  private func moveTarget(
    of relationship: Relationship, from object: ManagedObject, to other: ManagedObject, by policy: MergePolicy
  ) throws(Failure) {
    let slot = relationship.slot
    guard case .object(let box) = object.values[slot],
      let target = try self.object(box.reference, of: relationship.destination), target.isLive
    else {
      if policy == .overwrite { try other.relate(to: nil, through: relationship) }
      return
    }
    try object.relate(to: nil, through: relationship)
    if policy == .objectWins || policy == .overwrite || policy == .storeWins && other.values[slot].isNil {
      try other.relate(to: target === object ? other : target, through: relationship)
    }
  }

  private func moveMembers(
    of relationship: Relationship, from object: ManagedObject, to other: ManagedObject, by policy: MergePolicy
  ) throws(Failure) {
    for member in try object.objects(of: relationship) {
      if let inverse = relationship.inverse, !inverse.isToMany {
        // It is the member's own value that refers to the object.
        try member.fulfil()
        try member.relate(to: other, through: inverse)
      } else {
        try object.remove(member, from: relationship)
        if policy != .rollback { try other.add(member === object ? other : member, to: relationship) }
      }
    }
  }

  /// Relationships without inverse, of which the objects at the other end do not know.
  private func redirectLooseReferences(from object: ManagedObject, to other: ManagedObject) {
    let root = object.entity.rootNumber
    let loose = model.entities.flatMap(\.ownRelationships).filter {
      $0.inverse == nil && $0.destination.rootNumber == root
    }
    if loose.isEmpty { return }
    for holder in pending.insertedAndUpdated where holder !== object && !holder.isFault {
      for relationship in loose where holder.entity.isKind(of: relationship.entity) {
        let slot = relationship.slot
        if relationship.isToMany {
          guard holder.toMany[slot]?.contains(object.reference) == true else { continue }
          holder.toMany[slot]?.remove(object.reference)
          holder.toMany[slot]?.add(other.reference)
          touch(holder, at: slot)
        } else if case .object(let box) = holder.values[slot], box.reference == object.reference {
          holder.write(.object(other.reference), at: slot)
        }
      }
    }
  }
}

extension ManagedObject {
  /// Gives some properties the values back that they have in the store.
  fileprivate func giveUp(_ properties: [Property]) throws(Failure) {
    for property in properties {
      guard let saved = committed[property.slot] else { continue }
      guard let relationship = property as? Relationship else {
        write(saved, at: property.slot)
        continue
      }
      var target: ManagedObject?
      if case .object(let box) = saved { target = try context.object(box.reference, of: relationship.destination) }
      try relate(to: target, through: relationship)
    }
  }
}
