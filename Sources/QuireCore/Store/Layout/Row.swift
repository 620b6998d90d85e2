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
