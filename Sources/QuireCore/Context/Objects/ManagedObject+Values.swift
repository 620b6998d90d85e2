extension ManagedObject {
  /// Reads the row if that has not happened yet.
  func fulfil() throws(Failure) {
    // A new object of an entity without properties has no values, and no row either.
    if !isFault || state == .inserted { return }
    try checkReadable()
    if let batch = unread {
      try context.fulfil(batch)
      if !isFault { return }
    }
    // Another program may have made it a row of another entity.
    guard let row = try context.row(id, of: entity.root), row.entity === entity else {
      let failure = context.missingRow("The row of \(summary) is no longer in the store.", about: .object(self))
      // Where the context reads ahead, a merge says what became of it.
      if context.readsAhead { throw failure }
      // Lists that still show it let go of it. Once, because others may ask for it again and again.
      if context.table.noteMissing(reference) { context.touchLife(of: self, isLive: true) }
      state = .gone
      context.table.unregister(reference)
      throw failure
    }
    fulfil(with: row)
  }

  func checkReadable() throws(Failure) {
    try checkRemembered()
    if state == .gone {
      throw Failure(.invalidState, "\(ending) and has no values any more.", about: .object(self))
    }
  }

  /// Why it is no more. A rollback takes back what was never saved, and so does a deletion.
  private var ending: String {
    let wasSaved = state != .gone || id > 0 && (version > 0 || isFault)
    return wasSaved ? "\(summary) was deleted" : "\(summary) was taken back before it was saved"
  }

  private func checkRemembered() throws(Failure) {
    if state == .forgotten {
      throw Failure(
        .invalidState,
        "\(summary) was forgotten when its context was reset. Look its id up again (quire_context_object).",
        about: .object(self))
    }
  }

  func checkWritable() throws(Failure) {
    try context.checkMayChange()
    try checkRemembered()
    if isDeleted {
      throw Failure(.invalidState, "\(ending) and cannot be changed.", about: .object(self))
    }
  }

  func checkBelongs(to context: Context) throws(Failure) {
    try checkRemembered()
    if self.context !== context {
      throw Failure(
        .invalidArgument,
        "\(summary) belongs to another context. Look its id up in this one (quire_context_object).")
    }
  }

  /// The value of an attribute or the reference of a to-one relationship.
  func value(of property: Property) throws(Failure) -> Value {
    if property is Attribute, !isFault, state != .gone, state != .forgotten {
      return try values[property.slot].inPlace()
    }
    return try storedValue(of: property).inPlace()
  }

  /// The same without reading a file.
  func storedValue(of property: Property) throws(Failure) -> Value {
    if let relationship = property as? Relationship, relationship.isToMany {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is a to-many relationship; read its objects instead of a value.",
        about: .property(property))
    }
    try checkReadable()
    let value: Value
    if isFault, let known = unread?.value(at: property.slot, of: id) {
      value = known
    } else {
      try fulfil()
      value = values[property.slot]
    }
    if case .object(let box) = value, isLive, let relationship = property as? Relationship,
      willLetGo(of: box.reference, relationship)
    {
      return .nil
    }
    return value
  }

  /// Whether the delete rules, which are applied later, are going to empty this relationship. Without such a rule it
  /// goes on to refer to the deleted object, as its row does. No reference remains to an object that was never saved.
  private func willLetGo(of reference: ObjectReference, _ relationship: Relationship) -> Bool {
    if context.mayBeLive(reference) { return false }
    return context.registeredObject(reference)?.state != .deleted || relationship.inverse?.deleteRule == .nullify
  }

  func value(forKey key: String) throws(Failure) -> Value { try value(of: entity.property(named: key)) }

  /// The object that a to-one relationship holds.
  func object(of relationship: Relationship) throws(Failure) -> ManagedObject? {
    guard case .object(let box) = try value(of: relationship) else { return nil }
    return try context.object(box.reference, of: relationship.destination)
  }

  /// Checks a value for `property` and returns it in the form in which it is kept.
  func checked(_ value: Value, for property: Property) throws(Failure) -> Value {
    try property.checkNotDerived()
    if let attribute = property as? Attribute { return try attribute.coerce(value) }
    if value.isNil { return .nil }
    guard case .object(let box) = value else {
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' is a to-one relationship and cannot hold \(value.kindName); give an object or "
          + "none.",
        about: .property(property))
    }
    guard let relationship = property as? Relationship else { return value }
    guard let target = context.registeredObject(box.reference) else {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' was given an object that this context does not hold.",
        about: .property(property))
    }
    try check(target, for: relationship)
    return value
  }

  func check(_ target: ManagedObject, for relationship: Relationship) throws(Failure) {
    try target.checkBelongs(to: context)
    if !target.entity.isKind(of: relationship.destination) {
      throw Failure(
        .invalidArgument,
        "'\(relationship.qualifiedName)' holds objects of entity '\(relationship.destination.name)', "
          + "not of '\(target.entity.name)'.", about: .property(relationship))
    }
    if target.isDeleted {
      throw Failure(
        .invalidState, "'\(relationship.qualifiedName)' cannot hold \(target.summary): it was deleted.",
        about: .property(relationship))
    }
  }

  /// Changes an attribute or a to-one relationship. Writing the present value changes nothing.
  func set(_ value: Value, for property: Property) throws(Failure) {
    try checkWritable()
    if let relationship = property as? Relationship, relationship.isToMany {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is a to-many relationship; give a list of objects.",
        about: .property(property))
    }
    try setChecked(checked(value, for: property), for: property)
  }

  /// All or nothing: every value is checked before the first is set.
  func set(_ changes: [(property: Property, value: Value)]) throws(Failure) {
    try checkWritable()
    var values = ContiguousArray<Value>()
    values.reserveCapacity(changes.count)
    for (property, value) in changes {
      if let relationship = property as? Relationship, relationship.isToMany {
        throw Failure(
          .invalidArgument,
          "'\(property.qualifiedName)' is a to-many relationship; set it on its own, with a list of objects.",
          about: .property(property))
      }
      values.append(try checked(value, for: property))
    }
    for (place, change) in changes.enumerated() { try setChecked(values[place], for: change.property) }
  }

  private func setChecked(_ value: Value, for property: Property) throws(Failure) {
    try fulfil()
    if try isAwakening(for: property) {
      show(value, at: property.slot)
    } else if let relationship = property as? Relationship {
      var target: ManagedObject?
      if case .object(let box) = value { target = context.registeredObject(box.reference) }
      try relate(to: target, through: relationship)
    } else {
      write(value, at: property.slot)
    }
  }

  /// Stores a value without regard to inverses, and keeps the saved one for save and rollback.
  func write(_ value: Value, at slot: Int) {
    let old = values[slot]
    if old.isIdentical(to: value) { return }
    context.undoManager?.note(old, at: slot, of: self)
    change(to: value, at: slot, from: old)
    if case .object(let box) = old { context.pending.noteHolder(self, of: box.reference) }
    if case .object(let box) = value { context.pending.noteHolder(self, of: box.reference) }
    context.touch(self, at: slot, from: old)
  }
}

extension Context {
  /// Whether an object can be behind a reference; of a permanent one that is not registered, only the store knows.
  func mayBeLive(_ reference: ObjectReference) -> Bool {
    if let object = registeredObject(reference) { return object.isLive }
    return parent?.mayBeLive(reference) ?? !reference.isTemporary
  }

  /// Whether it is deleted, here or in a parent, and there until the store is told so.
  func isToBeDeleted(_ reference: ObjectReference) -> Bool {
    registeredObject(reference).map { $0.state == .deleted } ?? parent?.isToBeDeleted(reference) ?? false
  }

  /// Whether the next save deletes one of them.
  func hasDeleted(among references: [ObjectReference]) -> Bool {
    !pending.deleted.isEmpty && references.contains(where: isToBeDeleted)
  }

  /// The object behind a reference that a relationship holds. The row has the concrete entity when it is not known.
  func object(_ reference: ObjectReference, of entity: Entity) throws(Failure) -> ManagedObject? {
    if let object = registeredObject(reference) { return object }
    if reference.isTemporary, !source.holdsObjects { return nil }
    if !entity.hasChildren, !reference.isTemporary { return object(reference, entity: entity) }
    let row = try source.rows(root: entity.root, ids: [reference.id]).first
    // One that is only gone from what is read now is a fault, as where its entity is known.
    return row.map { object(for: $0) } ?? (readsAhead ? object(reference, entity: entity) : nil)
  }
}
