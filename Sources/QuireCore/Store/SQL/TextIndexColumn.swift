/// The text index of a column, as a query reaches it.
struct TextIndexColumn {
  let index: TextIndex
  let indexes: TextIndexes
  /// SQL of the row's primary key.
  let key: String

  /// Holds for every row whose text the operator holds for, and for some more; false or NULL for rows without text, so
  /// that before AND it leaves a two-valued test two-valued. nil when the index does not help.
  func candidates(
    _ operation: TextMatcher.Operation, _ pattern: Text, _ folding: TextFolding, _ arguments: SQLArguments
  ) -> SQLFragment? {
    let trigrams = Trigram.all(in: SearchLiterals.of(operation, pattern, folding))
    guard !trigrams.isEmpty, let chosen = indexes.choose(from: trigrams, of: index) else { return nil }
    let query = arguments.parameter(.text(Text(chosen.map(\.quoted).joined(separator: " AND "))))
    let keys = [
      "SELECT rowid AS Z_PK FROM \(index.name) WHERE \(index.name) MATCH \(query)", "SELECT Z_PK FROM \(index.pending)",
    ]
    return SQLFragment(
      sql: "\(key) IN (\(keys.joined(separator: " UNION ALL ")))", isExact: true, stack: 24,
      keyed: SQLKeyedSearch(key: key, keys: keys, test: ""))
  }
}

extension TextIndexes {
  /// `key` is the SQL of the row's primary key; nil when the attribute is not searchable.
  func column(of attribute: Attribute, key: String) -> TextIndexColumn? {
    index(of: attribute).map { TextIndexColumn(index: $0, indexes: self, key: key) }
  }
}
