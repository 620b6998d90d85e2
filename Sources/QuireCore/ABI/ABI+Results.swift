import CQuire

@_cdecl("quire_results_create") @implementation
public func quire_results_create(
  _ context: UnsafeMutablePointer<quire_context>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ options: UnsafePointer<quire_results_options>?, _ out_results: Out<quire_results>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_results, "out_results", out_error) { context throws(Failure) in
    let options = try QuireCore.options(options, defaults: quire_results_options(), "options")
    return try ResultsController(
      context: context, request: resolve(request, "request"), sections: sectioning(options),
      queuesChanges: options.queues_changes,
      cacheName: optionalString(options.cache_name, "options.cache_name").map { Text($0) })
  }
}

private func sectioning(_ options: quire_results_options) throws(Failure) -> Listing.Sectioning {
  let keyPath = try optionalString(options.section_key_path, "options.section_key_path")
  let rule = options.section_rule == nil ? nil : try resolve(options.section_rule, "options.section_rule")
  if keyPath != nil, rule != nil {
    throw Failure(
      .invalidArgument, "'options' has a section key path and a section rule. Leave one of them out.")
  }
  return keyPath.map { .keyPath($0) } ?? rule.map { .rule($0) } ?? .none
}

@_cdecl("quire_results_retain") @implementation
public func quire_results_retain(
  _ results: UnsafePointer<quire_results>?
) -> UnsafeMutablePointer<quire_results>? { retain(results) }

@_cdecl("quire_results_release") @implementation
public func quire_results_release(_ results: UnsafeMutablePointer<quire_results>?) { release(results) }

@_cdecl("quire_results_context") @implementation
public func quire_results_context(_ results: UnsafePointer<quire_results>?) -> UnsafeMutablePointer<quire_context>? {
  quire_results.context(results)
}

@_cdecl("quire_results_number") @implementation
public func quire_results_number(_ results: UnsafePointer<quire_results>?) -> Int64 { quire_results.number(results) }

@_cdecl("quire_results_set_delegate") @implementation
public func quire_results_set_delegate(
  _ results: UnsafeMutablePointer<quire_results>?, _ delegate: UnsafePointer<quire_results_delegate>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in
    let next = try callbacks(delegate).map { ResultsCallbacks($0, in: results.context.confinement) }
    try ending(results.delegate) { results.delegate = next }
  }
}

@_cdecl("quire_results_fetch") @implementation
public func quire_results_fetch(
  _ results: UnsafeMutablePointer<quire_results>?, _ out_error: ErrorOut
) -> quire_status { quire_results.fetch(results, out_error) }

@_cdecl("quire_results_fetch_async") @implementation
public func quire_results_fetch_async(
  _ results: UnsafeMutablePointer<quire_results>?, _ out_error: ErrorOut
) -> quire_status { status(results, "results", out_error) { results throws(Failure) in try results.beginFetch() } }

@_cdecl("quire_results_is_fetched") @implementation
public func quire_results_is_fetched(_ results: UnsafePointer<quire_results>?) -> Bool {
  value(results, none: false) { $0.isFetched }
}

@_cdecl("quire_results_delete_cache") @implementation
public func quire_results_delete_cache(
  _ store: UnsafeMutablePointer<quire_store>?, _ name: CText, _ name_size: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    let cache = name == nil ? nil : CacheFile(Text(try string(name, name_size, "name")), of: store.location)
    if store.path == ":memory:" { return }
    if let cache { try cache.delete() } else { try CacheFile.deleteAll(of: store.location) }
  }
}

@_cdecl("quire_results_set_request") @implementation
public func quire_results_set_request(
  _ results: UnsafeMutablePointer<quire_results>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ section_key_path: CText, _ section_key_path_size: Int, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in
    let request = try resolve(request, "request")
    var sections = Listing.Sectioning.none
    if section_key_path != nil {
      sections = .keyPath(try string(section_key_path, section_key_path_size, "section_key_path"))
    }
    try results.setRequest(request, sections: sections)
  }
}

@_cdecl("quire_results_set_request_with_rule") @implementation
public func quire_results_set_request_with_rule(
  _ results: UnsafeMutablePointer<quire_results>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ section_rule: UnsafePointer<quire_section_rule>?, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in
    let request = try resolve(request, "request")
    let rule = section_rule == nil ? nil : try resolve(section_rule, "section_rule")
    try results.setRequest(request, sections: rule.map { .rule($0) } ?? .none)
  }
}

@_cdecl("quire_results_set_request_async") @implementation
public func quire_results_set_request_async(
  _ results: UnsafeMutablePointer<quire_results>?, _ request: UnsafePointer<quire_fetch_request>?,
  _ section_key_path: CText, _ section_key_path_size: Int, _ section_rule: UnsafePointer<quire_section_rule>?,
  _ out_number: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_number?.pointee = 0
  return status(results, "results", out_error) { results throws(Failure) in
    let request = try resolve(request, "request")
    let rule = section_rule == nil ? nil : try resolve(section_rule, "section_rule")
    var sections = rule.map { Listing.Sectioning.rule($0) } ?? .none
    if section_key_path != nil {
      if rule != nil {
        throw Failure(
          .invalidArgument, "The call has a section key path and a section rule. Leave one of them out.")
      }
      sections = .keyPath(try string(section_key_path, section_key_path_size, "section_key_path"))
    }
    let number = try results.beginRequest(request, sections: sections)
    out_number?.pointee = number
  }
}

@_cdecl("quire_results_request_number") @implementation
public func quire_results_request_number(_ results: UnsafePointer<quire_results>?) -> Int64 {
  value(results, none: 0) { $0.requestNumber }
}

@_cdecl("quire_results_awaits_request") @implementation
public func quire_results_awaits_request(_ results: UnsafePointer<quire_results>?) -> Bool {
  value(results, none: false) { $0.awaited != nil }
}

@_cdecl("quire_results_suspend") @implementation
public func quire_results_suspend(
  _ results: UnsafeMutablePointer<quire_results>?, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in try results.suspend() }
}

@_cdecl("quire_results_resume") @implementation
public func quire_results_resume(
  _ results: UnsafeMutablePointer<quire_results>?, _ tells: Bool, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in try results.resume(telling: tells) }
}

@_cdecl("quire_results_delegate_failed") @implementation
public func quire_results_delegate_failed(
  _ results: UnsafeMutablePointer<quire_results>?, _ reason: CText, _ reason_size: Int, _ out_error: ErrorOut
) -> quire_status { quire_results.delegateFailed(results, reason, reason_size, out_error) }

@_cdecl("quire_results_set_displayed_key_paths") @implementation
public func quire_results_set_displayed_key_paths(
  _ results: UnsafeMutablePointer<quire_results>?, _ key_paths: UnsafePointer<UnsafePointer<CChar>?>?,
  _ key_path_count: Int, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in
    var paths: [[String]] = []
    for path in try strings(key_paths, key_path_count, "key_paths") {
      paths.append(try FetchRequest.split(keyPath: path))
    }
    try results.display(paths)
  }
}

@_cdecl("quire_results_count") @implementation
public func quire_results_count(_ results: UnsafePointer<quire_results>?) -> Int64 { quire_results.count(results) }

@_cdecl("quire_results_section_count") @implementation
public func quire_results_section_count(_ results: UnsafePointer<quire_results>?) -> Int64 {
  quire_results.sectionCount(results)
}

@_cdecl("quire_results_section") @implementation
public func quire_results_section(
  _ results: UnsafeMutablePointer<quire_results>?, _ section: Int64,
  _ out_section: UnsafeMutablePointer<quire_section>?,
  _ out_error: ErrorOut
) -> quire_status { quire_results.section(results, section, out_section, out_error) }

extension quire_section {
  /// Its texts are lent by the owner of `info`.
  init(_ info: SectionInfo) throws(Failure) {
    self.init(
      struct_size: 0, reserved: 0, name: info.name.lent, index_title: info.indexTitle?.lent ?? noText,
      value: try exported(info.value, nameOf: info.name), start: Int64(info.start), count: Int64(info.count))
  }
}

@_cdecl("quire_results_sections") @implementation
public func quire_results_sections(
  _ results: UnsafeMutablePointer<quire_results>?, _ flags: UInt32, _ out_page: Out<quire_page>, _ out_error: ErrorOut
) -> quire_status { quire_results.sections(results, flags, out_page, out_error) }

@_cdecl("quire_results_object") @implementation
public func quire_results_object(
  _ results: UnsafeMutablePointer<quire_results>?, _ section: Int64, _ row: Int64, _ out_object: Out<quire_object>,
  _ out_error: ErrorOut
) -> quire_status { quire_results.object(results, section, row, out_object, out_error) }

@_cdecl("quire_results_objects") @implementation
public func quire_results_objects(
  _ results: UnsafeMutablePointer<quire_results>?, _ first: Int64, _ count: Int64, _ out_list: Out<quire_list>,
  _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", giving: out_list, "out_list", out_error) { results throws(Failure) in
    try results.checkFetched()
    try results.context.beginReading()
    return try results.objects(in: range(first, count, of: results.count))
  }
}

@_cdecl("quire_results_index_path") @implementation
public func quire_results_index_path(
  _ results: UnsafeMutablePointer<quire_results>?, _ object: UnsafePointer<quire_object>?,
  _ out_path: UnsafeMutablePointer<quire_index_path>?, _ out_error: ErrorOut
) -> quire_status { quire_results.indexPath(results, object, out_path, out_error) }

@_cdecl("quire_results_ids") @implementation
public func quire_results_ids(
  _ results: UnsafeMutablePointer<quire_results>?, _ first: Int64, _ count: Int64,
  _ out_ids: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status { quire_results.ids(results, first, count, out_ids, out_error) }

@_cdecl("quire_results_positions") @implementation
public func quire_results_positions(
  _ results: UnsafeMutablePointer<quire_results>?, _ ids: UnsafePointer<Int64>?, _ count: Int,
  _ out_rows: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in
    try writeRows(ids, count, to: out_rows) { results.place(of: $0) }
  }
}

@_cdecl("quire_results_section_of") @implementation
public func quire_results_section_of(
  _ results: UnsafeMutablePointer<quire_results>?, _ rows: UnsafePointer<Int64>?, _ count: Int,
  _ out_sections: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status { quire_results.sectionsOf(results, rows, count, out_sections, out_error) }

@_cdecl("quire_results_page") @implementation
public func quire_results_page(
  _ results: UnsafeMutablePointer<quire_results>?, _ first: Int64, _ count: Int64,
  _ key_paths: UnsafePointer<UnsafePointer<CChar>?>?, _ key_path_count: Int, _ flags: UInt32,
  _ out_page: Out<quire_page>, _ out_error: ErrorOut
) -> quire_status {
  givePage(results, "results", first, count, key_paths, key_path_count, flags, out_page, out_error)
}

@_cdecl("quire_results_section_for_index_title") @implementation
public func quire_results_section_for_index_title(
  _ results: UnsafeMutablePointer<quire_results>?, _ title_index: Int64, _ out_section: UnsafeMutablePointer<Int64>?,
  _ out_error: ErrorOut
) -> quire_status {
  out_section?.pointee = 0
  return status(results, "results", out_error) { results throws(Failure) in
    let out = try required(out_section, "out_section")
    let titles = results.indexTitles()
    guard title_index >= 0, title_index < Int64(titles.count) else {
      throw Failure(.notFound, "The results have \(titles.count) index titles; there is none at \(title_index).")
    }
    out.pointee = Int64(titles[Int(title_index)].section)
  }
}

@_cdecl("quire_results_index_titles") @implementation
public func quire_results_index_titles(
  _ results: UnsafeMutablePointer<quire_results>?, _ flags: UInt32, _ out_page: Out<quire_page>, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", giving: out_page, "out_page", out_error) { results throws(Failure) in
    ExportedPage(try results.indexTitlesPage(nulSeparated: pageFlags(flags).nulSeparated))
  }
}

@_cdecl("quire_results_generation") @implementation
public func quire_results_generation(_ results: UnsafePointer<quire_results>?) -> UnsafePointer<UInt64>? {
  quire_results.generation(results)
}

@_cdecl("quire_results_next_changes") @implementation
public func quire_results_next_changes(
  _ results: UnsafeMutablePointer<quire_results>?, _ out_changes: Out<quire_changes>, _ out_error: ErrorOut
) -> quire_status { quire_results.nextChanges(results, out_changes, out_error) }
