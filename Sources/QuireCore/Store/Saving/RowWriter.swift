/// How to write rows of one concrete entity. Made once for each store.
final class RowWriter: Sendable {
  final class ToOne: Sendable {
    let relationship: Relationship
    let columns: Schema.ToOneColumns
    /// The list in which the row takes a place, when the inverse is ordered.
    let orderedInverse: RelationshipSQL?

    init(relationship: Relationship, columns: Schema.ToOneColumns, orderedInverse: RelationshipSQL?) {
      self.relationship = relationship
      self.columns = columns
      self.orderedInverse = orderedInverse
    }
  }

  final class Column: Sendable {
    let slot: Int
    let name: String
    /// nil for an attribute.
    let toOne: ToOne?
    let derived: DerivedAttribute?
    /// Its values may lie in files beside the store.
    let isExternal: Bool

    init(slot: Int, name: String, toOne: ToOne?, derived: DerivedAttribute?, isExternal: Bool) {
      self.isExternal = isExternal
      self.slot = slot
      self.name = name
      self.toOne = toOne
      self.derived = derived
    }
  }

  /// Stored attributes and to-one relationships by slot.
  let columns: [Column]
  /// Slots whose columns have a unique index. The index covers the table, so constraints of all its entities count.
  let constrainedSlots: Set<Int>
  /// Parameters: the key, then for each column its value. For a to-one there are also the destination's entity and the
  /// order key, where there are such columns.
  let insertSQL: String
  /// Parameters: the key and the version that the row must have.
  let deleteSQL: String
  /// What to run with the key of a deleted row, so that nothing only the file knows still names it.
  let detachments: [String]

  private let entity: Entity
  private let table: String
  /// Place in `columns` by slot.
  private let places: [Int?]
  /// The last statements that were made for updates, by the slots. Programs mostly change the same few together.
  private let updates = Guarded<[[Int]: String]>([:])
  private static let mostUpdates = 32

  init(entity: Entity, schema: Schema, derivedAttributes: DerivedAttributes) throws(Failure) {
    self.entity = entity
    table = schema.table(of: entity)
    var columns: [Column] = []
    var places = [Int?](repeating: nil, count: entity.properties.count)
    for property in entity.properties {
      guard let name = schema.valueColumn(of: property) else { continue }
      places[property.slot] = columns.count
      let toOne = try (property as? Relationship).map { relationship throws(Failure) in
        try RowWriter.toOne(relationship, schema)
      }
      columns.append(
        Column(
          slot: property.slot, name: name, toOne: toOne, derived: derivedAttributes[property],
          isExternal: property.externalColumn != nil))
    }
    self.columns = columns
    self.places = places
    let constrained = Set(
      entity.root.subtree.flatMap { each in
        each.uniquenessConstraints.joined().compactMap { each.propertiesByName[$0].flatMap(schema.valueColumn(of:)) }
      })
    constrainedSlots = Set(columns.lazy.filter { constrained.contains($0.name) }.map(\.slot))
    let names = columns.flatMap { column in
      [column.name] + [column.toOne?.columns.destinationEntity, column.toOne?.columns.order].compactMap(\.self)
    }
    insertSQL = """
      INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT\(names.map { ", \($0)" }.joined())) \
      VALUES (?, \(entity.number), \(SaveRequest.Insert.savedVersion)\(String(repeating: ", ?", count: names.count)))
      """
    deleteSQL = "DELETE FROM \(table) WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
    var detachments: [String] = []
    for relationship in entity.relationships where relationship.isToMany && !relationship.isTransient {
      detachments += try RelationshipSQL(relationship, schema: schema).detachments()
    }
    self.detachments = detachments
  }

  /// nil for a slot without a column of its own.
  func column(inSlot slot: Int) -> Column? {
    places.indices.contains(slot) ? places[slot].map { columns[$0] } : nil
  }

  /// Parameters: the new version, then for each column its value. For a to-one there are also the destination's entity,
  /// and the key again with the order key, where there are such columns. Then the key of the row and the version it
  /// must have.
  func updateSQL(slots: [Int]) throws(Failure) -> String {
    if let known = updates.withLock({ $0[slots] }) { return known }
    let made = try madeUpdateSQL(slots)
    updates.withLock { updates in
      if updates.count >= RowWriter.mostUpdates { updates.removeAll() }
      updates[slots] = made
    }
    return made
  }

  private func madeUpdateSQL(_ slots: [Int]) throws(Failure) -> String {
    var assignments = ["Z_OPT = ?"]
    for slot in slots {
      guard places.indices.contains(slot) else {
        throw Failure(.invalidArgument, "Entity '\(entity.name)' has no property in slot \(slot).")
      }
      guard let column = column(inSlot: slot) else { continue }
      assignments.append("\(column.name) = ?")
      guard let columns = column.toOne?.columns else { continue }
      if let destinationEntity = columns.destinationEntity { assignments.append("\(destinationEntity) = ?") }
      if let order = columns.order {
        // A row that stays with its owner keeps its place.
        assignments.append("\(order) = CASE WHEN \(columns.key) = ? THEN \(order) ELSE ? END")
      }
    }
    return "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
  }

  private static func toOne(_ relationship: Relationship, _ schema: Schema) throws(Failure) -> ToOne {
    let columns = schema.toOne(relationship)
    var orderedInverse: RelationshipSQL?
    if columns.order != nil, let inverse = relationship.inverse {
      orderedInverse = try RelationshipSQL(inverse, schema: schema)
    }
    return ToOne(relationship: relationship, columns: columns, orderedInverse: orderedInverse)
  }
}
