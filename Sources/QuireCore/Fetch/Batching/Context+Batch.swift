/// Requests that change the store itself, without an object for each row. What is pending in the context takes no part.
extension Context {
  /// Sets properties of all rows that answer a request, to values or to what expressions give for each row. Gives those
  /// rows, in the order of the request.
  func update(
    _ request: FetchRequest, _ values: [(key: String, value: FormatArgument)], merges: Bool
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try request.checkForBatch(.update)
    try prepareBatch()
    let query = try BoundQuery(request, in: self)
    var changes: [(property: Property, value: Value)] = []
    var expressions: [(attribute: Attribute, expression: Expression)] = []
    var named: Set<String> = []
    for (key, value) in values {
      let property = try query.entity.property(named: key)
      if !named.insert(key).inserted {
        throw Failure(.invalidArgument, "'\(property.qualifiedName)' is given twice.", about: .property(property))
      }
      try checkForBatch(property)
      switch value {
      case .expression(.constant(let constant)):
        changes.append((property, try checkedForBatch(constant.value, property)))
      case .value(let value):
        changes.append((property, try checkedForBatch(value, property)))
      case .expression(let expression):
        let bound = try BoundExpression(expression, to: query.entity, of: store.uuid)
        expressions.append((try computable(property, by: expression), bound.expression))
      case .predicate:
        throw Failure(
          .invalidArgument, "'\(property.qualifiedName)' is given a predicate; a value or an expression is needed.",
          about: .property(property))
      }
    }
    let plan = window(query.plan(), request)
    let monitor = FetchMonitor(.update, of: request.entityName, request.cancellation, request.progress, in: self)
    return try runBatch(watchedBy: monitor, merges: merges) { session throws(Failure) in
      let rows = try store.newest.ids(plan)
      for (property, value) in changes { try checkRules(value, property, rows) }
      // All is calculated before anything is written, since an expression may look at other rows too.
      // Their names are no keys, since the request may order by those.
      let columns = expressions.map { (attribute, expression) in
        Projection.Column(name: "the value for \(attribute.qualifiedName)", expression: expression)
      }
      let calculated = columns.isEmpty ? [] : try session.values(of: columns, plan)
      var computed: [ComputedValues] = []
      for (place, values) in calculated.enumerated() {
        let attribute = expressions[place].attribute
        var fitting: [Value] = []
        fitting.reserveCapacity(values.count)
        for (row, value) in zip(rows, values) {
          try monitor?.check()
          let value = try checkedForBatch(attribute.rounded(value), attribute)
          fitting.append(value)
          try checkRules(value, attribute, [row])
        }
        computed.append(ComputedValues(attribute: attribute, values: fitting))
      }
      try session.update(rows, of: query.entity, to: changes, computed)
      return rows
    }
  }

  /// Deletes all rows that answer a request, by the delete rules. Gives the ids that they had, without those that the
  /// rules took along.
  func delete(_ request: FetchRequest, merges: Bool) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try request.checkForBatch(.deletion)
    try prepareBatch()
    let query = try BoundQuery(request, in: self)
    let plan = window(query.plan(), request)
    let monitor = FetchMonitor(.deletion, of: request.entityName, request.cancellation, request.progress, in: self)
    return try runBatch(watchedBy: monitor, merges: merges) { session throws(Failure) in
      let rows = try store.newest.ids(plan)
      try session.delete(rows)
      return rows
    }
  }

  /// Inserts a row for each row of a table of values; `value(column, row)` returns a cell. With `upserts` those that
  /// have the unique values of a row that is there update it.
  func insertIntoStore(
    entityNamed name: String, keys: [String], rowCount: Int, merges: Bool, upserts: Bool = false,
    cancellation: Cancellation? = nil, progress: FetchMonitor.Progress? = nil,
    value: (Int, Int) throws(Failure) -> Value
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try prepareBatch()
    let entity = try insertableEntity(named: name)
    for key in keys {
      guard let property = entity.propertiesByName[key], property.isTransient else { continue }
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is transient, so there is nothing of it in the store to insert.",
        about: .property(property))
    }
    let monitor = FetchMonitor(.insertion, of: name, cancellation, progress, in: self)
    let inserted = try store.watched(by: monitor) { () throws(Failure) -> ContiguousArray<RowIdentifier> in
      let values = try rows(of: entity, keys: keys, rowCount: rowCount) { (column, row) throws(Failure) in
        if column == 0 { try monitor?.check() }
        return try value(column, row)
      }
      if values.isEmpty { return [] }
      if upserts {
        let given = keys.compactMap { entity.propertiesByName[$0] }
        return try carryOut(merges: merges) { session throws(Failure) in
          let upsert = try session.upsert(values, of: entity, given: given)
          let inserts = BatchRows(numbers: upsert.inserts.map(\.row), values: upsert.inserts.map(\.values))
          try checkMandatory(entity, inserts)
          try checkRules(entity, inserts, entity.properties, monitor)
          // A row that is there has values of its own for properties without a column.
          try checkMandatory(entity, BatchRows(values: values), given.filter { !$0.isOptional })
          try checkRules(entity, BatchRows(values: values), given, monitor)
          return try session.run(upsert, of: entity)
        }
      }
      try checkMandatory(entity, BatchRows(values: values))
      try checkRules(entity, BatchRows(values: values), entity.properties, monitor)
      return try carryOut(merges: merges) { session throws(Failure) in try session.insert(values, of: entity) }
    }
    takeBatch()
    return inserted
  }

  /// Observers are notified of pending changes first, so the next notification is the work of the request alone.
  private func prepareBatch() throws(Failure) {
    try checkMayChange()
    try source.checkHasBatchRequests()
    try process()
  }

  private func runBatch(
    watchedBy monitor: FetchMonitor?, merges: Bool,
    _ body: (any BatchWriter) throws(Failure) -> ContiguousArray<RowIdentifier>
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    let rows = try store.watched(by: monitor) { () throws(Failure) in try carryOut(merges: merges, body) }
    takeBatch()
    return rows
  }

  private func carryOut(
    merges: Bool, _ body: (any BatchWriter) throws(Failure) -> ContiguousArray<RowIdentifier>
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try source.batch(in: self, merges: merges, body)
  }

  /// From here on nothing fails: the file has the changes. Observers that cannot be notified now are notified the next
  /// time.
  private func takeBatch() {
    let isBeyondCommit = isBeyondOwnCommit
    defer { if isBeyondCommit { try? mergeInbox() } }
    guard let merge = mergeAfterSave else { return }
    mergeAfterSave = nil
    loseTrack(of: merge.adrift)
    merge.run()
    earlyReading.forget()
    try? propagateDeletesToOthers()
    try? notifyObservers()
    try? tellRestOfLists()
  }

  private func checkForBatch(_ property: Property) throws(Failure) {
    try property.checkNotDerived()
    if property.isTransient {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is transient, so there is nothing of it in the store to update.",
        about: .property(property))
    }
    if let relationship = property as? Relationship, relationship.isToMany {
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' is a to-many relationship; a batch request updates attributes and to-one "
          + "relationships. Change it on the objects.", about: .property(property))
    }
  }

  private func computable(_ property: Property, by expression: Expression) throws(Failure) -> Attribute {
    guard let attribute = property as? Attribute else {
      throw Failure(
        .unsupported,
        "'\(property.qualifiedName)' is a relationship; a batch request calculates attributes (\(expression.text)). "
          + "Give an object or none, or set it on the objects.", about: .property(property))
    }
    return attribute
  }

  private func checkedForBatch(_ value: Value, _ property: Property) throws(Failure) -> Value {
    if value.isNil, !property.isOptional {
      throw Failure(
        .validation, "'\(property.qualifiedName)' is mandatory and cannot be left without a value.",
        about: .property(property), broken: BrokenRule(.mandatory, value: .nil))
    }
    return try checked(value, for: property)
  }

  /// Rules about an attribute hold here as in a save; those about an object do not, because there is none.
  private func checkRules(
    _ value: Value, _ property: Property, _ rows: ContiguousArray<RowIdentifier>
  ) throws(Failure) {
    if value.isNil || property is Relationship { return }
    for number in Set(rows.map(\.entity)) {
      guard let entity = model.entity(numbered: Int(number)) else { continue }
      try Validation.check(value, of: property, in: entity, self)
    }
  }

  private func checked(_ value: Value, for property: Property) throws(Failure) -> Value {
    if let attribute = property as? Attribute { return try attribute.coerce(value) }
    switch value {
    case .object(let box) where box.reference.isTemporary || registeredObject(box.reference)?.state == .inserted:
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' cannot be set to an object that is not saved; a batch request sees what is in the "
          + "store. Save it first.", about: .property(property))
    case .nil, .object: return value
    default:
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' is a to-one relationship and cannot hold \(value.kindName); give an object or "
          + "none.",
        about: .property(property))
    }
  }

  /// A row must have what a save would ask of a new object; relationships have nothing yet.
  private func checkMandatory(_ entity: Entity, _ rows: BatchRows) throws(Failure) {
    if rows.values.isEmpty { return }
    let mandatory = entity.properties.filter { !$0.isOptional && !$0.isDerived }
    for property in mandatory {
      if property is Relationship {
        throw Failure(
          .validation,
          "'\(property.qualifiedName)' is mandatory, and rows are inserted without relationships. Insert objects.",
          about: .property(property))
      }
    }
    try checkMandatory(entity, rows, mandatory)
  }

  private func checkMandatory(
    _ entity: Entity, _ rows: BatchRows, _ properties: [Property]
  ) throws(Failure) {
    // Row by row, where each has all: their memory is far apart.
    let slots = properties.map(\.slot)
    if !rows.values.contains(where: { values in slots.contains { values[$0].isNil } }) { return }
    for property in properties {
      if let place = rows.values.firstIndex(where: { $0[property.slot].isNil }) {
        let row = rows.number(at: place)
        throw Failure(
          .validation, "'\(property.qualifiedName)' is mandatory but has no value in row \(row), counted from 0.",
          about: Offender(entityName: entity.nameText, key: property.nameText, row: row),
          broken: BrokenRule(.mandatory, value: .nil))
      }
    }
  }

  private func checkRules(
    _ entity: Entity, _ rows: BatchRows, _ properties: [Property], _ monitor: FetchMonitor?
  ) throws(Failure) {
    let rules = try ruleBook.rules(of: entity)
    for property in properties where !rules.tests(of: property).isEmpty {
      for (place, values) in rows.values.enumerated() {
        try monitor?.check()
        try Validation.check(values[property.slot], of: property, in: entity, row: rows.number(at: place), self)
      }
    }
  }
}

/// Rows to be inserted, by slot, with the numbers that they have in the table that was given.
private struct BatchRows {
  /// nil where the table has no others.
  var numbers: [Int]?
  let values: [ContiguousArray<Value>]

  func number(at place: Int) -> Int { numbers?[place] ?? place }
}
