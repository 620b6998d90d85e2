/// Which row of a table: its primary key within the tree of entities, and its concrete entity.
struct RowIdentifier: Hashable, Sendable {
  let id: Int64
  /// Z_ENT.
  let entity: Int32
}
