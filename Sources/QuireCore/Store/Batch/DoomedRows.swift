/// Rows that a batch request removes, by the root of their entity and by key.
struct DoomedRows {
  private var entities: [Int: [Int64: Int32]] = [:]
  private(set) var rows: ContiguousArray<RowIdentifier> = []

  func contains(_ root: Int, _ id: Int64) -> Bool { entities[root]?[id] != nil }

  /// False when it was there.
  mutating func insert(_ row: RowIdentifier, root: Int) -> Bool {
    guard entities[root, default: [:]].updateValue(row.entity, forKey: row.id) == nil else { return false }
    rows.append(row)
    return true
  }

  var roots: [Int] { entities.keys.sorted() }
  func ids(root: Int) -> [Int64] { (entities[root] ?? [:]).keys.sorted() }
}
