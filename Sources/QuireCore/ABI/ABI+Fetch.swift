import CQuire

@_cdecl("quire_fetch_request_create") @implementation
public func quire_fetch_request_create(
  _ entity: CText, _ entity_size: Int, _ out_request: Out<quire_fetch_request>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_request, "out_request", out_error) { () throws(Failure) in
    if entity == nil {
      throw Failure(.invalidArgument, "'entity' is NULL; a fetch request needs the name of an entity.")
    }
    return FetchRequest(entityName: try string(entity, entity_size, "entity"))
  }
}

@_cdecl("quire_fetch_request_retain") @implementation
public func quire_fetch_request_retain(
  _ request: UnsafePointer<quire_fetch_request>?
) -> UnsafeMutablePointer<quire_fetch_request>? { retain(request) }

@_cdecl("quire_fetch_request_release") @implementation
public func quire_fetch_request_release(_ request: UnsafeMutablePointer<quire_fetch_request>?) { release(request) }

@_cdecl("quire_fetch_request_set_predicate") @implementation
public func quire_fetch_request_set_predicate(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ predicate: UnsafePointer<quire_predicate>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.predicate = predicate == nil ? nil : try resolve(predicate, "predicate").predicate
  }
}

@_cdecl("quire_fetch_request_add_predicate") @implementation
public func quire_fetch_request_add_predicate(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ predicate: UnsafePointer<quire_predicate>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    let more = try resolve(predicate, "predicate").predicate
    if let condition = request.predicate {
      request.predicate = try condition.joined(with: more)
    } else {
      request.predicate = more
    }
  }
}

@_cdecl("quire_fetch_request_add_sort") @implementation
public func quire_fetch_request_add_sort(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ key_path: CText, _ key_path_size: Int, _ is_descending: Bool,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    let keyPath = try keyPath(key_path, key_path_size)
    request.sort.append(SortDescriptor(keyPath: keyPath, isAscending: !is_descending))
  }
}

@_cdecl("quire_fetch_request_add_sort_with_options") @implementation
public func quire_fetch_request_add_sort_with_options(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ key_path: CText, _ key_path_size: Int,
  _ options: UnsafePointer<quire_sort_options>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    let keyPath = try keyPath(key_path, key_path_size)
    let chosen = try QuireCore.options(options, defaults: quire_sort_options(), "options")
    guard let kind = TextOrder.Kind(rawValue: chosen.text_order) else {
      throw Failure(.invalidArgument, "'text_order' is \(chosen.text_order), which is not a quire_text_order.")
    }
    let order = try TextOrder(kind, locale: optionalString(chosen.locale, "locale") ?? "")
    request.sort.append(SortDescriptor(keyPath: keyPath, isAscending: !chosen.is_descending, textOrder: order))
  }
}

@_cdecl("quire_fetch_request_clear_sort") @implementation
public func quire_fetch_request_clear_sort(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { $0.sort = [] }
}

@_cdecl("quire_fetch_request_set_limit") @implementation
public func quire_fetch_request_set_limit(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ limit: UInt64, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    // QUIRE_NO_LIMIT, which does not import.
    request.limit = limit == .max ? nil : try number(limit, "limit")
  }
}

@_cdecl("quire_fetch_request_set_offset") @implementation
public func quire_fetch_request_set_offset(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ offset: UInt64, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.offset = try number(offset, "offset")
  }
}

@_cdecl("quire_fetch_request_set_batch_size") @implementation
public func quire_fetch_request_set_batch_size(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ batch_size: UInt64, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.batchSize = try number(batch_size, "batch_size")
  }
}

@_cdecl("quire_fetch_request_add_prefetch") @implementation
public func quire_fetch_request_add_prefetch(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ key_path: CText, _ key_path_size: Int,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.prefetchedKeyPaths.append(try keyPath(key_path, key_path_size))
  }
}

@_cdecl("quire_fetch_request_set_returns_objects_as_faults") @implementation
public func quire_fetch_request_set_returns_objects_as_faults(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ returns_objects_as_faults: Bool, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { $0.returnsObjectsAsFaults = returns_objects_as_faults }
}

@_cdecl("quire_fetch_request_set_includes_property_values") @implementation
public func quire_fetch_request_set_includes_property_values(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ includes_property_values: Bool, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { $0.includesPropertyValues = includes_property_values }
}

@_cdecl("quire_fetch_request_set_refreshes_refetched_objects") @implementation
public func quire_fetch_request_set_refreshes_refetched_objects(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ refreshes_refetched_objects: Bool, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { $0.shouldRefreshRefetchedObjects = refreshes_refetched_objects }
}

@_cdecl("quire_fetch_request_set_result_type") @implementation
public func quire_fetch_request_set_result_type(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ result_type: UInt32, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    guard let type = FetchRequest.ResultType(rawValue: result_type) else {
      throw Failure(.invalidArgument, "'result_type' is \(result_type), which is not a quire_result_type.")
    }
    request.resultType = type
  }
}

@_cdecl("quire_fetch_request_set_includes_subentities") @implementation
public func quire_fetch_request_set_includes_subentities(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ includes_subentities: Bool, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { $0.includesSubentities = includes_subentities }
}

@_cdecl("quire_fetch_request_set_includes_pending_changes") @implementation
public func quire_fetch_request_set_includes_pending_changes(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ includes_pending_changes: Bool, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { $0.includesPendingChanges = includes_pending_changes }
}

@_cdecl("quire_fetch_request_add_property") @implementation
public func quire_fetch_request_add_property(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ key_path: CText, _ key_path_size: Int,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.projection.columns.append(Projection.Column(keyPath: try keyPath(key_path, key_path_size)))
  }
}

@_cdecl("quire_fetch_request_add_expression") @implementation
public func quire_fetch_request_add_expression(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ name: CText, _ name_size: Int,
  _ expression: UnsafePointer<quire_expression>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    let name = try string(name, name_size, "name")
    if name.isEmpty { throw Failure(.invalidArgument, "'name' is empty; a column needs a name.") }
    let expression = try resolve(expression, "expression").expression
    request.projection.columns.append(Projection.Column(name: name, expression: expression))
  }
}

@_cdecl("quire_fetch_request_add_group") @implementation
public func quire_fetch_request_add_group(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ key_path: CText, _ key_path_size: Int,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.projection.groups.append(try keyPath(key_path, key_path_size))
  }
}

@_cdecl("quire_fetch_request_set_having") @implementation
public func quire_fetch_request_set_having(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ predicate: UnsafePointer<quire_predicate>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.projection.having = predicate == nil ? nil : try resolve(predicate, "predicate").predicate
  }
}

@_cdecl("quire_fetch_request_set_distinct") @implementation
public func quire_fetch_request_set_distinct(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ is_distinct: Bool, _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { $0.projection.isDistinct = is_distinct }
}

@_cdecl("quire_context_fetch") @implementation
public func quire_context_fetch(
  _ context: UnsafeMutablePointer<quire_context>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ out_list: Out<quire_list>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_list, "out_list", out_error) { context throws(Failure) in
    try context.fetch(resolve(request, "request"))
  }
}

@_cdecl("quire_context_fetch_page") @implementation
public func quire_context_fetch_page(
  _ context: UnsafeMutablePointer<quire_context>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ key_paths: UnsafePointer<UnsafePointer<CChar>?>?, _ key_path_count: Int, _ flags: UInt32,
  _ out_page: Out<quire_page>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_page, "out_page", out_error) { context throws(Failure) in
    let page = try context.fetchPage(
      resolve(request, "request"), keys: strings(key_paths, key_path_count, "key_paths"),
      nulSeparated: pageFlags(flags).nulSeparated)
    return ExportedPage(page)
  }
}

@_cdecl("quire_context_count") @implementation
public func quire_context_count(
  _ context: UnsafeMutablePointer<quire_context>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ out_count: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_count?.pointee = 0
  return status(context, "context", out_error) { context throws(Failure) in
    let out = try required(out_count, "out_count")
    out.pointee = Int64(try context.count(resolve(request, "request")))
  }
}

@_cdecl("quire_fetch_request_explain") @implementation
public func quire_fetch_request_explain(
  _ request: UnsafePointer<quire_fetch_request>?, _ context: UnsafeMutablePointer<quire_context>?,
  _ out_explanation: Out<quire_evaluation>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_explanation, "out_explanation", out_error) { context throws(Failure) in
    let text = try context.explain(resolve(request, "request"))
    return try Evaluation(.value(.text(text)), in: nil)
  }
}

@_cdecl("quire_fetch_request_describe") @implementation
public func quire_fetch_request_describe(
  _ request: UnsafePointer<quire_fetch_request>?, _ out_info: UnsafeMutablePointer<quire_fetch_request_info>?,
  _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in try RequestRecords.of(resolve(request, "request")).info }
}

@_cdecl("quire_fetch_request_sort_key") @implementation
public func quire_fetch_request_sort_key(
  _ request: UnsafePointer<quire_fetch_request>?, _ index: Int64, _ out_info: UnsafeMutablePointer<quire_sort_info>?,
  _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    try element(index, of: RequestRecords.of(resolve(request, "request")).sort, "index")
  }
}

@_cdecl("quire_fetch_request_prefetched") @implementation
public func quire_fetch_request_prefetched(
  _ request: UnsafePointer<quire_fetch_request>?, _ index: Int64
) -> quire_string {
  guard let request = peek(request) else { return noText }
  let paths = RequestRecords.of(request).prefetched
  guard let place = Int(exactly: index), paths.indices.contains(place) else { return noText }
  return paths[place].lent
}
