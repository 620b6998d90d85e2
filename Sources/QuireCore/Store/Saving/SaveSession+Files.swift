/// Files beside the store that no row names any more.
extension SaveSession {
  /// To be called before anything is written.
  func noteReplacedFiles() throws(Failure) {
    if !store.external.isUsed { return }
    for update in request.updates {
      let all = update.entity.properties
      let properties = update.changes.compactMap { all.indices.contains($0.slot) ? all[$0.slot] : nil }
      try store.noteReplacedFiles(of: CollectionOfOne(update.id), entity: update.entity, properties, on: connection)
    }
    for (_, deletes) in Dictionary(grouping: request.deletes, by: \.entity.number) {
      guard let entity = deletes.first?.entity else { continue }
      try store.noteReplacedFiles(of: deletes.map(\.id), entity: entity, entity.properties, on: connection)
    }
  }
}

extension Store {
  /// Some properties of these rows, or the rows themselves, are about to be written over.
  func noteReplacedFiles(
    of ids: some Collection<Int64>, entity: Entity, _ properties: [Property], on connection: Connection
  ) throws(Failure) {
    if !external.isUsed || ids.isEmpty { return }
    for property in properties where property.externalColumn != nil {
      guard let column = schema.valueColumn(of: property) else { continue }
      let select = try connection.statement(
        "SELECT \(column) FROM \(schema.table(of: entity)) "
          + "WHERE Z_PK IN (\(IDList.sql)) AND length(\(column)) = \(ExternalStorage.referenceLength)")
      try select.bind(IDList.argument(ids), at: 1)
      while try select.step() {
        if let stored = select.data(at: 0) { external.noteReplaced(stored) }
      }
    }
  }
}
