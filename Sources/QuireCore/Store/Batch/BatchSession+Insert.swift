extension BatchSession {
  /// Inserts rows of one entity, whose values are by slot. Returns them in that order.
  func insert(_ values: [ContiguousArray<Value>], of entity: Entity) throws(Failure) -> ContiguousArray<RowIdentifier> {
    var request = SaveRequest()
    request.inserts.reserveCapacity(values.count)
    for (row, values) in values.enumerated() {
      request.inserts.append(SaveRequest.Insert(entity: entity, id: -1 - Int64(row), values: values))
    }
    let result = try SaveSession(request: request, store: store, connection: connection).run()
    var rows: ContiguousArray<RowIdentifier> = []
    rows.reserveCapacity(values.count)
    for insert in request.inserts {
      guard let id = result.permanentIDs[insert.reference] else { continue }
      rows.append(RowIdentifier(id: id, entity: Int32(entity.number)))
    }
    noteInserted(rows)
    return rows
  }
}
