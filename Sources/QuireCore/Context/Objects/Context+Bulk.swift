extension Context {
  /// Inserts one object for each row of a table of values; `value(column, row)` returns a cell. All or nothing.
  func insert(
    entityNamed name: String, keys: [String], rowCount: Int, value: (Int, Int) throws(Failure) -> Value
  ) throws(Failure) -> Int64 {
    let entity = try insertableEntity(named: name)
    let rows = try rows(of: entity, keys: keys, rowCount: rowCount, value: value)
    if rows.isEmpty { return 0 }
    let reserved = store.reserveIDs(root: entity.root, count: rows.count)
    let first = reserved ?? store.takeTemporaryIDs(rows.count)
    var objects: [ManagedObject] = []
    for (row, values) in rows.enumerated() {
      let id = reserved == nil ? first - Int64(row) : first + Int64(row)
      let object = ManagedObject(context: self, entity: entity, id: id, state: .inserted, values: values)
      table.register(object)
      markInserted(object)
      if hooks != nil { objects.append(object) }
    }
    try awakeFromInsert(objects)
    return first
  }

  /// The values of new objects by slot, those without a column with their defaults.
  func rows(
    of entity: Entity, keys: [String], rowCount: Int, value: (Int, Int) throws(Failure) -> Value
  ) throws(Failure) -> [ContiguousArray<Value>] {
    var attributes: [Attribute] = []
    for key in keys {
      guard let attribute = try entity.property(named: key) as? Attribute else {
        throw Failure(
          .invalidArgument,
          "'\(entity.name).\(key)' is a relationship; rows are inserted from attributes. Set it on the objects.",
          about: .entity(entity, key: key))
      }
      try attribute.checkNotDerived()
      if attributes.contains(where: { $0 === attribute }) {
        throw Failure(.invalidArgument, "The column '\(key)' is given twice.", about: .property(attribute))
      }
      attributes.append(attribute)
    }
    let defaults = entity.initialValues
    // For each row its values, and what is noted of it on the way into the file.
    let size = defaults.count * MemoryLayout<Value>.stride + 300
    try Memory.require(
      size.multipliedReportingOverflow(by: rowCount).overflow ? Int.max >> 1 : size * rowCount,
      for: "the values of \(rowCount) rows of '\(entity.name)'")
    var rows: [ContiguousArray<Value>] = []
    rows.reserveCapacity(rowCount)
    for row in 0..<rowCount {
      var values = defaults
      for (column, attribute) in attributes.enumerated() {
        do throws(Failure) { values[attribute.slot] = try attribute.coerce(value(column, row)) } catch {
          // That of a value that cannot be read names its row already.
          throw error.offender?.row == nil ? error.inRow(row, of: .entity(entity, key: attribute.name)) : error
        }
      }
      rows.append(values)
    }
    return rows
  }
}
