/// Notes what changes, with undo, with what is pending and for observers.
extension Context {
  // MARK: Values

  /// Has observers look at `object` again, whether it changed or not.
  func touch(_ object: ManagedObject) {
    object.unheard.properties = .all
    note(object)
  }

  /// Notes to what an object refers. Observers may hear of it when its values are gone.
  func noteTargets(of object: ManagedObject) {
    if object.isFault { return }
    for each in object.entity.relationships where !each.isToMany {
      object.unheard.notePassing(object.values[each.slot], at: each.slot)
    }
  }

  private func note(_ object: ManagedObject) {
    object.unheard.time = clock.noteChange()
    announcer.note(object)
    pending.noteChange(of: object)
    hookState.changedInSave?.insert(object)
  }

  /// Notes a change of one property. For an attribute or a to-one relationship it has the value before. Files the
  /// object among the changed ones if it differs from the store.
  func touch(_ object: ManagedObject, at slot: Int, from old: Value? = nil) {
    // While observers are being notified, some know the old value and some the new one.
    if let old, !isNotifying {
      object.unheard.remember(old, at: slot)
    } else {
      object.unheard.properties.insert(slot: slot)
      if let old { object.unheard.notePassing(old, at: slot) }
    }
    note(object)
    pending.sort(object)
  }

  // MARK: Life

  /// Notes that `object` is about to come, go or return.
  func touchLife(of object: ManagedObject, isLive: Bool) {
    if isLive { noteTargets(of: object) }
    if isNotifying {
      object.unheard.properties = .all
    } else if object.unheard.wasLive == nil {
      object.unheard.wasLive = isLive
    }
    note(object)
  }

  func markInserted(_ object: ManagedObject) {
    undoManager?.noteArrival(of: object)
    touchLife(of: object, isLive: false)
    pending.insert(object)
  }

  /// Files an object as deleted, and among the cancelled inserts if its insertion was taken back.
  func markDeleted(_ object: ManagedObject, isCancelledInsert: Bool = false) {
    undoManager?.noteDeparture(of: object)
    touchLife(of: object, isLive: object.isLive)
    pending.delete(object, isCancelledInsert: isCancelledInsert)
  }

  /// Has a deleted object back: its row is still there and to stay, or there is to be one again, with the same id.
  func markReturned(_ object: ManagedObject) {
    undoManager?.noteArrival(of: object)
    touchLife(of: object, isLive: false)
    pending.takeBack(object)
    table.takeBack(object)
  }

  /// Takes an object out of everything whose row is no longer there, other than by a save of this context.
  func markGone(_ object: ManagedObject) {
    if object.isLive { touchLife(of: object, isLive: true) }
    pending.drop(object)
    table.unregister(object.reference)
  }

  /// A deletion is taken back.
  func markRevived(_ object: ManagedObject) {
    touchLife(of: object, isLive: false)
    pending.revive(object)
  }
}
