extension ManagedObject {
  /// Takes over the newer values of a row that was just read; pending changes of the object stay.
  ///
  /// The object then knows the row's version, so a save of changes to other properties succeeds. Where both sides have
  /// changed one property it keeps the version that it was read with. The save is a conflict then, and neither change
  /// is lost unseen. The exception is a caller that `settles` the conflict by a decision for the values here.
  func refresh(with row: Row, settles: Bool = false) {
    if state != .saved || row.entity !== entity { return }
    if isFault {
      fulfil(with: row)
      return
    }
    unheard.isUncertain = true
    let isNewer = row.version != version
    var isDisputed = isNewer && hasChangedToMany && !settles
    for property in entity.properties where !property.isTransient {
      let slot = property.slot
      if let relationship = property as? Relationship, relationship.isToMany {
        forgetMembers(of: relationship, isNewer: isNewer)
        continue
      }
      let stored = row.values[slot], present = values[slot]
      if let saved = committed[slot] {
        if present.isIdentical(to: stored) {
          noteSaved(stored, at: slot)
          context.touch(self, at: slot)
        } else if !saved.isIdentical(to: stored) {
          if settles { takeOver(stored, asSavedAt: slot) } else { isDisputed = true }
        }
      } else if !present.isIdentical(to: stored) {
        context.undoManager?.rebase(self, at: slot, from: present, to: stored)
        show(stored, at: slot)
        context.noteNewValues()
        context.touch(self, at: slot, from: present)
        guard let inverse = (property as? Relationship)?.inverse, inverse.isToMany else { continue }
        for case .object(let box) in [present, stored] {
          context.registeredObject(box.reference)?.forgetMembers(of: inverse, isNewer: true)
        }
      }
    }
    if !isDisputed { version = row.version }
  }

  /// The store has come to hold another value than the one that was changed here.
  private func takeOver(_ stored: Value, asSavedAt slot: Int) {
    noteSaved(stored, at: slot)
    if case .object(let box) = stored { context.pending.noteHolder(self, of: box.reference) }
    context.touch(self, at: slot)
  }

  /// Has the members of a relationship read again, unless they were changed here.
  func forgetMembers(of relationship: Relationship, isNewer: Bool) {
    guard let members = toMany[relationship.slot], !members.isChanged, state == .saved else { return }
    toMany[relationship.slot] = nil
    if isNewer { context.touch(self, at: relationship.slot) }
  }
}
