/// How the objects of a list come by their values.
struct ObjectReading {
  enum Extent {
    /// With the row, of so many objects at a time as a batch has.
    case values
    /// When a value is asked for, those of a batch together. Properties that are named come with the objects.
    case whenTouched([Property])
    /// When a value is asked for, each object alone.
    case alone
  }

  var extent = Extent.values
  /// 0: all at once.
  var batchSize = 0
  /// What is read with them.
  var prefetched: [[Relationship]] = []
  /// Whether objects that have values already take over newer ones.
  var refreshes = false

  /// Objects with their values.
  init(batchSize: Int = 0) { self.batchSize = batchSize }

  init(_ request: FetchRequest, of entity: Entity) throws(Failure) {
    batchSize = request.batchSize
    refreshes = request.shouldRefreshRefetchedObjects
    prefetched = try ObjectReading.prefetched(request, of: entity)
    let partial = try ObjectReading.properties(request.projection, of: entity)
    if !request.includesPropertyValues {
      extent = .alone
    } else if request.returnsObjectsAsFaults || !partial.isEmpty {
      extent = .whenTouched(partial)
    }
    try checkAgrees(request, partial)
  }

  static func prefetched(_ request: FetchRequest, of entity: Entity) throws(Failure) -> [[Relationship]] {
    try request.prefetchedKeyPaths.map { (names) throws(Failure) in try relationships(names, of: entity) }
  }

  private func checkAgrees(_ request: FetchRequest, _ partial: [Property]) throws(Failure) {
    if case .values = extent { return }
    let needs =
      refreshes
      ? "refresh objects that it has fetched before"
      : prefetched.isEmpty ? nil : "prefetch '\(request.prefetchedKeyPaths[0].joined(separator: "."))'"
    if let needs {
      throw Failure(
        .invalidArgument,
        "The request for '\(request.entityName)' cannot leave values unread and \(needs), which needs them. "
          + "Let it read the values, or leave out the other.")
    }
    if case .alone = extent, !partial.isEmpty {
      throw Failure(
        .invalidArgument,
        "The request for '\(request.entityName)' names properties to fetch and includes no values. Do one of the two.")
    }
  }

  /// A path of relationships of any kind.
  private static func relationships(_ names: [String], of entity: Entity) throws(Failure) -> [Relationship] {
    var current = entity
    var path: [Relationship] = []
    for name in names {
      let property = try current.property(named: name)
      guard let relationship = property as? Relationship, !relationship.isTransient else {
        throw Failure(
          .invalidArgument,
          "Key path to prefetch '\(names.joined(separator: "."))' uses '\(property.qualifiedName)', which is "
            + "\(property is Relationship ? "transient: the store does not have it" : "an attribute"). "
            + "Name stored relationships only.", about: .property(property))
      }
      path.append(relationship)
      current = relationship.destination
    }
    return path
  }

  /// The properties that partial objects have.
  private static func properties(_ projection: Projection, of entity: Entity) throws(Failure) -> [Property] {
    var properties: [Property] = []
    for column in projection.columns {
      // Others are refused before.
      guard case .keyPath(let keys) = column.expression else { continue }
      let path = try ResolvedKeyPath(keys.names, of: entity, for: .fetchedProperty)
      if !path.relationships.isEmpty {
        throw Failure(
          .invalidArgument,
          "Property to fetch '\(path.text)' belongs to a related object, and objects are fetched with properties of "
            + "their own. Fetch dictionaries, or prefetch the relationship.")
      }
      properties.append(path.last)
    }
    return properties
  }
}
