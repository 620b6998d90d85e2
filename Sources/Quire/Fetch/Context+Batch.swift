/// Requests that change the store itself, without an object for each row. What is pending in the context takes no part.
extension Context {
  /// Sets properties of all rows that answer a request. Gives those rows, in the order of the request.
  func update(
    _ request: FetchRequest, _ values: [(key: String, value: Value)], merges: Bool
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try prepareBatch()
    let query = try FetchQuery(request, in: self)
    var changes: [(property: Property, value: Value)] = []
    for (key, value) in values {
      let property = try query.entity.property(named: key)
      if changes.contains(where: { $0.property === property }) {
        throw Failure(.invalidArgument, "'\(property.qualifiedName)' is given twice.")
      }
      changes.append((property, try checkedForBatch(value, property)))
    }
    return try runBatch(merges: merges) { session throws(Failure) in
      let rows = try matchingRows(request, query)
      try session.update(rows, of: query.entity, to: changes)
      return rows
    }
  }

  /// Deletes all rows that answer a request, by the delete rules. Gives the ids that they had, without those that the
  /// rules took along.
  func delete(_ request: FetchRequest, merges: Bool) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try prepareBatch()
    let query = try FetchQuery(request, in: self)
    return try runBatch(merges: merges) { session throws(Failure) in
      let rows = try matchingRows(request, query)
      try session.delete(rows)
      return rows
    }
  }

  /// Inserts a row for each row of a table of values; `value(column, row)` gives a cell.
  func insertIntoStore(
    entityNamed name: String, keys: [String], rowCount: Int, merges: Bool, value: (Int, Int) throws(Failure) -> Value
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try prepareBatch()
    let entity = try insertableEntity(named: name)
    let values = try rows(of: entity, keys: keys, rowCount: rowCount, value: value)
    if values.isEmpty { return [] }
    try checkMandatory(entity, values)
    return try runBatch(merges: merges) { session throws(Failure) in try session.insert(values, of: entity) }
  }

  private func matchingRows(
    _ request: FetchRequest, _ query: FetchQuery
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try store.watched(by: query.monitor) { () throws(Failure) in try store.ids(window(query.plan(), request)) }
  }

  /// Observers hear of what is pending first, so that what they are told next is the work of the request alone.
  private func prepareBatch() throws(Failure) {
    try store.checkOpen()
    try process()
  }

  private func runBatch(
    merges: Bool, _ body: (BatchSession) throws(Failure) -> ContiguousArray<RowIdentifier>
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    let (rows, prepared) = try store.batch { session throws(Failure) in
      let rows = try body(session)
      return (rows, merges ? try prepareMerge(of: session.change) : nil)
    }
    // From here on nothing fails: the file has the changes. Who cannot be told now is told the next time.
    if let prepared {
      merge(prepared)
      try? process()
    }
    return rows
  }

  private func checkedForBatch(_ value: Value, _ property: Property) throws(Failure) -> Value {
    if property.isTransient {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is transient, so there is nothing of it in the store to update.")
    }
    if let relationship = property as? Relationship, relationship.isToMany {
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' is a to-many relationship; a batch request updates attributes and to-one "
          + "relationships. Change it on the objects.")
    }
    if value.isNil, !property.isOptional {
      throw Failure(.validation, "'\(property.qualifiedName)' is mandatory and cannot be set to nil.")
    }
    return try checked(value, for: property)
  }

  private func checked(_ value: Value, for property: Property) throws(Failure) -> Value {
    if let attribute = property as? Attribute { return try attribute.coerce(value) }
    switch value {
    case .nil, .object: return value
    default:
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' is a to-one relationship and cannot hold \(value.kindName); give an object or nil."
      )
    }
  }

  /// A row must have what a save would ask of a new object; relationships have nothing yet.
  private func checkMandatory(_ entity: Entity, _ rows: [ContiguousArray<Value>]) throws(Failure) {
    for property in entity.properties where !property.isOptional {
      if property is Relationship {
        throw Failure(
          .validation,
          "'\(property.qualifiedName)' is mandatory, and rows are inserted without relationships. Insert objects.")
      }
      if let row = rows.firstIndex(where: { $0[property.slot].isNil }) {
        throw Failure(
          .validation, "'\(property.qualifiedName)' is mandatory but has no value in row \(row), counted from 0.")
      }
    }
  }
}
