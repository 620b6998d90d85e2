import CQuire

@_cdecl("quire_context_batch_insert") @implementation
public func quire_context_batch_insert(
  _ context: UnsafeMutablePointer<quire_context>?, _ entity: CText, _ entity_size: Int,
  _ keys: UnsafePointer<UnsafePointer<CChar>?>?, _ columns: UnsafePointer<UnsafePointer<quire_value>?>?,
  _ column_count: Int, _ row_count: Int, _ options: UnsafePointer<quire_batch_options>?,
  _ out_count: UnsafeMutablePointer<Int64>?, _ out_list: Out<quire_list>, _ out_error: ErrorOut
) -> quire_status {
  runBatch(context, options, out_count, out_list, out_error) { context, options throws(Failure) in
    let name = try string(entity, entity_size, "entity")
    let table = try valueTable(keys, columns, column_count, row_count)
    let cancellation = try options.cancellation.map { given throws(Failure) in try resolve(given, "cancellation") }
    let rows = try context.insertIntoStore(
      entityNamed: name, keys: table.keys, rowCount: row_count, merges: !options.skips_merge,
      upserts: options.upserts, cancellation: cancellation, progress: monitorProgress(options.progress)
    ) { (column, row) throws(Failure) in
      try table.value(column, row, of: name)
    }
    return (name, rows)
  }
}

@_cdecl("quire_context_batch_update") @implementation
public func quire_context_batch_update(
  _ context: UnsafeMutablePointer<quire_context>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ keys: UnsafePointer<UnsafePointer<CChar>?>?, _ values: UnsafePointer<quire_value>?, _ count: Int,
  _ options: UnsafePointer<quire_batch_options>?, _ out_count: UnsafeMutablePointer<Int64>?,
  _ out_list: Out<quire_list>, _ out_error: ErrorOut
) -> quire_status {
  runBatch(context, options, out_count, out_list, out_error) { context, options throws(Failure) in
    try refuseInsertionOptions(options)
    let request = try resolve(request, "request")
    let names = try strings(keys, count, "keys")
    var changes: [(key: String, value: FormatArgument)] = []
    for (place, given) in try array(values, count, "values").enumerated() {
      do throws(Failure) {
        changes.append((names[place], try formatArgument(given, .key(names[place]), in: context)))
      } catch { throw error.about(.named(request.entityName, names[place])) }
    }
    if changes.isEmpty {
      throw Failure(.invalidArgument, "'count' is 0: a batch update needs properties to set.")
    }
    return (request.entityName, try context.update(request, changes, merges: !options.skips_merge))
  }
}

@_cdecl("quire_context_batch_delete") @implementation
public func quire_context_batch_delete(
  _ context: UnsafeMutablePointer<quire_context>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ options: UnsafePointer<quire_batch_options>?, _ out_count: UnsafeMutablePointer<Int64>?,
  _ out_list: Out<quire_list>, _ out_error: ErrorOut
) -> quire_status {
  runBatch(context, options, out_count, out_list, out_error) { context, options throws(Failure) in
    try refuseInsertionOptions(options)
    let request = try resolve(request, "request")
    return (request.entityName, try context.delete(request, merges: !options.skips_merge))
  }
}

private func refuseInsertionOptions(_ options: quire_batch_options) throws(Failure) {
  if options.cancellation != nil || options.progress != nil {
    throw Failure(
      .invalidArgument,
      "'cancellation' and 'progress' of the options are for insertion; an update or a deletion takes those of its "
        + "request. Set them there.")
  }
  if options.upserts {
    throw Failure(.invalidArgument, "'upserts' is for insertion; an update or a deletion inserts nothing.")
  }
}

/// Runs a batch request, which returns the name of an entity and its rows.
private func runBatch(
  _ context: UnsafeMutablePointer<quire_context>?, _ options: UnsafePointer<quire_batch_options>?,
  _ out_count: UnsafeMutablePointer<Int64>?, _ out_list: Out<quire_list>, _ out_error: ErrorOut,
  _ body: (Context, quire_batch_options) throws(Failure) -> (String, ContiguousArray<RowIdentifier>)
) -> quire_status {
  out_count?.pointee = 0
  out_list?.pointee = nil
  return status(context, "context", out_error) { context throws(Failure) in
    let given = try QuireCore.options(options, defaults: quire_batch_options(), "options")
    let (entity, rows) = try body(context, given)
    out_count?.pointee = Int64(rows.count)
    out_list?.pointee = .passing(
      ObjectList(
        context: context, entity: try context.model.entity(named: entity), rows: rows, reading: ObjectReading()))
  }
}
