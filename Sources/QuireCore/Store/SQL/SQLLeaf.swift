/// What SQL looks up for a program.
struct SQLLeaf {
  indirect enum Kind: Sendable {
    case value(ColumnType)
    /// An integer or a real, as it comes; data for NaN, which SQL has no number for.
    case number
    /// What `quire_pack` gathered.
    case list(Kind)
    /// What a program gave, in the form of `ItemCoding`.
    case coded
  }

  let expr: SQLExpr
  let kind: Kind
  let home: Int
  /// The same in the order of its values, where `expr` has another form.
  var order: SQLExpr?
}
