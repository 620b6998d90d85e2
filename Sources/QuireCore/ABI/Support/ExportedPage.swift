import CQuire

/// A page with its columns as C sees them.
final class ExportedPage: @unchecked Sendable {
  let page: Page
  private let columns: UnsafeMutableBufferPointer<quire_column>
  /// What was made of columns that are to be separated, by their places, when they were first looked at: an export
  /// as Arrow has no use for it.
  private let separated = Guarded<[Int: Column]>([:])

  init(_ page: Page) {
    self.page = page
    columns = .allocate(capacity: page.columns.count)
    for (index, column) in page.columns.enumerated() {
      columns.initializeElement(at: index, to: quire_column(column))
    }
  }

  deinit { columns.deallocate() }

  /// nil when `index` is out of range.
  func column(_ index: Int) -> UnsafePointer<quire_column>? {
    guard columns.indices.contains(index), let base = columns.baseAddress else { return nil }
    let column = page.columns[index]
    if column.isToBeSeparated {
      separated.withLock { separated in
        if separated[index] != nil { return }
        // It may be lent by now, and stays as it was found first.
        let made = column.separated() ?? column
        separated[index] = made
        columns[index] = quire_column(made)
      }
    }
    return UnsafePointer(base + index)
  }
}

extension quire_column {
  fileprivate init(_ column: Column) {
    self.init(
      name: UnsafeRawPointer(column.name.start).assumingMemoryBound(to: CChar.self), type: column.kind.rawValue,
      reserved: 0, length: Int64(column.length), nil_count: Int64(column.nilCount), validity: column.validity,
      offsets: column.offsets, values: column.values, values_size: Int64(column.valuesSize))
  }
}

/// Rows whose values can be read as pages.
protocol PagedRows: ContextBound {
  var count: Int { get }
  func page(_ range: Range<Int>, keys: [String], nulSeparated: Bool) throws(Failure) -> Page
}

extension ObjectList: PagedRows {}
extension ResultsController: PagedRows {}

/// Returns the values of `count` rows from `first` on, by `out_page`.
@inline(__always)
func givePage<H: Handle>(
  _ rows: UnsafeMutablePointer<H>?, _ name: InputName, _ first: Int64, _ count: Int64,
  _ key_paths: UnsafePointer<UnsafePointer<CChar>?>?, _ key_path_count: Int, _ flags: UInt32,
  _ out_page: Out<quire_page>, _ out_error: ErrorOut
) -> quire_status where H.Object: PagedRows {
  status(rows, name, giving: out_page, "out_page", out_error) { rows throws(Failure) in
    try rows.owningContext.beginReading()
    let page = try rows.page(
      range(first, count, of: rows.count), keys: strings(key_paths, key_path_count, "key_paths"),
      nulSeparated: pageFlags(flags).nulSeparated)
    return ExportedPage(page)
  }
}
