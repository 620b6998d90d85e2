/// Fetched properties: lists of objects that a request of the model has as result for each object.
extension Context {
  /// The objects of a fetched property: what its request gave when it was first read since the object was.
  func fetched(_ name: String, of object: ManagedObject) throws(Failure) -> ObjectList {
    try object.checkBelongs(to: self)
    try object.checkReadable()
    let property = try object.entity.fetchedProperty(named: name)
    guard let template = property.template as? FetchRequest else {
      throw Failure(.invalidModel, "Fetched property '\(object.entity.name).\(name)' has no request.")
    }
    if let rows = object.fetched[name] {
      let entity = try model.entity(named: template.entityName)
      return ObjectList(
        context: self, entity: entity, rows: try live(rows, of: entity),
        reading: try ObjectReading(template, of: entity))
    }
    // What was read is kept as long as its values are.
    try object.fulfil()
    let request = template.copy()
    let values: [String: Expression] = [
      FetchRequest.source: .constant(.object(object.lentReference())),
      FetchRequest.fetchedProperty: .constant(.text(name)),
    ]
    request.predicate = try request.predicate?.substituting(expressions: values) {
      (variable, keys) throws(Failure) -> Expression? in
      switch variable {
      case FetchRequest.source:
        return .constant(try ExpressionEvaluator(.keyPath(keys)).value(of: .subject(object), variables: [:]).constant)
      case FetchRequest.fetchedProperty: return .constant(try property.value(of: keys, entity: object.entity))
      default: return nil
      }
    }
    let list = try fetch(request)
    if !object.isFault { object.fetched[name] = list.rows }
    return list
  }

  /// Those of the rows that were not deleted since, here or in the store.
  private func live(
    _ rows: ContiguousArray<RowIdentifier>, of entity: Entity
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    var unknown: [Int64] = []
    var live: Set<Int64> = []
    for row in rows {
      let reference = ObjectReference(root: entity.rootNumber, id: row.id)
      guard let object = registeredObject(reference), !object.isFault || !object.isLive else {
        unknown.append(row.id)
        continue
      }
      if object.isLive { live.insert(row.id) }
    }
    live.formUnion(try source.usedIDs(unknown, of: entity))
    return ContiguousArray(rows.filter { live.contains($0.id) })
  }
}

extension FetchRequest {
  /// The object whose fetched property is read, to the predicate of its request.
  fileprivate static let source = "FETCH_SOURCE"
  fileprivate static let fetchedProperty = "FETCHED_PROPERTY"
}

extension FetchedProperty {
  /// What keys behind $FETCHED_PROPERTY come to: its name, or a text of its user info.
  fileprivate func value(of keys: [Key], entity: Entity) throws(Failure) -> Value {
    let names = keys.map(\.name)
    if names == ["name"] { return .text(nameText) }
    if names.count == 2, names[0] == "userInfo" { return userInfo.text(Text(names[1])).map { .text($0) } ?? .nil }
    throw Failure(
      .invalidPredicate,
      "The request of the fetched property '\(entity.name).\(name)' asks for "
        + "$FETCHED_PROPERTY.\(names.joined(separator: ".")). It can ask for $FETCHED_PROPERTY.name, and for "
        + "$FETCHED_PROPERTY.userInfo with one key of its user info.", about: .entity(entity, key: name))
  }
}

extension Item {
  /// As a predicate can have it for a constant: objects by their ids.
  fileprivate var constant: Value {
    if let scalar { return scalar }
    return .list((elements ?? []).map(\.constant))
  }
}

extension Model {
  /// Adds a fetched property to an entity.
  func addFetchedProperty(named name: String, to entityName: String, request: FetchRequest) throws(Failure) {
    let property = "the fetched property '\(entityName).\(name)'"
    try request.checkForFetchedProperty(property)
    let known = [FetchRequest.source, FetchRequest.fetchedProperty]
    if let unknown = request.predicate?.freeVariables.first(where: { !known.contains($0) }) {
      throw Failure(
        .invalidModel,
        "The request of \(property) has the variable $\(unknown), which has no value. "
          + "It can have $\(known[0]), the object, and $\(known[1]), the name of the property.")
    }
    try addFetchedProperty(named: name, to: entityName, request)
  }
}
