/// One save under way that has broken uniqueness constraints: objects with the unique values of another are settled by
/// the merge policy. A new one is folded into the one that was there before. The save is tried again after that.
final class DuplicateSession {
  private let context: Context
  private let failure: Failure
  private let constraints: [UniquenessConstraint]
  private var duplicates: [Duplicate] = []
  private var found: Set<ObjectIdentifier> = []
  /// The object that keeps each unique value: one with its row, or else the first pending object with that value.
  private var holders: [UniqueKey: (object: ManagedObject, row: Row?)] = [:]
  /// Slots in which a policy gives objects their saved values back.
  private var returned: [ObjectIdentifier: Set<Int>] = [:]
  /// Objects that had no values before.
  private var read: [ManagedObject] = []
  private var decided: [(duplicate: Duplicate, policy: MergePolicy)] = []

  private struct Duplicate {
    let conflict: Conflict
    let object: ManagedObject
    let other: ManagedObject
    let constraint: UniquenessConstraint
    let row: Row?

    /// Two rows cannot become one; a saved object can only lose its change.
    func canSettle(by policy: MergePolicy) -> Bool {
      switch policy {
      case .error: false
      case .objectWins, .overwrite: object.state == .inserted && other.entity.isKind(of: object.entity)
      case .storeWins, .rollback: object.state != .inserted || other.entity.isKind(of: object.entity)
      }
    }
  }

  init(_ failure: Failure, in context: Context) {
    self.failure = failure
    self.context = context
    constraints = context.store.uniquenessConstraints
  }

  /// In the last round no policy counts. Objects change only when all duplicates are decided.
  ///
  /// The rows are those of `move`, which is accepted when all is decided.
  func run(isLastRound: Bool, _ move: Move) throws(Failure) {
    do throws(Failure) {
      try move.read { () throws(Failure) in
        for constraint in constraints { try findDuplicates(constraint) }
      }
      if duplicates.isEmpty { throw failure }
      try decide(isLastRound, move)
    } catch {
      // They were read ahead of the context, which stays where it is.
      for object in read where object.state == .saved && !object.isUpdated { object.forgetValues() }
      throw error
    }
    move.accept()
    context.noteNewValues()
    for (duplicate, policy) in decided { try settle(duplicate, by: policy) }
    runHooks()
    try context.throwHookFailure()
  }

  // MARK: What is in conflict

  /// Finds pending objects with the unique values of a row that stays, or of another pending object, each at most once.
  private func findDuplicates(_ constraint: UniquenessConstraint) throws(Failure) {
    // A saved object keeps its row, whichever came first.
    let candidates = context.pending.updated.filter { isVacated($0, constraint) } + Array(context.pending.inserted)
    for object in candidates where object.entity.isKind(of: constraint.entity) && !object.isFault {
      guard let key = UniqueKey(constraint, of: object.values) else { continue }
      if holders[key] == nil {
        holders[key] = try storedHolder(of: key, constraint, besides: object) ?? (object, nil)
      }
      if let (other, row) = holders[key], other !== object { note(object, constraint, other, row) }
    }
  }

  private func note(_ object: ManagedObject, _ constraint: UniquenessConstraint, _ other: ManagedObject, _ row: Row?) {
    if !found.insert(ObjectIdentifier(object)).inserted { return }
    let conflict = Conflict(.unique, object, other: other, stored: row)
    duplicates.append(Duplicate(conflict: conflict, object: object, other: other, constraint: constraint, row: row))
  }

  /// Finds the pending objects that were to have the unique values which this object gets back.
  private func findHeirs(of object: ManagedObject) throws(Failure) {
    for constraint in constraints where object.entity.isKind(of: constraint.entity) {
      guard !isVacated(object, constraint), let key = UniqueKey(constraint, of: object.committedValues),
        let heir = holders[key]?.object, heir !== object,
        let (other, row) = try storedHolder(of: key, constraint, besides: heir)
      else { continue }
      holders[key] = (other, row)
      note(heir, constraint, other, row)
    }
  }

  /// Whether the unique values in an object's row are free when this is saved.
  private func isVacated(_ object: ManagedObject, _ constraint: UniquenessConstraint) -> Bool {
    if object.state == .deleted { return true }
    let kept = returned[ObjectIdentifier(object)] ?? []
    return constraint.properties.contains { object.committed[$0.slot] != nil && !kept.contains($0.slot) }
  }

  /// The row that has unique values and keeps them, with its object.
  private func storedHolder(
    of key: UniqueKey, _ constraint: UniquenessConstraint, besides object: ManagedObject
  ) throws(Failure) -> (object: ManagedObject, row: Row)? {
    guard let row = try context.source.moment.row(with: key, of: constraint) else { return nil }
    let reference = ObjectReference(root: row.entity.rootNumber, id: row.id)
    if let holder = context.registeredObject(reference), holder === object || isVacated(holder, constraint) {
      return nil
    }
    let isRead = context.registeredObject(reference)?.isFault == false
    let holder = context.object(for: row)
    if !isRead { read.append(holder) }
    return (holder, row)
  }

  private func decide(_ isLastRound: Bool, _ move: Move) throws(Failure) {
    var unresolved: [Conflict] = []
    var next = 0
    while next < duplicates.count {
      let duplicate = duplicates[next], object = duplicate.object
      next += 1
      let policy = isLastRound ? MergePolicy.error : context.policy(for: duplicate.conflict)
      guard duplicate.canSettle(by: policy) else {
        unresolved.append(duplicate.conflict)
        continue
      }
      decided.append((duplicate, policy))
      if object.state == .inserted { continue }
      let slots = policy == .rollback ? Array(object.committed.keys) : duplicate.constraint.properties.map(\.slot)
      returned[ObjectIdentifier(object), default: []].formUnion(slots)
      try move.read { () throws(Failure) in try findHeirs(of: object) }
    }
    if unresolved.isEmpty { return }
    throw Failure(
      .constraint, failure.message.string, about: failure.offender, databaseCode: failure.databaseCode,
      report: ConflictReport(conflicts: unresolved))
  }

  // MARK: Settling

  private func settle(_ duplicate: Duplicate, by policy: MergePolicy) throws(Failure) {
    context.settledCount += 1
    let object = duplicate.object
    if object.state == .inserted {
      if duplicate.row != nil { try context.reread(CollectionOfOne(duplicate.other.reference)) }
      try fold(object, into: duplicate.other, by: policy)
    } else if policy == .rollback {
      if let row = try context.storedRows(CollectionOfOne(object.reference))[object.reference] {
        try object.settle(onto: row, by: .rollback)?.finish()
      }
    } else {
      try giveUp(duplicate.constraint.properties, of: object)
    }
  }

  /// Has some properties go back to the values that they have in the store.
  private func giveUp(_ properties: [Property], of object: ManagedObject) throws(Failure) {
    for property in properties {
      guard let saved = object.committed[property.slot] else { continue }
      guard let relationship = property as? Relationship else {
        object.write(saved, at: property.slot)
        continue
      }
      var target: ManagedObject?
      if case .object(let box) = saved {
        target = try context.object(box.reference, of: relationship.destination)
      }
      try object.relate(to: target, through: relationship)
    }
  }

  /// Of each object that stays once.
  private func runHooks() {
    var settled: Set<ObjectIdentifier> = []
    for (duplicate, _) in decided {
      let survivor = duplicate.object.isLive ? duplicate.object : duplicate.other
      if survivor.isLive, settled.insert(ObjectIdentifier(survivor)).inserted {
        context.runHooks(.mergePolicy, [survivor])
      }
    }
  }
}

// MARK: Folding

extension DuplicateSession {
  /// Drops a new object in favour of another, which gets its values as the policy says, and whatever referred to it.
  private func fold(_ object: ManagedObject, into other: ManagedObject, by policy: MergePolicy) throws(Failure) {
    if !object.isLive || !other.isLive || object === other { return }
    try other.fulfil()
    for property in object.entity.properties {
      if property.isDerived { continue }
      if let attribute = property as? Attribute {
        moveValue(of: attribute, from: object, to: other, by: policy)
      } else if let relationship = property as? Relationship {
        if relationship.isToMany {
          try moveMembers(of: relationship, from: object, to: other, by: policy)
        } else {
          try moveTarget(of: relationship, from: object, to: other, by: policy)
        }
      }
    }
    redirectLooseReferences(from: object, to: other)
    context.markGone(object)
  }

  private func moveValue(
    of attribute: Attribute, from object: ManagedObject, to other: ManagedObject, by policy: MergePolicy
  ) {
    let mine = object.values[attribute.slot]
    let isTaken =
      switch policy {
      case .overwrite: true
      case .objectWins: !mine.isIdentical(to: attribute.defaultValue)
      case .storeWins: other.values[attribute.slot].isNil && !mine.isIdentical(to: attribute.defaultValue)
      case .error, .rollback: false
      }
    if isTaken { other.write(mine, at: attribute.slot) }
  }

  private func moveTarget(
    of relationship: Relationship, from object: ManagedObject, to other: ManagedObject, by policy: MergePolicy
  ) throws(Failure) {
    let slot = relationship.slot
    guard case .object(let box) = object.values[slot],
      let target = try context.object(box.reference, of: relationship.destination), target.isLive
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
    let loose = context.model.entities.flatMap(\.ownRelationships).filter {
      $0.inverse == nil && $0.destination.rootNumber == root
    }
    if loose.isEmpty { return }
    for holder in context.pending.insertedAndUpdated where holder !== object && !holder.isFault {
      for relationship in loose where holder.entity.isKind(of: relationship.entity) {
        let slot = relationship.slot
        if relationship.isToMany {
          guard holder.toMany[slot]?.contains(object.reference) == true else { continue }
          holder.toMany[slot]?.remove(object.reference)
          holder.toMany[slot]?.add(other.reference)
          context.touch(holder, at: slot)
        } else if case .object(let box) = holder.values[slot], box.reference == object.reference {
          holder.write(.object(other.reference), at: slot)
        }
      }
    }
  }
}
