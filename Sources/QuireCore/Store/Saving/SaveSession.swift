/// One save under way, inside its transaction. Its steps, in the order of `run`, are in the extensions.
final class SaveSession {
  let request: SaveRequest
  let store: Store
  let schema: Schema
  let connection: Connection

  var permanentIDs = PermanentIDs()
  /// Inserts with temporary ids by root, in the order of their new keys, which begin at `first`.
  var numbered: [Int: (first: Int64, rows: ContiguousArray<SaveRequest.Insert>)] = [:]
  /// Inserts that had permanent ids before the save, by root, in the order of these.
  var prenumbered: [Int: ContiguousArray<SaveRequest.Insert>] = [:]
  /// Concrete entities of saved rows that were looked up; -1 for rows that do not exist.
  private var entityNumbers: [ObjectReference: Int] = [:]
  /// Rows to refer to that are gone and were noted as such.
  private var missing: Set<ObjectReference> = []
  /// Highest order key in use, by list.
  private var highestOrderKeys: [OrderedList: Int64] = [:]
  /// The owners that lose members without being part of the request.
  var ownersLosingMembers: [(relationship: Relationship, owners: [RowIdentifier])] = []
  /// Objects that another writer changed or deleted; gathered so that a merge sees them all.
  private var conflicts: [Failure] = []

  private struct OrderedList: Hashable {
    let relationship: ObjectIdentifier
    let owner: Int64
  }

  init(request: SaveRequest, store: Store, connection: Connection) {
    self.request = request
    self.store = store
    self.schema = store.schema
    self.connection = connection
  }

  /// Deletes come before updates and updates before inserts, so that a unique value that became free can be reused.
  func run() throws(Failure) -> SaveResult {
    try allocate()
    try checkReservedIDs()
    try noteReplacedFiles()
    try noteDeletions()
    ownersLosingMembers = try ownersLosingMembersByDeletions()
    try deleteRows()
    try removeMembers()
    try updateRows()
    try insertRows()
    try addMembers()
    try writeOrders()
    try checkDeletedAreFree()
    try throwConflicts()
    return SaveResult(permanentIDs: permanentIDs, ownersLosingMembers: ownersLosingMembers)
  }

  // MARK: References

  /// The reference as the file can hold it.
  func permanent(_ reference: ObjectReference, for property: Property) throws(Failure) -> ObjectReference {
    if !reference.isTemporary { return reference }
    if let id = permanentIDs[reference] { return ObjectReference(root: reference.root, id: id) }
    throw Failure(
      .invalidState,
      "'\(property.qualifiedName)' refers to the unsaved object \(reference.id) of '\(rootName(reference))', "
        + "which this save does not insert. Insert it in the same context, or save it first.",
      about: .property(property))
  }

  /// Z_ENT of the row that a relationship is about to refer to; that it is no longer there `throwConflicts` reports.
  func entityNumber(of reference: ObjectReference, for relationship: Relationship) throws(Failure) -> Int {
    let expected = relationship.destination
    guard reference.root == expected.rootNumber else {
      throw Failure(
        .invalidArgument,
        "'\(relationship.qualifiedName)' refers to objects of '\(expected.name)', not of '\(rootName(reference))'.",
        about: .property(relationship))
    }
    let number = try entityNumber(of: reference)
    if (expected.number...expected.lastNumber).contains(number) { return number }
    if number < 0 {
      // The save goes on and fails in the end, so that a merge sees all that is gone at once.
      if missing.insert(reference).inserted {
        note(
          Failure(
            .conflict,
            "'\(relationship.qualifiedName)' was to refer to \(expected.name) \(reference.id), "
              + "which is no longer in the store. Refer to another object, or to none.",
            about: .property(relationship), report: SaveConflict.missing(reference)))
      }
      return expected.number
    }
    throw Failure(
      .invalidArgument,
      "'\(relationship.qualifiedName)' refers to objects of '\(expected.name)', "
        + "and row \(reference.id) is of entity number \(number).", about: .property(relationship))
  }

  /// The insert of this save that has or gets the key; nil for a row that was there before.
  func insert(at reference: ObjectReference) -> SaveRequest.Insert? {
    if let (first, rows) = numbered[reference.root], reference.id >= first {
      let place = reference.id - first
      if place < rows.count { return rows[Int(place)] }
    }
    guard let rows = prenumbered[reference.root], let first = rows.first, reference.id >= first.id else { return nil }
    // Ids mostly come without gaps: then the distance is the place.
    let distance = reference.id - first.id
    if distance < rows.count, rows[Int(distance)].id == reference.id { return rows[Int(distance)] }
    var low = 0, high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].id < reference.id { low = middle + 1 } else { high = middle }
    }
    return low < rows.count && rows[low].id == reference.id ? rows[low] : nil
  }

  /// -1 when there is no such row.
  func entityNumber(of reference: ObjectReference) throws(Failure) -> Int {
    if let insert = insert(at: reference) { return insert.entity.number }
    if let known = entityNumbers[reference] { return known }
    guard let root = store.model.entity(numbered: reference.root) else { return -1 }
    let statement = try connection.statement("SELECT Z_ENT FROM \(schema.table(of: root)) WHERE Z_PK = ?")
    try statement.bind(reference.id, at: 1)
    let number = try statement.step() ? Int(statement.integer(at: 0)) : -1
    entityNumbers[reference] = number
    return number
  }

  func rootName(_ reference: ObjectReference) -> String {
    store.model.entity(numbered: reference.root)?.name ?? "entity number \(reference.root)"
  }

  // MARK: Order keys

  /// A key that puts one more member at the end of an ordered list.
  func nextOrderKey(_ path: RelationshipSQL, owner: ObjectReference) throws(Failure) -> Int64 {
    let list = OrderedList(relationship: ObjectIdentifier(path.relationship), owner: owner.id)
    var highest = highestOrderKeys[list]
    if highest == nil, insert(at: owner) == nil {
      let statement = try connection.statement("SELECT max(place) FROM (\(path.places))")
      try statement.bind(owner.id, at: 1)
      if try statement.step(), !statement.isNull(at: 0) { highest = statement.integer(at: 0) }
    }
    let next = OrderKeys.next(after: highest)
    highestOrderKeys[list] = next
    return next
  }

  // MARK: Conflicts

  /// Notes that no row had the expected version; `throwConflicts` reports all of them.
  func noteConflict(_ entity: Entity, id: Int64, expected: Int64, doing: String) throws(Failure) {
    let statement = try connection.statement("SELECT Z_OPT FROM \(schema.table(of: entity)) WHERE Z_PK = ?")
    try statement.bind(id, at: 1)
    var reason = "another writer deleted it"
    if try statement.step() {
      let version = statement.integer(at: 0)
      if version == expected {
        throw connection.ignoredFailure(schema.table(of: entity), doing: "\(doing) \(entity.name) \(id)")
      }
      reason = "another writer changed it: it has version \(version) and was read with \(expected)"
    }
    note(
      Failure(
        .conflict,
        "Could not \(doing) \(entity.name) \(id): \(reason). Roll back to read what is stored now, and change that.",
        about: .row(id, of: entity), report: SaveConflict.changed(ObjectReference(root: entity.rootNumber, id: id))))
  }

  func note(_ conflict: Failure) { conflicts.append(conflict) }

  func throwConflicts() throws(Failure) {
    guard let first = conflicts.first else { return }
    if conflicts.count == 1 { throw first }
    throw Failure(
      .conflict, "\(conflicts.count) objects are in conflict with another writer. The first: \(first.message)",
      details: conflicts)
  }
}
