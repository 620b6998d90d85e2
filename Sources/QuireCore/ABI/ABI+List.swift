import CQuire

/// The page flags that this version knows.
func pageFlags(_ flags: UInt32) throws(Failure) -> (nulSeparated: Bool, Void) {
  if flags & ~QUIRE_PAGE_NUL_SEPARATED.rawValue != 0 {
    throw Failure(.invalidArgument, "'flags' is \(flags), which is not a sum of quire_page_flags.")
  }
  return (flags & QUIRE_PAGE_NUL_SEPARATED.rawValue != 0, ())
}

@_cdecl("quire_list_retain") @implementation
public func quire_list_retain(_ list: UnsafePointer<quire_list>?) -> UnsafeMutablePointer<quire_list>? {
  retain(list)
}

@_cdecl("quire_list_release") @implementation
public func quire_list_release(_ list: UnsafeMutablePointer<quire_list>?) { release(list) }

@_cdecl("quire_list_count") @implementation
public func quire_list_count(_ list: UnsafePointer<quire_list>?) -> Int64 {
  value(list, none: 0) { Int64($0.count) }
}

@_cdecl("quire_list_object") @implementation
public func quire_list_object(
  _ list: UnsafeMutablePointer<quire_list>?, _ index: Int64, _ out_object: Out<quire_object>, _ out_error: ErrorOut
) -> quire_status {
  status(list, "list", giving: out_object, "out_object", out_error) { list throws(Failure) in
    try list.context.beginReading()
    return try list.object(at: Int(index))
  }
}

@_cdecl("quire_list_ids") @implementation
public func quire_list_ids(
  _ list: UnsafePointer<quire_list>?, _ first: Int64, _ count: Int64, _ out_ids: UnsafeMutablePointer<Int64>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(list, "list", out_error) { list throws(Failure) in
    try list.checkHasIDs()
    let range = try range(first, count, of: list.count)
    let out = try array(out_ids, range.count, "out_ids")
    for (place, index) in range.enumerated() { out[place] = list.id(at: index) }
  }
}

@_cdecl("quire_list_page") @implementation
public func quire_list_page(
  _ list: UnsafeMutablePointer<quire_list>?, _ first: Int64, _ count: Int64,
  _ key_paths: UnsafePointer<UnsafePointer<CChar>?>?, _ key_path_count: Int, _ flags: UInt32,
  _ out_page: Out<quire_page>, _ out_error: ErrorOut
) -> quire_status {
  givePage(list, "list", first, count, key_paths, key_path_count, flags, out_page, out_error)
}

@_cdecl("quire_page_retain") @implementation
public func quire_page_retain(_ page: UnsafePointer<quire_page>?) -> UnsafeMutablePointer<quire_page>? {
  retain(page)
}

@_cdecl("quire_page_release") @implementation
public func quire_page_release(_ page: UnsafeMutablePointer<quire_page>?) { release(page) }

@_cdecl("quire_page_row_count") @implementation
public func quire_page_row_count(_ page: UnsafePointer<quire_page>?) -> Int64 { Int64(peek(page)?.page.rowCount ?? 0) }

@_cdecl("quire_page_column_count") @implementation
public func quire_page_column_count(_ page: UnsafePointer<quire_page>?) -> Int64 {
  Int64(peek(page)?.page.columns.count ?? 0)
}

@_cdecl("quire_page_column") @implementation
public func quire_page_column(_ page: UnsafePointer<quire_page>?, _ index: Int64) -> UnsafePointer<quire_column>? {
  peek(page)?.column(Int(index))
}
