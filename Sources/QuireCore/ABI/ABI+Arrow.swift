import CQuire

@_cdecl("quire_page_export_arrow") @implementation
public func quire_page_export_arrow(
  _ page: UnsafePointer<quire_page>?, _ column: Int64, _ out_schema: UnsafeMutablePointer<ArrowSchema>?,
  _ out_array: UnsafeMutablePointer<ArrowArray>?, _ out_error: ErrorOut
) -> quire_status {
  out_schema?.pointee = ArrowSchema()
  out_array?.pointee = ArrowArray()
  return unconfined(page, "page", out_error) { page throws(Failure) in
    let export = try ArrowExport(page.page, column: column)
    out_schema?.pointee = export.schema
    out_array?.pointee = export.array
  }
}

@_cdecl("quire_page_stream_arrow") @implementation
public func quire_page_stream_arrow(
  _ page: UnsafePointer<quire_page>?, _ column: Int64, _ batch_rows: Int64,
  _ out_stream: UnsafeMutablePointer<ArrowArrayStream>?, _ out_error: ErrorOut
) -> quire_status {
  out_stream?.pointee = ArrowArrayStream()
  return unconfined(page, "page", out_error) { page throws(Failure) in
    let out = try required(out_stream, "out_stream")
    if batch_rows < 0 {
      throw Failure(.invalidArgument, "'batch_rows' is \(batch_rows). Give a number of rows, or 0 for all in one.")
    }
    out.pointee = try ArrowExport(page.page, column: column).stream(batchRows: Int(batch_rows))
  }
}
