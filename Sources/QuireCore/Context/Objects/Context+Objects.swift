extension Context {
  // MARK: Finding

  var registeredObjects: [ManagedObject] { table.all }

  /// The one object of this context with that reference, if a caller or the context holds it.
  func registeredObject(_ reference: ObjectReference) -> ManagedObject? { table.object(reference) }

  /// The object with that reference, unread if need be; whether there is a row behind it shows when it is read.
  func object(_ reference: ObjectReference, entity: Entity) -> ManagedObject {
    if let object = registeredObject(reference) { return object }
    let object = ManagedObject(context: self, entity: entity, id: reference.id, state: .saved)
    table.register(object)
    return object
  }

  /// The object of a row that was just read. An object that has values keeps them: pending changes stay, and what was
  /// shown stays as it was shown.
  func object(for row: Row) -> ManagedObject {
    let reference = ObjectReference(root: row.entity.rootNumber, id: row.id)
    var known = registeredObject(reference)
    if known == nil || known?.state == .gone {
      // One of another entity stays gone: a program has made another row of it.
      known = table.goneObject(reference)?.entity === row.entity ? table.readmit(reference) : nil
    }
    let object = known ?? object(reference, entity: row.entity)
    // Of another entity it is a fault that turns out to be gone when it is read.
    if object.isFault, object.state == .saved, object.entity === row.entity {
      object.fulfil(with: row)
      table.notePresent(reference)
    }
    return object
  }

  /// Releases every object without pending changes, and everything that was found out about rows.
  func forgetRegistered() {
    table.forgetMissing()
    turnIntoFaults(registeredObjects, if: { $0.state == .saved && !$0.isUpdated }) { object in
      object.forget()
      table.unregister(object.reference)
    }
  }

  // MARK: Inserting

  /// Inserts an object with the defaults of its entity.
  func insert(entityNamed name: String) throws(Failure) -> ManagedObject {
    try checkMayChange()
    return try insert(checking: model.entity(named: name))
  }

  /// The same, where the entity is found already and the context may change.
  func insert(checking entity: Entity) throws(Failure) -> ManagedObject {
    try entity.checkMayHaveObjects()
    let object = insert(entity)
    if hooks != nil { try awakeFromInsert([object]) }
    return object
  }

  /// The entity of that name, if it may have objects and the store is open.
  func insertableEntity(named name: String) throws(Failure) -> Entity {
    try checkMayChange()
    let entity = try model.entity(named: name)
    try entity.checkMayHaveObjects()
    return entity
  }

  /// The same without calling a hook.
  func insert(_ entity: Entity) -> ManagedObject {
    let id = store.reserveIDs(root: entity.root, count: 1) ?? store.takeTemporaryIDs(1)
    let object = ManagedObject(
      context: self, entity: entity, id: id, state: .inserted, values: entity.initialValues)
    table.register(object)
    markInserted(object)
    return object
  }

  /// The object with that id, which must exist and not be deleted here.
  func existingObject(entityNamed name: String, id: Int64) throws(Failure) -> ManagedObject {
    try store.checkOpen()
    let entity = try model.entity(named: name)
    return try existingObject(entity, id: id)
  }

  func existingObject(_ entity: Entity, id: Int64) throws(Failure) -> ManagedObject {
    let reference = ObjectReference(root: entity.rootNumber, id: id)
    let found: ManagedObject?
    if let object = registeredObject(reference), object.state != .saved || !object.isFault {
      found = object
    } else if let row = try row(id, of: entity.root) {
      found = object(for: row)
    } else {
      found = nil
    }
    guard let object = found, object.isLive, object.entity.isKind(of: entity) else {
      throw missingRow("There is no \(entity.name) with the id \(id).", about: .row(id, of: entity))
    }
    return object
  }

  /// The stored row with that id. Where the program asks for one row of a page after the other, objects of those behind
  /// it are made in the same statement.
  func row(_ id: Int64, of root: Entity) throws(Failure) -> Row? {
    let unread = pageAhead.ids(besides: id, root: root.rootNumber).filter { id in
      registeredObject(ObjectReference(root: root.rootNumber, id: id))?.isFault != false
    }
    // A row that cannot be read says so when it is asked for.
    if !unread.isEmpty, let rows = try? source.rows(root: root, ids: [id] + unread) {
      pageAhead.hold(rows.filter { $0.id != id }.map { object(for: $0) })
      return rows.first { $0.id == id }
    }
    return try source.rows(root: root, ids: [id]).first
  }

  func existingObject(uri: Text) throws(Failure) -> ManagedObject {
    try store.checkOpen()
    let parsed = try ObjectURI(uri)
    if case .temporary = parsed.key {
      var context: Context? = self
      while let holder = context {
        if let object = holder.pending.inserted.first(where: { $0.id < 0 && $0.uriText() == uri }) {
          return holder === self ? object : try existingObject(object.entity, id: object.id)
        }
        context = holder.parent
      }
      throw Failure(.notFound, "No object inserted in this context has the temporary URI '\(uri)'.")
    }
    let (entity, reference) = try store.reference(parsed)
    return try existingObject(entity, id: reference.id)
  }

  /// Reads the rows of all objects that are still faults, in as few statements as there are entity trees.
  func fulfil(_ objects: some Sequence<ManagedObject>) throws(Failure) {
    var faults: [Int: [ManagedObject]] = [:]
    for object in objects where object.isFault && object.state != .gone && object.state != .inserted {
      faults[object.entity.rootNumber, default: []].append(object)
    }
    for group in faults.values {
      guard let first = group.first else { continue }
      for row in try source.rows(root: first.entity.root, ids: group.map(\.id)) {
        let object = registeredObject(ObjectReference(root: row.entity.rootNumber, id: row.id))
        if let object, object.isFault, object.entity === row.entity { object.fulfil(with: row) }
      }
    }
  }

  /// Reads those of a batch that are registered.
  func fulfil(_ batch: UnreadBatch) throws(Failure) {
    let objects = batch.ids.compactMap { registeredObject(ObjectReference(root: batch.root, id: $0)) }
    try fulfil(objects)
    for object in objects where object.unread === batch { object.unread = nil }
  }

  /// Deletes an object; its delete rules apply when changes are processed.
  func delete(_ object: ManagedObject) throws(Failure) {
    try checkMayChange()
    try object.checkBelongs(to: self)
    if object.isDeleted {
      // Deleting it again changes nothing, but its hook is called, as in Core Data.
      if object.state == .deleted { try prepareForDeletion(object) }
      return
    }
    if try !object.isStillStored() { return }
    try prepareForDeletion(object)
    if object.isLive {
      try prepareUndo(ofDeleting: object)
      markDeleted(object)
    }
  }
}

extension Entity {
  fileprivate func checkMayHaveObjects() throws(Failure) {
    if !isAbstract { return }
    let names = children.map(\.name).joined(separator: ", ")
    throw Failure(
      .invalidArgument,
      "Entity '\(name)' is abstract and has no objects of its own. "
        + "Insert one of its sub-entities: \(names.isEmpty ? "it has none" : names).", about: .entity(self))
  }
}
