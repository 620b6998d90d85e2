/// Tables and columns that a frozen model has in the file (docs/file-format.md).
///
/// Properties are looked up by identity: an inherited property is the one its ancestor declared.
final class Schema: Sendable {
  /// The columns of a to-one relationship, in the table of the entity that declares it.
  struct ToOneColumns: Sendable {
    /// Primary key of the destination, `ZBOOK`.
    let key: String
    /// Entity number of the destination's row, `Z1_BOOK`; only where the destination entity has sub-entities.
    let destinationEntity: String?
    /// Place of this row in the ordered to-many inverse, `Z_FOK_BOOK`; only where the inverse is ordered.
    let order: String?
  }

  /// The columns of a to-many relationship without inverse, in the table of the *destination*.
  struct OwnerColumns: Sendable {
    /// Primary key of the owner, `Z3PAGES`. An object can therefore have one owner only.
    let key: String
    /// Place of this row in the owner's list, `Z_FOK_3PAGES`, where the relationship is ordered. No Core Data store
    /// with such a column was seen; the name follows that of the other order columns.
    let order: String?
  }

  /// A join table as seen from one of its two relationships; the inverse gets the mirror image.
  struct JoinTable: Sendable {
    let name: String
    /// Primary keys of the objects that have the relationship.
    let ownerColumn: String
    /// Primary keys of the objects it points to.
    let destinationColumn: String
    /// Place of the destination in the owner's list, where the relationship is ordered.
    let orderColumn: String?
    /// The same for the inverse.
    let inverseOrderColumn: String?
    /// The relationship is its own inverse. The file holds each pair *once*, either way round. A reader must therefore
    /// look for an object in both columns, and a writer must look before adding.
    let isReflexive: Bool
  }

  struct Column: Sendable {
    let name: String
    let sqlType: String
  }

  struct Table: Sendable {
    let entity: Entity
    let name: String
    /// All columns in the order of Core Data, the three of every row first.
    let columns: [Column]
  }

  let model: Model
  /// One per root entity, by number.
  let tables: [Table]
  /// Each join table once, seen from the side that names it, with that side's relationship.
  let joins: [(relationship: Relationship, table: JoinTable)]

  private let tableNames: [String]
  private let attributeColumns: [ObjectIdentifier: String]
  private let toOneColumns: [ObjectIdentifier: ToOneColumns]
  private let ownerColumns: [ObjectIdentifier: OwnerColumns]
  private let joinTables: [ObjectIdentifier: JoinTable]

  /// `existingTables` are those of a file that is being opened, with their columns. They say which of two relationships
  /// of one entity names their join table, which cannot be computed. A new file gets the name that the rules prefer.
  init(model: Model, existingTables: [String: Set<String>] = [:]) {
    let layout = TableLayout(model: model)
    let joinLayout = JoinLayout(model: model, existingTables: existingTables)
    self.model = model
    tables = layout.tables
    tableNames = model.numberedEntities.map { Names.table(model.numberedEntities[$0.rootNumber - 1].name) }
    attributeColumns = layout.attributeColumns
    toOneColumns = layout.toOneColumns
    ownerColumns = layout.ownerColumns
    joins = joinLayout.joins
    joinTables = joinLayout.tablesByRelationship
  }

  /// `ZQUOTE`: the table of the entity's root, which holds the whole tree.
  func table(of entity: Entity) -> String {
    let index = entity.number - 1
    return tableNames.indices.contains(index) ? tableNames[index] : Names.table(entity.root.name)
  }

  /// `ZAUTHOR`, with a number behind it where siblings use one name. For a transient attribute, which has no column,
  /// a name that is in no table.
  func column(of attribute: Attribute) -> String {
    attributeColumns[ObjectIdentifier(attribute)] ?? Names.column(attribute.name)
  }

  /// The column that holds the value of an attribute or the key of a to-one relationship; nil when there is none.
  func valueColumn(of property: Property) -> String? {
    if property.isTransient { return nil }
    if let attribute = property as? Attribute { return column(of: attribute) }
    if let relationship = property as? Relationship, !relationship.isToMany { return toOne(relationship).key }
    return nil
  }

  /// For a stored to-one relationship.
  func toOne(_ relationship: Relationship) -> ToOneColumns {
    toOneColumns[ObjectIdentifier(relationship)]
      ?? ToOneColumns(key: Names.column(relationship.name), destinationEntity: nil, order: nil)
  }

  /// For a stored to-many relationship without inverse.
  func ownerColumns(of relationship: Relationship) -> OwnerColumns {
    ownerColumns[ObjectIdentifier(relationship)]
      ?? OwnerColumns(key: "Z\(relationship.entity.number)\(Names.upper(relationship.name))", order: nil)
  }

  /// For a stored many-to-many relationship.
  func joinTable(of relationship: Relationship) -> JoinTable {
    joinTables[ObjectIdentifier(relationship)]
      ?? JoinTable(
        name: JoinLayout.tableName(relationship), ownerColumn: "", destinationColumn: "", orderColumn: nil,
        inverseOrderColumn: nil, isReflexive: false)
  }
}
