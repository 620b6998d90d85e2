/// Rows of values, column by column.
final class Page: Sendable {
  let rowCount: Int
  let columns: [Column]

  init(rowCount: Int, columns: [Column]) {
    self.rowCount = rowCount
    self.columns = columns
  }
}
