import CQuire

@_cdecl("quire_composite_create") @implementation
public func quire_composite_create(
  _ context: UnsafeMutablePointer<quire_context>?, _ options: UnsafePointer<quire_composite_options>?,
  _ out_composite: Out<quire_composite>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_composite, "out_composite", out_error) { context throws(Failure) in
    let options = try QuireCore.options(options, defaults: quire_composite_options(), "options")
    return try CompositeController(context: context, queuesChanges: options.queues_changes)
  }
}

@_cdecl("quire_composite_retain") @implementation
public func quire_composite_retain(
  _ composite: UnsafePointer<quire_composite>?
) -> UnsafeMutablePointer<quire_composite>? { retain(composite) }

@_cdecl("quire_composite_release") @implementation
public func quire_composite_release(_ composite: UnsafeMutablePointer<quire_composite>?) { release(composite) }

@_cdecl("quire_composite_context") @implementation
public func quire_composite_context(
  _ composite: UnsafePointer<quire_composite>?
) -> UnsafeMutablePointer<quire_context>? { quire_composite.context(composite) }

@_cdecl("quire_composite_number") @implementation
public func quire_composite_number(_ composite: UnsafePointer<quire_composite>?) -> Int64 {
  quire_composite.number(composite)
}

@_cdecl("quire_composite_add") @implementation
public func quire_composite_add(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ results: UnsafeMutablePointer<quire_results>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(composite, "composite", out_error) { composite throws(Failure) in
    try composite.add(resolve(results, "results"))
  }
}

@_cdecl("quire_composite_child_count") @implementation
public func quire_composite_child_count(_ composite: UnsafePointer<quire_composite>?) -> Int64 {
  value(composite, none: 0) { Int64($0.children.count) }
}

@_cdecl("quire_composite_child") @implementation
public func quire_composite_child(
  _ composite: UnsafePointer<quire_composite>?, _ index: Int64
) -> UnsafeMutablePointer<quire_results>? {
  value(composite, none: nil as UnsafeMutablePointer<quire_results>?) { composite in
    composite.children.indices.contains(Int(index)) ? .lending(composite.children[Int(index)]) : nil
  }
}

@_cdecl("quire_composite_fetch") @implementation
public func quire_composite_fetch(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ out_error: ErrorOut
) -> quire_status { quire_composite.fetch(composite, out_error) }

@_cdecl("quire_composite_set_delegate") @implementation
public func quire_composite_set_delegate(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ delegate: UnsafePointer<quire_composite_delegate>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(composite, "composite", out_error) { composite throws(Failure) in
    let next = try callbacks(delegate).map { CompositeCallbacks($0, in: composite.context.confinement) }
    try ending(composite.delegate) { composite.delegate = next }
  }
}

@_cdecl("quire_composite_delegate_failed") @implementation
public func quire_composite_delegate_failed(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ reason: CText, _ reason_size: Int, _ out_error: ErrorOut
) -> quire_status { quire_composite.delegateFailed(composite, reason, reason_size, out_error) }

@_cdecl("quire_composite_count") @implementation
public func quire_composite_count(_ composite: UnsafePointer<quire_composite>?) -> Int64 {
  quire_composite.count(composite)
}

@_cdecl("quire_composite_section_count") @implementation
public func quire_composite_section_count(_ composite: UnsafePointer<quire_composite>?) -> Int64 {
  quire_composite.sectionCount(composite)
}

@_cdecl("quire_composite_section") @implementation
public func quire_composite_section(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ section: Int64,
  _ out_section: UnsafeMutablePointer<quire_section>?, _ out_error: ErrorOut
) -> quire_status { quire_composite.section(composite, section, out_section, out_error) }

@_cdecl("quire_composite_sections") @implementation
public func quire_composite_sections(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ flags: UInt32, _ out_page: Out<quire_page>,
  _ out_error: ErrorOut
) -> quire_status { quire_composite.sections(composite, flags, out_page, out_error) }

@_cdecl("quire_composite_object") @implementation
public func quire_composite_object(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ section: Int64, _ row: Int64, _ out_object: Out<quire_object>,
  _ out_error: ErrorOut
) -> quire_status { quire_composite.object(composite, section, row, out_object, out_error) }

@_cdecl("quire_composite_index_path") @implementation
public func quire_composite_index_path(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ object: UnsafePointer<quire_object>?,
  _ out_path: UnsafeMutablePointer<quire_index_path>?, _ out_error: ErrorOut
) -> quire_status { quire_composite.indexPath(composite, object, out_path, out_error) }

@_cdecl("quire_composite_ids") @implementation
public func quire_composite_ids(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ first: Int64, _ count: Int64,
  _ out_ids: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status { quire_composite.ids(composite, first, count, out_ids, out_error) }

@_cdecl("quire_composite_section_of") @implementation
public func quire_composite_section_of(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ rows: UnsafePointer<Int64>?, _ count: Int,
  _ out_sections: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status { quire_composite.sectionsOf(composite, rows, count, out_sections, out_error) }

@_cdecl("quire_composite_child_of_section") @implementation
public func quire_composite_child_of_section(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ section: Int64, _ out_child: UnsafeMutablePointer<Int64>?,
  _ out_child_section: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_child?.pointee = 0
  out_child_section?.pointee = 0
  return status(composite, "composite", out_error) { composite throws(Failure) in
    let child = try required(out_child, "out_child"), inner = try required(out_child_section, "out_child_section")
    let found = try composite.child(ofSection: Int(section))
    child.pointee = Int64(found.place)
    inner.pointee = Int64(found.section)
  }
}

@_cdecl("quire_composite_child_start") @implementation
public func quire_composite_child_start(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ child: Int64, _ out_section: UnsafeMutablePointer<Int64>?,
  _ out_row: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_section?.pointee = 0
  out_row?.pointee = 0
  return status(composite, "composite", out_error) { composite throws(Failure) in
    let section = try required(out_section, "out_section"), row = try required(out_row, "out_row")
    try composite.checkFetched()
    guard composite.children.indices.contains(Int(child)) else {
      throw Failure(
        .notFound,
        "The composite has \(composite.children.count) children; there is none at \(child).")
    }
    let start = composite.start(of: Int(child))
    section.pointee = Int64(start.section)
    row.pointee = Int64(start.flat)
  }
}

@_cdecl("quire_composite_generation") @implementation
public func quire_composite_generation(_ composite: UnsafePointer<quire_composite>?) -> UnsafePointer<UInt64>? {
  quire_composite.generation(composite)
}

@_cdecl("quire_composite_next_changes") @implementation
public func quire_composite_next_changes(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ out_changes: Out<quire_changes>, _ out_error: ErrorOut
) -> quire_status { quire_composite.nextChanges(composite, out_changes, out_error) }
