/// The text index of a column, as a query reaches it.
struct TextIndexColumn {
  let index: TextIndex
  let search: TextIndexSearch
  /// The row's primary key.
  let key: SQLExpr

  /// Holds for every row whose text the operator holds for, and for some more. False or NULL for rows without text, so
  /// before AND it leaves a two-valued test two-valued. nil when the index does not help.
  func candidates(
    _ operation: TextMatcher.Operation, _ pattern: Text, _ folding: TextFolding, _ arguments: SQLArguments
  ) -> SQLExpr? {
    let trigrams = Trigram.all(in: SearchLiterals.of(operation, pattern, folding))
    guard !trigrams.isEmpty, let chosen = search.choose(from: trigrams, of: index) else { return nil }
    let query = arguments.parameter(.text(Text(chosen.map(\.quoted).joined(separator: " AND "))))
    let table = SQLTable.named(index.name)
    let isFound = SQLExpr.compare(.column("", index.name), .match, query)
    let found = SQLSelect(
      value: .column("", "rowid"), name: "Z_PK", query: SQLQuery(tables: [table], conditions: [isFound]))
    let pending = SQLSelect(value: .column("", "Z_PK"), query: SQLQuery(tables: [.named(index.pending)]))
    return .member(key, of: .searched(SQLSelects(found, pending)), isExact: true)
  }
}

extension TextIndexSearch {
  /// `key` is the row's primary key; nil when the attribute is not searchable.
  func column(of attribute: Attribute, key: SQLExpr) -> TextIndexColumn? {
    index(of: attribute).map { TextIndexColumn(index: $0, search: self, key: key) }
  }
}
