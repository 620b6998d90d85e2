/// Which row of a table: its primary key within the tree of entities, and its concrete entity.
struct RowIdentifier: Hashable, Sendable {
  let id: Int64
  /// Z_ENT.
  let entity: Int32
}

/// One stored row as it was read.
///
/// `values` are by property slot of `entity`: attributes and to-one references as stored, nil for to-many
/// relationships, the default of a transient attribute.
struct Row {
  let entity: Entity
  let id: Int64
  /// Z_OPT: 1 when inserted, one more with each update.
  let version: Int64
  let values: ContiguousArray<Value>
}
