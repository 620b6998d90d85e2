/// Saving against other writers: what is in conflict is settled by the merge policy, outside of any transaction, and
/// the save is tried again.
extension Context {
  /// More than any sensible number of writers comes to get in between.
  private static let mostAttempts = 20

  /// One object in conflict, with what is needed to settle that.
  private struct Dispute {
    let conflict: Conflict
    let row: Row?
    /// Why the save was refused, as the store put it.
    let failure: Failure
    /// Who was made to refer to an object that is to be deleted, by the inverse of which relationship.
    var holders: [(RowIdentifier, Relationship)] = []

    /// The failure for the caller, with the conflict.
    var reported: Failure {
      Failure(
        .conflict, failure.message.string, about: failure.offender, report: ConflictReport(conflicts: [conflict]))
    }
  }

  /// Writes everything pending; on failure nothing was written, but what could be settled is settled here.
  func writeSettlingConflicts() throws(Failure) -> (request: SaveRequest, result: SaveResult?) {
    var reinserted: Set<ObjectReference> = []
    var round = 1
    while true {
      let request = try saveRequest()
      do throws(Failure) {
        return (request, try source.save(request, of: self))
      } catch {
        // What is settled is none of the caller's doing.
        undoManager?.isPaused = true
        defer { undoManager?.isPaused = false }
        switch error.kind {
        case .conflict:
          hasConflicted = true
          try settle(error, isLastRound: round == Context.mostAttempts, &reinserted)
        case .constraint:
          try settleDuplicates(error, isLastRound: round == Context.mostAttempts)
        default: throw error
        }
        try propagateDeletes()
      }
      round += 1
      try process()
      if !hasChanges { return (SaveRequest(), nil) }
      try Validation.check(self)
    }
  }

  private func settle(
    _ failure: Failure, isLastRound: Bool, _ reinserted: inout Set<ObjectReference>
  ) throws(Failure) {
    guard let disputes = try disputes(failure, reinserted) else { throw failure }
    var decided: [(Dispute, MergePolicy)] = []
    var unresolved: [Dispute] = []
    for dispute in disputes {
      let policy = isLastRound ? MergePolicy.error : self.policy(for: dispute.conflict)
      if policy == .error { unresolved.append(dispute) } else { decided.append((dispute, policy)) }
    }
    if let first = unresolved.first {
      let conflicts = unresolved.map(\.conflict)
      if unresolved.count == 1 {
        throw first.reported
      }
      throw Failure(
        .conflict,
        "\(unresolved.count) objects are in conflict with another writer. The first: \(first.failure.message)",
        details: unresolved.map(\.reported), report: ConflictReport(conflicts: conflicts))
    }
    clock.noteNewValues()
    var gone: Set<ObjectReference> = []
    var returning: [ManagedObject] = []
    // As they are before others that are settled let go of them.
    let formerMembers = Dictionary(
      decided.map { (ObjectIdentifier($0.0.conflict.object), $0.0.conflict.object.toMany) },
      uniquingKeysWith: { first, _ in first })
    var settlements: [Settlement] = [], deletions: [Dispute] = []
    for (dispute, policy) in decided {
      let object = dispute.conflict.object
      settledCount += 1
      if dispute.conflict.kind == .referred, policy != .storeWins, policy != .rollback {
        deletions.append(dispute)
      } else if dispute.conflict.kind == .referred {
        if let row = dispute.row { settlements.append(object.revive(from: row)) }
      } else if let row = dispute.row {
        if object.state == .inserted {
          reinserted.remove(object.reference)
          object.becomeStored(as: row)
        }
        if let settlement = object.settle(onto: row, by: policy) { settlements.append(settlement) }
      } else if object.isUpdated, !object.isFault, policy == .objectWins || policy == .overwrite {
        returning.append(object)
      } else {
        markGone(object)
        gone.insert(object.reference)
      }
    }
    var waiting = Set(settlements.map { ObjectIdentifier($0.object) })
    for settlement in settlements {
      waiting.remove(ObjectIdentifier(settlement.object))
      try settlement.finish(before: waiting)
    }
    for dispute in deletions { try insist(on: dispute.conflict.object, dispute.holders) }
    for object in returning {
      try object.insertAgain(formerMembers[ObjectIdentifier(object)] ?? [:])
      reinserted.insert(object.reference)
    }
    forgetMembers(gone)
    runHooks(.mergePolicy, decided.map(\.0.conflict.object).filter(\.isLive))
    try throwHookFailure()
  }

  /// The objects that a refused save is about; nil when it is about something that no policy can settle.
  private func disputes(_ failure: Failure, _ reinserted: Set<ObjectReference>) throws(Failure) -> [Dispute]? {
    let parts = failure.details.isEmpty ? [failure] : failure.details
    var order: [ObjectReference] = []
    var found: [ObjectReference: Failure] = [:]
    var holders: [ObjectReference: [(RowIdentifier, Relationship)]] = [:]
    for part in parts {
      let reference: ObjectReference
      switch part.report as? SaveConflict {
      case .changed(let changed): reference = changed
      case .missing(let missing): reference = missing
      case .taken(let taken) where reinserted.contains(taken) || hasReturned(taken): reference = taken
      case .referred(let deleted, let holder, let relationship):
        reference = deleted
        holders[deleted, default: []].append((holder, relationship))
      case .taken, nil: return nil
      }
      if found.updateValue(part, forKey: reference) == nil { order.append(reference) }
    }
    let rows = try storedRows(order)
    var disputes: [Dispute] = []
    for reference in order {
      guard let part = found[reference], let entity = model.entity(numbered: reference.root) else { continue }
      let object = object(reference, entity: rows[reference]?.entity ?? entity)
      // A row of another entity is not the one that was read.
      let row = rows[reference].flatMap { $0.entity === object.entity ? $0 : nil }
      let referring = holders[reference] ?? []
      var other: ManagedObject?
      if let (holder, relationship) = referring.first, let entity = model.entity(numbered: Int(holder.entity)) {
        other = self.object(ObjectReference(root: relationship.destination.rootNumber, id: holder.id), entity: entity)
      }
      let kind: Conflict.Kind = row == nil ? .deleted : referring.isEmpty ? .changed : .referred
      let conflict = Conflict(kind, object, other: other, stored: row)
      disputes.append(Dispute(conflict: conflict, row: row, failure: part, holders: referring))
    }
    return disputes
  }

  /// Whether an object that is to be inserted was stored before: its deletion was undone, here and by another writer.
  /// Of what a parent has not saved there are no versions, but nobody else gives ids of its own there.
  private func hasReturned(_ reference: ObjectReference) -> Bool {
    source.holdsObjects || (registeredObject(reference)?.version ?? 0) > 0
  }

  /// What is in the store now, by reference.
  func storedRows(_ references: some Sequence<ObjectReference>) throws(Failure) -> [ObjectReference: Row] {
    var ids: [Int: [Int64]] = [:]
    for reference in references where !reference.isTemporary { ids[reference.root, default: []].append(reference.id) }
    var rows: [ObjectReference: Row] = [:]
    for (root, ids) in ids.sorted(by: { $0.key < $1.key }) {
      guard let entity = model.entity(numbered: root) else { continue }
      for row in try source.rows(root: entity, ids: ids) { rows[ObjectReference(root: root, id: row.id)] = row }
    }
    return rows
  }

  /// Has objects show what is stored now, with what was changed here on top.
  func reread(_ references: some Sequence<ObjectReference>) throws(Failure) {
    let objects = references.compactMap { registeredObject($0) }.filter { $0.state == .saved && !$0.isFault }
    let rows = try storedRows(objects.map(\.reference))
    for object in objects {
      if let row = rows[object.reference], row.entity === object.entity { object.rebase(onto: row) }
    }
  }

  /// Another writer has had rows refer to an object that is to be deleted, and is.
  private func insist(
    on object: ManagedObject, _ holders: [(RowIdentifier, Relationship)]
  ) throws(Failure) {
    try reread(holders.map { ObjectReference(root: $1.destination.rootNumber, id: $0.id) })
    // A reference of which the row of the deleted object does not know is out of the reach of its rules.
    for (holder, relationship) in holders where !relationship.isToMany {
      guard let inverse = relationship.inverse,
        case let reference = ObjectReference(root: relationship.destination.rootNumber, id: holder.id),
        let other = try self.object(reference, of: relationship.destination), other.isLive, try other.isStillStored(),
        case .object(let box) = other.values[inverse.slot], box.reference == object.reference
      else { continue }
      if relationship.deleteRule == .nullify { other.write(.nil, at: inverse.slot) }
      if relationship.deleteRule == .cascade { markDeleted(other) }
    }
    object.deleteAgain()
  }
}
