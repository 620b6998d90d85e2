import CQuire

@_cdecl("quire_composite_create") @implementation
public func quire_composite_create(
  _ context: UnsafeMutablePointer<quire_context>?, _ options: UnsafePointer<quire_composite_options>?,
  _ out_composite: Out<quire_composite>, _ out_error: ErrorOut
) -> quire_status {
  out_composite?.pointee = nil
  return status(context, "context", out_error) { context throws(Failure) in
    let out = try required(out_composite, "out_composite")
    let options = try QuireCore.options(options, defaults: quire_composite_options(), "options")
    out.pointee = .passing(try CompositeController(context: context, queuesChanges: options.queues_changes))
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
) -> UnsafeMutablePointer<quire_context>? { peek(composite).map { .lending($0.context) } }

@_cdecl("quire_composite_number") @implementation
public func quire_composite_number(_ composite: UnsafePointer<quire_composite>?) -> Int64 {
  peek(composite)?.number ?? 0
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
) -> quire_status {
  status(composite, "composite", out_error) { composite throws(Failure) in try composite.performFetch() }
}

@_cdecl("quire_composite_set_delegate") @implementation
public func quire_composite_set_delegate(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ delegate: UnsafePointer<quire_composite_delegate>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(composite, "composite", out_error) { composite throws(Failure) in
    if delegate == nil {
      composite.delegate = nil
    } else {
      let callbacks = try QuireCore.options(delegate, defaults: quire_composite_delegate(), "delegate")
      try checkReserved(callbacks.reserved, "delegate")
      composite.delegate = CompositeCallbacks(callbacks)
    }
  }
}

@_cdecl("quire_composite_delegate_failed") @implementation
public func quire_composite_delegate_failed(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ reason: CText, _ reason_size: Int, _ out_error: ErrorOut
) -> quire_status {
  status(composite, "composite", out_error) { composite throws(Failure) in
    try failureReason(reason, reason_size, composite.delegateFailed)
  }
}

@_cdecl("quire_composite_count") @implementation
public func quire_composite_count(_ composite: UnsafePointer<quire_composite>?) -> Int64 {
  value(composite, none: 0) { Int64($0.count) }
}

@_cdecl("quire_composite_section_count") @implementation
public func quire_composite_section_count(_ composite: UnsafePointer<quire_composite>?) -> Int64 {
  value(composite, none: 0) { Int64($0.sectionCount) }
}

@_cdecl("quire_composite_section") @implementation
public func quire_composite_section(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ section: Int64,
  _ out_section: UnsafeMutablePointer<quire_section>?, _ out_error: ErrorOut
) -> quire_status {
  clear(out_section)
  return status(composite, "composite", out_error) { composite throws(Failure) in
    let out = try required(out_section, "out_section")
    try fill(out, "out_section", with: quire_section(composite.section(at: Int(section))))
  }
}

@_cdecl("quire_composite_sections") @implementation
public func quire_composite_sections(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ flags: UInt32, _ out_page: Out<quire_page>,
  _ out_error: ErrorOut
) -> quire_status {
  out_page?.pointee = nil
  return status(composite, "composite", out_error) { composite throws(Failure) in
    let out = try required(out_page, "out_page")
    out.pointee = .passing(ExportedPage(composite.sectionsPage(nulSeparated: try pageFlags(flags).nulSeparated)))
  }
}

@_cdecl("quire_composite_object") @implementation
public func quire_composite_object(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ section: Int64, _ row: Int64, _ out_object: Out<quire_object>,
  _ out_error: ErrorOut
) -> quire_status {
  out_object?.pointee = nil
  return status(composite, "composite", out_error) { composite throws(Failure) in
    let out = try required(out_object, "out_object")
    out.pointee = .passing(try composite.object(section: Int(section), row: Int(row)))
  }
}

@_cdecl("quire_composite_index_path") @implementation
public func quire_composite_index_path(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ object: UnsafePointer<quire_object>?,
  _ out_path: UnsafeMutablePointer<quire_index_path>?, _ out_error: ErrorOut
) -> quire_status {
  out_path?.pointee = quire_index_path()
  return status(composite, "composite", out_error) { composite throws(Failure) in
    let out = try required(out_path, "out_path")
    let path = try composite.indexPath(of: resolve(object, "object"))
    out.pointee = quire_index_path(section: Int64(path.section), row: Int64(path.row))
  }
}

@_cdecl("quire_composite_ids") @implementation
public func quire_composite_ids(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ first: Int64, _ count: Int64,
  _ out_ids: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  status(composite, "composite", out_error) { composite throws(Failure) in
    let range = try range(first, count, of: composite.count)
    let out = try array(out_ids, range.count, "out_ids")
    _ = out.update(from: composite.ids(in: range))
  }
}

@_cdecl("quire_composite_section_of") @implementation
public func quire_composite_section_of(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ rows: UnsafePointer<Int64>?, _ count: Int,
  _ out_sections: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  status(composite, "composite", out_error) { composite throws(Failure) in
    let rows = try array(rows, count, "rows"), out = try array(out_sections, count, "out_sections")
    for (place, row) in rows.enumerated() {
      out[place] = Int64(composite.sectionIndex(containingFlat: Int(row)) ?? -1)
    }
  }
}

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
  peek(composite)?.generation.address
}

@_cdecl("quire_composite_next_changes") @implementation
public func quire_composite_next_changes(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ out_changes: Out<quire_changes>, _ out_error: ErrorOut
) -> quire_status {
  out_changes?.pointee = nil
  return status(composite, "composite", out_error) { composite throws(Failure) in
    let out = try required(out_changes, "out_changes")
    if let changes = try composite.nextChanges() { out.pointee = .passing(ExportedChanges(changes)) }
  }
}

/// A delegate of C callbacks. It holds the caller's `user_data` and calls `destroy` when it goes.
final class CompositeCallbacks: CompositeDelegate {
  private let callbacks: quire_composite_delegate

  init(_ callbacks: quire_composite_delegate) { self.callbacks = callbacks }

  deinit { callbacks.destroy?(callbacks.user_data) }

  func willChange(_ composite: CompositeController) {
    callbacks.will_change?(callbacks.user_data, .lending(composite))
  }

  func didChangeSection(_ change: SectionChange, of child: ResultsController, in composite: CompositeController) {
    guard let callback = callbacks.did_change_section else { return }
    let exported = quire_section_change(change)
    withExtendedLifetime(change) {
      withUnsafePointer(to: exported) { callback(callbacks.user_data, .lending(composite), .lending(child), $0) }
    }
  }

  func didChangeObject(
    _ object: ManagedObject, _ change: Change, of child: ResultsController, in composite: CompositeController
  ) {
    guard let callback = callbacks.did_change_object else { return }
    change.withExported {
      callback(callbacks.user_data, .lending(composite), .lending(child), .lending(object), $0)
    }
  }

  func didChange(_ composite: CompositeController) {
    callbacks.did_change?(callbacks.user_data, .lending(composite))
  }

  func didReport(_ changes: ChangeSet, in composite: CompositeController) {
    guard let callback = callbacks.changes else { return }
    let exported = ExportedChanges(changes)
    withExtendedLifetime(exported) {
      callback(
        callbacks.user_data, .lending(composite), UnsafePointer(UnsafeMutablePointer<quire_changes>.lending(exported)))
    }
  }
}
