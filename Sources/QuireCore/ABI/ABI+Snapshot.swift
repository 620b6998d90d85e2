import CQuire

@_cdecl("quire_results_snapshot") @implementation
public func quire_results_snapshot(
  _ results: UnsafeMutablePointer<quire_results>?, _ out_snapshot: Out<quire_snapshot>, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", giving: out_snapshot, "out_snapshot", out_error) { results throws(Failure) in
    try results.snapshot()
  }
}

@_cdecl("quire_snapshot_retain") @implementation
public func quire_snapshot_retain(
  _ snapshot: UnsafePointer<quire_snapshot>?
) -> UnsafeMutablePointer<quire_snapshot>? { retain(snapshot) }

@_cdecl("quire_snapshot_release") @implementation
public func quire_snapshot_release(_ snapshot: UnsafeMutablePointer<quire_snapshot>?) { release(snapshot) }

@_cdecl("quire_snapshot_count") @implementation
public func quire_snapshot_count(_ snapshot: UnsafePointer<quire_snapshot>?) -> Int64 {
  Int64(peek(snapshot)?.count ?? 0)
}

@_cdecl("quire_snapshot_section_count") @implementation
public func quire_snapshot_section_count(_ snapshot: UnsafePointer<quire_snapshot>?) -> Int64 {
  Int64(peek(snapshot)?.sections.count ?? 0)
}

@_cdecl("quire_snapshot_generation") @implementation
public func quire_snapshot_generation(_ snapshot: UnsafePointer<quire_snapshot>?) -> UInt64 {
  peek(snapshot)?.generation ?? 0
}

@_cdecl("quire_snapshot_section") @implementation
public func quire_snapshot_section(
  _ snapshot: UnsafePointer<quire_snapshot>?, _ section: Int64, _ out_section: UnsafeMutablePointer<quire_section>?,
  _ out_error: ErrorOut
) -> quire_status {
  clear(out_section)
  return unconfined(snapshot, "snapshot", out_error) { snapshot throws(Failure) in
    let out = try required(out_section, "out_section")
    guard section >= 0, section < Int64(snapshot.sections.count) else {
      throw Failure(.notFound, "The snapshot has \(snapshot.sections.count) sections; there is none at \(section).")
    }
    let found = snapshot.sections[Int(section)]
    try fill(
      out, "out_section",
      with: quire_section(
        struct_size: 0, reserved: 0, name: found.key.name.lent, index_title: noText,
        value: exported(found.key.value, nameOf: found.key.name), start: Int64(found.start), count: Int64(found.count)))
  }
}

@_cdecl("quire_snapshot_sections") @implementation
public func quire_snapshot_sections(
  _ snapshot: UnsafePointer<quire_snapshot>?, _ flags: UInt32, _ out_page: Out<quire_page>, _ out_error: ErrorOut
) -> quire_status {
  out_page?.pointee = nil
  return unconfined(snapshot, "snapshot", out_error) { snapshot throws(Failure) in
    let out = try required(out_page, "out_page")
    out.pointee = .passing(ExportedPage(try snapshot.sectionsPage(nulSeparated: pageFlags(flags).nulSeparated)))
  }
}

@_cdecl("quire_snapshot_ids") @implementation
public func quire_snapshot_ids(
  _ snapshot: UnsafePointer<quire_snapshot>?, _ first: Int64, _ count: Int64, _ out_ids: UnsafeMutablePointer<Int64>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(snapshot, "snapshot", out_error) { snapshot throws(Failure) in
    try writeIDs(of: snapshot, first, count, to: out_ids)
  }
}

@_cdecl("quire_snapshot_positions") @implementation
public func quire_snapshot_positions(
  _ snapshot: UnsafePointer<quire_snapshot>?, _ ids: UnsafePointer<Int64>?, _ count: Int,
  _ out_rows: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(snapshot, "snapshot", out_error) { snapshot throws(Failure) in
    try writeRows(ids, count, to: out_rows) { snapshot.place(of: $0) }
  }
}

@_cdecl("quire_snapshot_section_of") @implementation
public func quire_snapshot_section_of(
  _ snapshot: UnsafePointer<quire_snapshot>?, _ rows: UnsafePointer<Int64>?, _ count: Int,
  _ out_sections: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(snapshot, "snapshot", out_error) { snapshot throws(Failure) in
    try writeSections(of: snapshot, rows, count, to: out_sections)
  }
}

@_cdecl("quire_snapshot_equal") @implementation
public func quire_snapshot_equal(
  _ snapshot: UnsafePointer<quire_snapshot>?, _ other: UnsafePointer<quire_snapshot>?
) -> Bool {
  guard let snapshot = peek(snapshot), let other = peek(other) else { return false }
  return snapshot.isEqual(to: other)
}

@_cdecl("quire_snapshot_changes") @implementation
public func quire_snapshot_changes(
  _ snapshot: UnsafePointer<quire_snapshot>?, _ later: UnsafePointer<quire_snapshot>?,
  _ out_changes: Out<quire_changes>,
  _ out_error: ErrorOut
) -> quire_status {
  out_changes?.pointee = nil
  return status(out_error) { () throws(Failure) in
    let snapshot = try resolve(snapshot, "snapshot"), later = try resolve(later, "later")
    let out = try required(out_changes, "out_changes")
    out.pointee = .passing(ExportedChanges(ChangeSet.between(snapshot, later)))
  }
}
