import CQuire

/// A page with its columns as C sees them.
final class ExportedPage: @unchecked Sendable {
  let page: Page
  let columns: UnsafeMutableBufferPointer<quire_column>

  init(_ page: Page) {
    self.page = page
    columns = .allocate(capacity: page.columns.count)
    for (index, column) in page.columns.enumerated() {
      columns.initializeElement(
        at: index,
        to: quire_column(
          name: UnsafeRawPointer(column.name.start).assumingMemoryBound(to: CChar.self), type: column.kind.rawValue,
          reserved: 0, length: Int64(column.length), nil_count: Int64(column.nilCount), validity: column.validity,
          offsets: column.offsets, values: column.values, values_size: Int64(column.valuesSize)))
    }
  }

  deinit { columns.deallocate() }
}
