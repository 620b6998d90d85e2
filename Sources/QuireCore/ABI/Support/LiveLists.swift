import CQuire

/// A handle of a live list: a results controller or a composite. What the C interface has for both is here once.
protocol ListHandle: Handle where Object: LiveList & ContextBound {
  /// What the functions call the parameter.
  static var parameter: InputName { get }
}

extension quire_results: ListHandle { static var parameter: InputName { "results" } }

extension quire_composite: ListHandle { static var parameter: InputName { "composite" } }

// Programs ask for counts and rows again and again: each C function has its own copy, for its own type.
extension ListHandle {
  @inline(__always)
  static func context(_ list: UnsafePointer<Self>?) -> UnsafeMutablePointer<quire_context>? {
    peek(list).map { .lending($0.context) }
  }

  @inline(__always)
  static func number(_ list: UnsafePointer<Self>?) -> Int64 { peek(list)?.number ?? 0 }

  @inline(__always)
  static func fetch(_ list: UnsafeMutablePointer<Self>?, _ out_error: ErrorOut) -> quire_status {
    status(list, parameter, out_error) { list throws(Failure) in try list.performFetch() }
  }

  @inline(__always)
  static func delegateFailed(
    _ list: UnsafeMutablePointer<Self>?, _ reason: CText, _ reason_size: Int, _ out_error: ErrorOut
  ) -> quire_status {
    status(list, parameter, out_error) { list throws(Failure) in
      try failureReason(reason, reason_size) { reason throws(Failure) in try list.delegateFailed(reason) }
    }
  }

  @inline(__always)
  static func count(_ list: UnsafePointer<Self>?) -> Int64 { value(list, none: 0) { Int64($0.count) } }

  @inline(__always)
  static func sectionCount(_ list: UnsafePointer<Self>?) -> Int64 { value(list, none: 0) { Int64($0.sectionCount) } }

  @inline(__always)
  static func section(
    _ list: UnsafeMutablePointer<Self>?, _ section: Int64, _ out_section: UnsafeMutablePointer<quire_section>?,
    _ out_error: ErrorOut
  ) -> quire_status {
    clear(out_section)
    return status(list, parameter, out_error) { list throws(Failure) in
      let out = try required(out_section, "out_section")
      try fill(out, "out_section", with: quire_section(list.section(at: Int(section))))
    }
  }

  @inline(__always)
  static func sections(
    _ list: UnsafeMutablePointer<Self>?, _ flags: UInt32, _ out_page: Out<quire_page>, _ out_error: ErrorOut
  ) -> quire_status {
    status(list, parameter, giving: out_page, "out_page", out_error) { list throws(Failure) in
      ExportedPage(try list.sectionsPage(nulSeparated: pageFlags(flags).nulSeparated))
    }
  }

  @inline(__always)
  static func object(
    _ list: UnsafeMutablePointer<Self>?, _ section: Int64, _ row: Int64, _ out_object: Out<quire_object>,
    _ out_error: ErrorOut
  ) -> quire_status {
    status(list, parameter, giving: out_object, "out_object", out_error) { list throws(Failure) in
      try list.context.beginReading()
      return try list.object(section: Int(section), row: Int(row))
    }
  }

  @inline(__always)
  static func indexPath(
    _ list: UnsafeMutablePointer<Self>?, _ object: UnsafePointer<quire_object>?,
    _ out_path: UnsafeMutablePointer<quire_index_path>?, _ out_error: ErrorOut
  ) -> quire_status {
    out_path?.pointee = quire_index_path()
    return status(list, parameter, out_error) { list throws(Failure) in
      let out = try required(out_path, "out_path")
      let path = try list.indexPath(of: resolve(object, "object"))
      out.pointee = quire_index_path(section: Int64(path.section), row: Int64(path.row))
    }
  }

  @inline(__always)
  static func ids(
    _ list: UnsafeMutablePointer<Self>?, _ first: Int64, _ count: Int64, _ out_ids: UnsafeMutablePointer<Int64>?,
    _ out_error: ErrorOut
  ) -> quire_status {
    status(list, parameter, out_error) { list throws(Failure) in try writeIDs(of: list, first, count, to: out_ids) }
  }

  @inline(__always)
  static func sectionsOf(
    _ list: UnsafeMutablePointer<Self>?, _ rows: UnsafePointer<Int64>?, _ count: Int,
    _ out_sections: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
  ) -> quire_status {
    status(list, parameter, out_error) { list throws(Failure) in
      try writeSections(of: list, rows, count, to: out_sections)
    }
  }

  @inline(__always)
  static func generation(_ list: UnsafePointer<Self>?) -> UnsafePointer<UInt64>? { peek(list)?.generation.address }

  @inline(__always)
  static func nextChanges(
    _ list: UnsafeMutablePointer<Self>?, _ out_changes: Out<quire_changes>, _ out_error: ErrorOut
  ) -> quire_status {
    out_changes?.pointee = nil
    return status(list, parameter, out_error) { list throws(Failure) in
      let out = try required(out_changes, "out_changes")
      if let changes = try list.nextChanges() { out.pointee = .passing(ExportedChanges(changes)) }
    }
  }
}

// MARK: Rows in sections, of snapshots, too

/// Writes the ids of `count` rows from `first` on.
@inline(__always)
func writeIDs(
  of list: some SectionedRows, _ first: Int64, _ count: Int64, to out_ids: UnsafeMutablePointer<Int64>?
) throws(Failure) {
  let range = try range(first, count, of: list.count)
  let out = try array(out_ids, range.count, "out_ids")
  _ = out.update(from: list.ids(in: range))
}

/// Writes the section of each row, or -1.
@inline(__always)
func writeSections(
  of list: some SectionedRows, _ rows: UnsafePointer<Int64>?, _ count: Int,
  to out_sections: UnsafeMutablePointer<Int64>?
) throws(Failure) {
  let rows = try array(rows, count, "rows"), out = try array(out_sections, count, "out_sections")
  for (place, row) in rows.enumerated() { out[place] = Int64(list.sectionIndex(containingFlat: Int(row)) ?? -1) }
}

/// Writes the row of each id, or -1.
@inline(__always)
func writeRows(
  _ ids: UnsafePointer<Int64>?, _ count: Int, to out_rows: UnsafeMutablePointer<Int64>?, row: (Int64) -> Int?
) throws(Failure) {
  let ids = try array(ids, count, "ids"), out = try array(out_rows, count, "out_rows")
  for (place, id) in ids.enumerated() { out[place] = Int64(row(id) ?? -1) }
}
