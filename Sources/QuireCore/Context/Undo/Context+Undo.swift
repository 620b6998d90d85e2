extension Context {
  // MARK: Settings

  /// Has changes be noted from now on, so that they can be undone. 0 levels are any number.
  func enableUndo(levels: Int) throws(Failure) {
    try checkMayEndStep()
    if let undoManager {
      undoManager.levels = levels
    } else {
      // The rules of what was deleted before would otherwise look like changes of their own.
      try propagateDeletes()
      undoManager = UndoManager(levels: levels)
    }
  }

  func disableUndo() throws(Failure) {
    try checkNotReverting()
    undoManager = nil
  }

  /// Delete rules belong to the deletion, whether that is noted or not.
  func setUndoRegistration(_ isRegistering: Bool) throws(Failure) {
    let undoManager = try requiredUndoManager()
    if undoManager.isRegistering == isRegistering { return }
    try propagateDeletes()
    undoManager.isRegistering = isRegistering
  }

  func removeAllUndoActions() throws(Failure) {
    try checkNotReverting()
    try requiredUndoManager().removeAllActions()
  }

  // MARK: Groups

  /// What is not processed yet belongs to the group before it.
  func beginUndoGroup(named name: Text?) throws(Failure) {
    let undoManager = try requiredUndoManager()
    try checkNotReverting()
    if undoManager.depth == 0 {
      try process()
      undoManager.closeEvent()
    }
    undoManager.beginGroup(named: name)
  }

  /// Ends the innermost group. With the outermost one changes are processed, so that delete rules belong to it; it ends
  /// even when that fails.
  func endUndoGroup() throws(Failure) {
    let undoManager = try requiredUndoManager()
    if undoManager.depth == 0 {
      throw Failure(.invalidState, "No undo group is open. Begin one first (quire_context_begin_undo_group).")
    }
    defer { undoManager.endGroup() }
    if undoManager.depth == 1 { try process() }
  }

  // MARK: Undoing

  /// Takes back what the last group changed, if there is one. What cannot be had back any more, because its row is gone
  /// from the store, is left out. On failure nothing has changed. Returns the objects that were looked
  /// at.
  @discardableResult
  func undo() throws(Failure) -> [ManagedObject] { try revert(.undo) }

  /// Does again what was undone last, if nothing else has changed since.
  @discardableResult
  func redo() throws(Failure) -> [ManagedObject] { try revert(.redo) }

  private func revert(_ direction: UndoManager.Direction) throws(Failure) -> [ManagedObject] {
    let undoManager = try requiredUndoManager()
    try checkNotReverting()
    if undoManager.depth > 0 {
      throw Failure(.invalidState, "An undo group is open. End it first (quire_context_end_undo_group).")
    }
    try process()
    undoManager.closeEvent()
    guard let group = undoManager.last(direction) else { return [] }
    return try UndoSession(group, direction, of: undoManager, in: self).run()
  }

  private func requiredUndoManager() throws(Failure) -> UndoManager {
    try checkMayEndStep()
    if let undoManager { return undoManager }
    throw Failure(.invalidState, "Undo is off in this context. Turn it on first (quire_context_enable_undo).")
  }

  // MARK: Holders

  /// Notes which objects still hold one that was away, because no delete rule made them let go.
  func noteHolders(
    of object: ManagedObject, among references: [ObjectReference], in relationship: Relationship
  ) throws(Failure) {
    guard let inverse = relationship.inverse else { return }
    for reference in references {
      guard let other = try self.object(reference, of: relationship.destination), other.isLive,
        try other.isStillStored(), case .object(let box) = other.values[inverse.slot],
        box.reference == object.reference
      else { continue }
      pending.noteHolder(other, of: object.reference)
    }
  }

  // MARK: Deletions

  /// Reads what the deletion of an object takes away from it.
  func prepareUndo(ofDeleting object: ManagedObject) throws(Failure) {
    guard undoManager?.isNoting == true else { return }
    try object.fulfil()
    for relationship in object.entity.relationships {
      if relationship.isToMany {
        if !relationship.followsFromInverse || relationship.deleteRule == .noAction {
          _ = try object.members(of: relationship)
        }
      } else if let inverse = relationship.inverse, inverse.isOrdered, relationship.deleteRule == .noAction,
        let holder = try object.object(of: relationship), holder.isLive, try holder.isStillStored()
      {
        _ = try holder.members(of: inverse)
        undoManager?.note(holder.toMany[inverse.slot], of: inverse, in: holder)
      }
    }
  }

  /// Notes which objects hold deleted ones in relationships of which these know nothing. A save takes them out.
  func noteHolders(of deleted: [ManagedObject]) throws(Failure) {
    guard let undoManager, undoManager.isNoting else { return }
    for relationship in exposedRelationships(to: deleted) where relationship.isToMany && relationship.inverse == nil {
      let root = relationship.destination.rootNumber
      let concerned = deleted.filter { $0.entity.rootNumber == root && $0.id > 0 }.map(\.reference)
      for id in try source.owners(of: concerned, through: relationship, from: relationship.entity) {
        let reference = ObjectReference(root: relationship.entity.rootNumber, id: id)
        guard let holder = try object(reference, of: relationship.entity), holder.isLive else { continue }
        _ = try holder.members(of: relationship)
        undoManager.note(holder.toMany[relationship.slot], of: relationship, in: holder)
      }
    }
  }
}
