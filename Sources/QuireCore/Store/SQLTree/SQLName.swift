/// A column of a table that a statement reads. Without an alias, of the one table that the column can be of.
struct SQLName: Hashable {
  let alias: String
  let column: String

  init(_ alias: String, _ column: String) {
    self.alias = alias
    self.column = column
  }
}
