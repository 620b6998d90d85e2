/// One refused save under way: the objects that other writers have changed too come to terms with the rows as they are
/// now, by the merge policy. The save is tried again after that.
final class SettleSession {
  private let context: Context
  private let failure: Failure
  /// Objects whose rows others have deleted, and that earlier rounds have had inserted again.
  private(set) var reinserted: Set<ObjectReference>

  private var disputes: [Dispute] = []
  private var decided: [(dispute: Dispute, policy: MergePolicy)] = []
  /// The members of these objects as they are before others that are settled let go of them.
  private var formerMembers: [ObjectIdentifier: [Int: ToManyMembers]] = [:]
  private var settlements: [Settlement] = []
  /// Deletions that stay, although others have had rows refer to what is deleted.
  private var deletions: [Dispute] = []
  /// Objects that get a row again.
  private var returning: [ManagedObject] = []
  private var gone: Set<ObjectReference> = []

  /// One object in conflict, with what is needed to settle that.
  private struct Dispute {
    let conflict: Conflict
    let row: Row?
    /// Why the save was refused, as the source put it.
    let failure: Failure
    /// What was made to refer to an object that is to be deleted, by the inverse of which relationship.
    let holders: [(row: RowIdentifier, relationship: Relationship)]

    var object: ManagedObject { conflict.object }

    /// The failure for the caller, with the conflict.
    var reported: Failure {
      Failure(
        .conflict, failure.message.string, about: failure.offender, report: ConflictReport(conflicts: [conflict]))
    }
  }

  init(_ failure: Failure, in context: Context, reinserted: Set<ObjectReference>) {
    self.failure = failure
    self.context = context
    self.reinserted = reinserted
  }

  /// In the last round no policy counts. Objects change only when all conflicts are decided.
  ///
  /// The rows are those of `move`, which is accepted when all is decided.
  func run(isLastRound: Bool, _ move: Move) throws(Failure) {
    try findDisputes(move)
    try decide(isLastRound)
    move.accept()
    context.noteNewValues()
    noteMembers()
    for (dispute, policy) in decided { settle(dispute, by: policy) }
    try finishSettlements()
    for dispute in deletions { try insist(on: dispute) }
    try insertAgain()
    context.forgetMembers(gone)
    context.runHooks(.mergePolicy, decided.map(\.dispute.object).filter(\.isLive))
    try context.throwHookFailure()
  }

  // MARK: What is in conflict

  /// Reads the rows of the objects that the failure is about; throws it when it is about something else.
  private func findDisputes(_ move: Move) throws(Failure) {
    var order: [ObjectReference] = []
    var found: [ObjectReference: Failure] = [:]
    var holders: [ObjectReference: [(row: RowIdentifier, relationship: Relationship)]] = [:]
    for part in failure.details.isEmpty ? [failure] : failure.details {
      let reference = try disputed(part)
      if case .referred(_, let holder, let relationship) = part.report as? SaveConflict {
        holders[reference, default: []].append((holder, relationship))
      }
      if found.updateValue(part, forKey: reference) == nil { order.append(reference) }
    }
    let rows = try move.read { () throws(Failure) in try context.storedRows(order) }
    for reference in order {
      guard let part = found[reference] else { continue }
      try note(part, reference, row: rows[reference], holders[reference] ?? [])
    }
  }

  /// What a part of the failure is about. That no policy can settle fails as it is.
  private func disputed(_ part: Failure) throws(Failure) -> ObjectReference {
    switch part.report as? SaveConflict {
    case .changed(let reference), .missing(let reference), .referred(let reference, _, _): return reference
    case .taken(let reference) where reinserted.contains(reference) || hasReturned(reference): return reference
    case .taken, nil: throw failure
    }
  }

  /// Whether an object that is to be inserted was stored before: its deletion was undone, here and by another writer.
  /// Unsaved objects of a parent have no versions, but there no other writer assigns ids.
  private func hasReturned(_ reference: ObjectReference) -> Bool {
    context.source.holdsObjects || (context.registeredObject(reference)?.version ?? 0) > 0
  }

  private func note(
    _ failure: Failure, _ reference: ObjectReference, row: Row?,
    _ holders: [(row: RowIdentifier, relationship: Relationship)]
  ) throws(Failure) {
    guard let entity = context.model.entity(numbered: reference.root) else { return }
    let object = try disputedObject(reference, entity, row)
    // A row of another entity is not the one that was read.
    let row = row.flatMap { $0.entity === object.entity ? $0 : nil }
    var other: ManagedObject?
    if let (holder, relationship) = holders.first, let entity = context.model.entity(numbered: Int(holder.entity)) {
      other = context.object(
        ObjectReference(root: relationship.destination.rootNumber, id: holder.id), entity: entity)
    }
    let kind: Conflict.Kind = row == nil ? .deleted : holders.isEmpty ? .changed : .referred
    let conflict = Conflict(kind, object, other: other, stored: row)
    disputes.append(Dispute(conflict: conflict, row: row, failure: failure, holders: holders))
  }

  /// The object of a row that is gone by now is one where the context still is.
  private func disputedObject(
    _ reference: ObjectReference, _ root: Entity, _ row: Row?
  ) throws(Failure) -> ManagedObject {
    if let row { return context.object(reference, entity: row.entity) }
    if let object = context.registeredObject(reference) { return object }
    let known = try context.source.rows(root: root, ids: [reference.id]).first
    return known.map { context.object(for: $0) } ?? context.object(reference, entity: root)
  }

  private func decide(_ isLastRound: Bool) throws(Failure) {
    var unresolved: [Dispute] = []
    for dispute in disputes {
      let policy = isLastRound ? MergePolicy.error : context.policy(for: dispute.conflict)
      if policy == .error { unresolved.append(dispute) } else { decided.append((dispute, policy)) }
    }
    guard let first = unresolved.first else { return }
    if unresolved.count == 1 { throw first.reported }
    throw Failure(
      .conflict,
      "\(unresolved.count) objects are in conflict with another writer. The first: \(first.failure.message)",
      details: unresolved.map(\.reported), report: ConflictReport(conflicts: unresolved.map(\.conflict)))
  }

  private func noteMembers() {
    for (dispute, _) in decided where formerMembers[ObjectIdentifier(dispute.object)] == nil {
      formerMembers[ObjectIdentifier(dispute.object)] = dispute.object.toMany
    }
  }

  // MARK: Settling

  private func settle(_ dispute: Dispute, by policy: MergePolicy) {
    let object = dispute.object
    context.settledCount += 1
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
      context.markGone(object)
      gone.insert(object.reference)
    }
  }

  private func finishSettlements() throws(Failure) {
    var waiting = Set(settlements.map { ObjectIdentifier($0.object) })
    for settlement in settlements {
      waiting.remove(ObjectIdentifier(settlement.object))
      try settlement.finish(before: waiting)
    }
  }

  /// Another writer has had rows refer to an object that is to be deleted, and is.
  private func insist(on dispute: Dispute) throws(Failure) {
    try context.reread(dispute.holders.map { ObjectReference(root: $1.destination.rootNumber, id: $0.id) })
    // A reference of which the row of the deleted object does not know is out of the reach of its rules.
    for (holder, relationship) in dispute.holders where !relationship.isToMany {
      guard let inverse = relationship.inverse,
        case let reference = ObjectReference(root: relationship.destination.rootNumber, id: holder.id),
        let other = try context.object(reference, of: relationship.destination), other.isLive,
        try other.isStillStored(), case .object(let box) = other.values[inverse.slot],
        box.reference == dispute.object.reference
      else { continue }
      if relationship.deleteRule == .nullify { other.write(.nil, at: inverse.slot) }
      if relationship.deleteRule == .cascade { context.markDeleted(other) }
    }
    dispute.object.deleteAgain()
  }

  private func insertAgain() throws(Failure) {
    for object in returning {
      try object.insertAgain(formerMembers[ObjectIdentifier(object)] ?? [:])
      reinserted.insert(object.reference)
    }
  }
}
