import CQuire

@_cdecl("quire_context_create") @implementation
public func quire_context_create(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_context: Out<quire_context>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_context, "out_context", out_error) { () throws(Failure) in
    let store = try resolve(store, "store")
    try ForeignCall.refuse()
    try store.checkOpen()
    return Context(store: store)
  }
}

@_cdecl("quire_context_create_child") @implementation
public func quire_context_create_child(
  _ parent: UnsafeMutablePointer<quire_context>?, _ out_context: Out<quire_context>, _ out_error: ErrorOut
) -> quire_status {
  status(parent, "parent", giving: out_context, "out_context", out_error) { parent throws(Failure) in
    try parent.store.checkOpen()
    return try parent.makeChild()
  }
}

@_cdecl("quire_context_parent") @implementation
public func quire_context_parent(
  _ context: UnsafePointer<quire_context>?
) -> UnsafeMutablePointer<quire_context>? { peek(context)?.parent.map { .lending($0) } }

@_cdecl("quire_context_retain") @implementation
public func quire_context_retain(
  _ context: UnsafePointer<quire_context>?
) -> UnsafeMutablePointer<quire_context>? { retain(context) }

@_cdecl("quire_context_release") @implementation
public func quire_context_release(_ context: UnsafeMutablePointer<quire_context>?) { release(context) }

@_cdecl("quire_context_set_author") @implementation
public func quire_context_set_author(
  _ context: UnsafeMutablePointer<quire_context>?, _ author: CText, _ author_size: Int, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    context.authorship.author = try author == nil ? nil : text(author, author_size, "author")
  }
}

@_cdecl("quire_context_author") @implementation
public func quire_context_author(_ context: UnsafePointer<quire_context>?) -> quire_string {
  value(context, none: noText) { $0.authorship.author?.lent ?? noText }
}

@_cdecl("quire_context_set_name") @implementation
public func quire_context_set_name(
  _ context: UnsafeMutablePointer<quire_context>?, _ name: CText, _ name_size: Int, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    context.authorship.contextName = try name == nil ? nil : text(name, name_size, "name")
  }
}

@_cdecl("quire_context_name") @implementation
public func quire_context_name(_ context: UnsafePointer<quire_context>?) -> quire_string {
  value(context, none: noText) { $0.authorship.contextName?.lent ?? noText }
}

@_cdecl("quire_context_store") @implementation
public func quire_context_store(_ context: UnsafePointer<quire_context>?) -> UnsafeMutablePointer<quire_store>? {
  (peek(context)?.store as? Store).map { .lending($0) }
}

@_cdecl("quire_context_insert") @implementation
public func quire_context_insert(
  _ context: UnsafeMutablePointer<quire_context>?, _ entity: CText, _ entity_size: Int,
  _ out_object: Out<quire_object>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_object, "out_object", out_error) { context throws(Failure) in
    try context.checkMayChange()
    return try context.insert(checking: context.model.entity(entity, entity_size, "entity"))
  }
}

@_cdecl("quire_context_delete") @implementation
public func quire_context_delete(
  _ context: UnsafeMutablePointer<quire_context>?, _ object: UnsafeMutablePointer<quire_object>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.delete(resolve(object, "object"))
  }
}

@_cdecl("quire_context_object") @implementation
public func quire_context_object(
  _ context: UnsafeMutablePointer<quire_context>?, _ entity: CText, _ entity_size: Int, _ id: Int64,
  _ out_object: Out<quire_object>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_object, "out_object", out_error) { context throws(Failure) in
    try context.beginReading()
    return try context.existingObject(context.model.entity(entity, entity_size, "entity"), id: id)
  }
}

@_cdecl("quire_context_find") @implementation
public func quire_context_find(
  _ context: UnsafeMutablePointer<quire_context>?, _ entity: CText, _ entity_size: Int, _ key: CText, _ key_size: Int,
  _ value: UnsafePointer<quire_value>?, _ out_object: Out<quire_object>, _ out_error: ErrorOut
) -> quire_status {
  out_object?.pointee = nil
  return status(context, "context", out_error) { context throws(Failure) in
    let out = try required(out_object, "out_object")
    let entity = try context.model.entity(entity, entity_size, "entity")
    let property = try entity.property(key, key_size, "key")
    do throws(Failure) {
      let value = try QuireCore.value(value, for: property, in: context)
      guard let object = try context.find(entity, property, value) else {
        throw Failure(.notFound, "There is no \(entity.name) whose '\(property.name)' is \(value.written).")
      }
      out.pointee = .passing(object)
    } catch { throw error.about(.entity(entity, key: property.name)) }
  }
}

@_cdecl("quire_context_find_or_insert") @implementation
public func quire_context_find_or_insert(
  _ context: UnsafeMutablePointer<quire_context>?, _ entity: CText, _ entity_size: Int, _ key: CText, _ key_size: Int,
  _ value: UnsafePointer<quire_value>?, _ out_object: Out<quire_object>,
  _ out_is_inserted: UnsafeMutablePointer<Bool>?, _ out_error: ErrorOut
) -> quire_status {
  out_object?.pointee = nil
  out_is_inserted?.pointee = false
  return status(context, "context", out_error) { context throws(Failure) in
    let out = try required(out_object, "out_object")
    let entity = try context.model.entity(entity, entity_size, "entity")
    let property = try entity.property(key, key_size, "key")
    do throws(Failure) {
      let found = try context.findOrInsert(entity, property, QuireCore.value(value, for: property, in: context))
      out.pointee = .passing(found.object)
      out_is_inserted?.pointee = found.isInserted
    } catch { throw error.about(.entity(entity, key: property.name)) }
  }
}

@_cdecl("quire_context_object_for_uri") @implementation
public func quire_context_object_for_uri(
  _ context: UnsafeMutablePointer<quire_context>?, _ uri: CText, _ uri_size: Int, _ out_object: Out<quire_object>,
  _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_object, "out_object", out_error) { context throws(Failure) in
    try context.beginReading()
    return try context.existingObject(uri: text(uri, uri_size, "uri"))
  }
}

@_cdecl("quire_context_has_changes") @implementation
public func quire_context_has_changes(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.hasChanges || $0.source.hasPropertiesToSave }
}

@_cdecl("quire_context_pending") @implementation
public func quire_context_pending(
  _ context: UnsafeMutablePointer<quire_context>?, _ pending: UInt32, _ out_list: Out<quire_list>,
  _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_list, "out_list", out_error) { context throws(Failure) in
    try context.store.checkOpen()
    let objects: ObjectSet
    switch quire_pending(rawValue: pending) {
    case QUIRE_PENDING_INSERTED: objects = context.pending.inserted
    case QUIRE_PENDING_UPDATED: objects = context.pending.updated
    case QUIRE_PENDING_DELETED: objects = context.pending.deleted
    default: throw Failure(.invalidArgument, "'pending' is \(pending), which is not a quire_pending.")
    }
    return ObjectList(context: context, objects: Array(objects), entity: nil)
  }
}

@_cdecl("quire_context_process") @implementation
public func quire_context_process(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.store.checkOpen()
    context.store.noticeOthers()
    try context.mergeIfAutomatic()
    try context.process()
    try context.takeWhatWasLeft()
  }
}

@_cdecl("quire_context_process_pending") @implementation
public func quire_context_process_pending(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.store.checkOpen()
    try context.process()
    try context.takeWhatWasLeft()
  }
}

@_cdecl("quire_context_merge") @implementation
public func quire_context_merge(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.merge() }
}

@_cdecl("quire_context_set_merges_automatically") @implementation
public func quire_context_set_merges_automatically(
  _ context: UnsafeMutablePointer<quire_context>?, _ merges_automatically: Bool, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    context.mergesAutomatically = merges_automatically
    context.prepareMerges()
  }
}

@_cdecl("quire_context_merges_automatically") @implementation
public func quire_context_merges_automatically(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.mergesAutomatically }
}

@_cdecl("quire_context_has_lost_moment") @implementation
public func quire_context_has_lost_moment(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.readsAhead }
}

@_cdecl("quire_context_next_list_with_changes") @implementation
public func quire_context_next_list_with_changes(
  _ context: UnsafePointer<quire_context>?, _ after: Int64
) -> Int64 {
  value(context, none: 0) { $0.queuedLists.next(after: after) ?? 0 }
}

@_cdecl("quire_context_check_entry") @implementation
public func quire_context_check_entry(
  _ context: UnsafePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    // An open store may be waited for, and is let be.
    if context.store.isClosed { try context.store.checkOpen() }
  }
}

@_cdecl("quire_context_generation") @implementation
public func quire_context_generation(_ context: UnsafePointer<quire_context>?) -> UInt64 {
  peek(context)?.clock.generation ?? 0
}

@_cdecl("quire_context_descriptor") @implementation
public func quire_context_descriptor(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_descriptor: UnsafeMutablePointer<Int32>?,
  _ out_error: ErrorOut
) -> quire_status {
  out_descriptor?.pointee = 0
  return status(context, "context", out_error) { context throws(Failure) in
    let out = try required(out_descriptor, "out_descriptor")
    try context.store.checkOpen()
    out.pointee = try context.inbox.descriptor(with: context.store.watchOthers())
    context.prepareMerges()
  }
}

@_cdecl("quire_context_save") @implementation
public func quire_context_save(_ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.save() }
}

@_cdecl("quire_context_rollback") @implementation
public func quire_context_rollback(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.rollback() }
}

@_cdecl("quire_context_begin_transaction") @implementation
public func quire_context_begin_transaction(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.beginTransaction() }
}

@_cdecl("quire_context_commit_transaction") @implementation
public func quire_context_commit_transaction(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.commitTransaction() }
}

@_cdecl("quire_context_rollback_transaction") @implementation
public func quire_context_rollback_transaction(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.rollBackTransaction() }
}

@_cdecl("quire_context_is_in_transaction") @implementation
public func quire_context_is_in_transaction(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.isInTransaction }
}

@_cdecl("quire_context_refresh") @implementation
public func quire_context_refresh(
  _ context: UnsafeMutablePointer<quire_context>?, _ object: UnsafeMutablePointer<quire_object>?, _ merge: Bool,
  _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.refresh(resolve(object, "object"), merges: merge)
  }
}

@_cdecl("quire_context_refresh_all") @implementation
public func quire_context_refresh_all(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.refreshAll() }
}

@_cdecl("quire_context_reset") @implementation
public func quire_context_reset(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.reset() }
}

@_cdecl("quire_context_obtain_permanent_ids") @implementation
public func quire_context_obtain_permanent_ids(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.obtainPermanentIDs() }
}

@_cdecl("quire_context_insert_rows") @implementation
public func quire_context_insert_rows(
  _ context: UnsafeMutablePointer<quire_context>?, _ entity: CText, _ entity_size: Int,
  _ keys: UnsafePointer<UnsafePointer<CChar>?>?, _ columns: UnsafePointer<UnsafePointer<quire_value>?>?,
  _ column_count: Int, _ row_count: Int, _ out_first_id: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_first_id?.pointee = 0
  return status(context, "context", out_error) { context throws(Failure) in
    let entity = try string(entity, entity_size, "entity")
    let table = try valueTable(keys, columns, column_count, row_count)
    let first = try context.insert(entityNamed: entity, keys: table.keys, rowCount: row_count) {
      (column, row) throws(Failure) in
      try table.value(column, row, of: entity)
    }
    out_first_id?.pointee = first
  }
}

/// Columns of values with their keys; every column has as many values as there are rows.
struct ValueTable {
  let keys: [String]
  let cells: [UnsafeBufferPointer<quire_value>]

  /// The failure of a cell names its place, in a table for rows of an entity.
  func value(_ column: Int, _ row: Int, of entityName: String) throws(Failure) -> Value {
    do throws(Failure) { return try QuireCore.value(cells[column][row], "columns") } catch {
      // Again, for the sake of the message, so that a value that fits costs no name.
      do throws(Failure) { return try QuireCore.value(cells[column][row], .cell(keys[column], row)) } catch {
        throw error.about(Offender(entityName: Text(entityName), key: Text(keys[column]), row: row))
      }
    }
  }
}

func valueTable(
  _ keys: UnsafePointer<UnsafePointer<CChar>?>?, _ columns: UnsafePointer<UnsafePointer<quire_value>?>?,
  _ columnCount: Int, _ rowCount: Int
) throws(Failure) -> ValueTable {
  let keys = try strings(keys, columnCount, "keys")
  var cells: [UnsafeBufferPointer<quire_value>] = []
  for column in try array(columns, columnCount, "columns") { cells.append(try array(column, rowCount, "columns")) }
  // A count that no column bears out may be anything.
  if columnCount == 0, rowCount != 0 {
    throw Failure(
      .invalidArgument, "There are no columns for the \(UInt(bitPattern: rowCount)) rows; give at least one.")
  }
  return ValueTable(keys: keys, cells: cells)
}
