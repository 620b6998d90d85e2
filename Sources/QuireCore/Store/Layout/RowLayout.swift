/// How to read rows of one entity, or of it and all below: which columns to select, and which column fills which slot
/// in a row of each concrete entity. Made once for each store.
final class RowLayout: Sendable {
  private struct Field {
    let slot: Int
    let column: Int
    let type: StoredType
  }

  private final class EntityFields: Sendable {
    let entity: Entity
    /// The values that no column provides, in place.
    let template: ContiguousArray<Value>
    let fields: ContiguousArray<Field>
    /// Whether the fields are all slots, in order.
    let isWhole: Bool

    init(entity: Entity, template: ContiguousArray<Value>, fields: ContiguousArray<Field>) {
      self.entity = entity
      self.template = template
      self.fields = fields
      isWhole = fields.count == template.count && fields.indices.allSatisfy { fields[$0].slot == $0 }
    }
  }

  /// The table's alias in every statement that selects `columns`.
  static let alias = "t0"

  /// What to select: key, entity and version, then every stored property.
  let columns: String
  /// What to select for identifiers: key and entity. Where a table has rows of one entity only, no row is looked at for
  /// it, so that an index may answer alone.
  let identifierColumns: String
  /// The same without the entity where it is the same for all rows, and how many columns these are.
  let keyColumns: String
  var keyCount: Int { isOnlyEntity ? 1 : 2 }
  let table: String
  /// Reads one row by its key, and any number.
  let selectOne: String
  let selectMany: String
  /// The columns of properties.
  private let stored: [ObjectIdentifier: (name: String, type: StoredType)]
  /// Whether its table has rows of one entity only.
  private let isOnlyEntity: Bool
  private let root: Entity
  private let firstNumber: Int
  private let entities: ContiguousArray<EntityFields?>

  init(entity: Entity, includesSubentities: Bool, schema: Schema) {
    let covered = includesSubentities ? entity.subtree : [entity]
    var selected = ["Z_PK", "Z_ENT", "Z_OPT"]
    var places: [ObjectIdentifier: Int] = [:]
    var stored: [ObjectIdentifier: (name: String, type: StoredType)] = [:]
    entities = ContiguousArray(
      covered.map { entity in
        if entity.isAbstract { return nil }
        var template = ContiguousArray<Value>(repeating: .nil, count: entity.properties.count)
        var fields: ContiguousArray<Field> = []
        for property in entity.properties {
          if let attribute = property as? Attribute, attribute.isTransient {
            template[property.slot] = attribute.defaultValue
          }
          guard let column = schema.valueColumn(of: property) else { continue }
          let place = places[ObjectIdentifier(property)] ?? selected.count
          if place == selected.count {
            places[ObjectIdentifier(property)] = place
            selected.append(column)
            stored[ObjectIdentifier(property)] = (column, StoredType(of: property))
          }
          fields.append(Field(slot: property.slot, column: place, type: StoredType(of: property)))
        }
        return EntityFields(entity: entity, template: template, fields: fields)
      })
    columns = selected.map { "\(RowLayout.alias).\($0)" }.joined(separator: ", ")
    isOnlyEntity = entity.parent == nil && !entity.hasChildren && !entity.isAbstract
    identifierColumns = "\(RowLayout.alias).Z_PK, " + (isOnlyEntity ? "\(entity.number)" : "\(RowLayout.alias).Z_ENT")
    keyColumns = "\(RowLayout.alias).Z_PK" + (isOnlyEntity ? "" : ", \(RowLayout.alias).Z_ENT")
    table = schema.table(of: entity)
    let select = "SELECT \(columns) FROM \(table) \(RowLayout.alias) WHERE \(RowLayout.alias).Z_PK"
    selectOne = "\(select) = ?"
    selectMany = "\(select) IN (\(IDList.sql)) ORDER BY \(RowLayout.alias).Z_PK"
    self.stored = stored
    root = entity.root
    firstNumber = entity.number
  }

  /// The column of a property; nil where it has none.
  func column(of property: Property) -> (name: String, type: StoredType)? { stored[ObjectIdentifier(property)] }

  /// The row at which `statement`, which selects `columns`, stands.
  func row(from statement: Statement) throws(Failure) -> Row {
    let id = statement.integer(at: 0)
    let layout = try fields(numbered: statement.integer(at: 1), id: id)
    var values: ContiguousArray<Value>
    do throws(Failure) {
      if layout.isWhole {
        values = []
        values.reserveCapacity(layout.fields.count)
        for field in layout.fields { values.append(try statement.value(at: field.column, as: field.type)) }
      } else {
        values = layout.template
        for field in layout.fields { values[field.slot] = try statement.value(at: field.column, as: field.type) }
      }
    } catch {
      let unread = layout.fields.first { !statement.canRead($0.column, as: $0.type) }
      guard let unread else { throw error }
      throw error.reading(layout.entity.properties[unread.slot], of: layout.entity, id)
    }
    return Row(entity: layout.entity, id: id, version: statement.integer(at: 2), values: values)
  }

  /// All rows that `statement`, which selects `columns`, has left.
  func rows(from statement: Statement) throws(Failure) -> [Row] {
    var rows: [Row] = []
    while try statement.step() { rows.append(try row(from: statement)) }
    return rows
  }

  /// The identifier made of columns 0 and 1, once its entity is known to be one that a row can have.
  func identifier(from statement: Statement) throws(Failure) -> RowIdentifier {
    let id = statement.integer(at: 0)
    if isOnlyEntity { return RowIdentifier(id: id, entity: Int32(truncatingIfNeeded: firstNumber)) }
    return try identifier(id, entity: statement.integer(at: 1))
  }

  func identifier(_ id: Int64, entity number: Int64) throws(Failure) -> RowIdentifier {
    _ = try fields(numbered: number, id: id)
    return RowIdentifier(id: id, entity: Int32(truncatingIfNeeded: number))
  }

  /// All identifiers that `statement`, which selects `identifierColumns`, has left.
  func identifiers(from statement: Statement) throws(Failure) -> ContiguousArray<RowIdentifier> {
    var rows: ContiguousArray<RowIdentifier> = []
    if isOnlyEntity {
      let entity = Int32(truncatingIfNeeded: firstNumber)
      rows.reserveCapacity(64)
      var isFull = false
      try statement.forEachInteger { id in
        if isFull || !rows.canGrow { isFull = true } else { rows.append(RowIdentifier(id: id, entity: entity)) }
      }
      if isFull { throw RowLayout.fullFailure(rows.count) }
      return rows
    }
    while try statement.step() {
      if !rows.canGrow { throw RowLayout.fullFailure(rows.count) }
      rows.append(try identifier(from: statement))
    }
    return rows
  }

  private static func fullFailure(_ count: Int) -> Failure {
    Memory.failure(Memory.size(of: count, RowIdentifier.self) * 2, for: "the ids of more than \(count) rows")
  }

  /// The same failure, with the row and the property where one of these columns is what cannot be read. They begin at
  /// `first` in a statement that stands at the row; a column without a property is none of the row's own.
  func located(
    _ failure: Failure, _ properties: [Property?], _ types: [StoredType], from first: Int, in statement: Statement,
    id: Int64, entity number: Int64?
  ) -> Failure {
    let unread = types.indices.first { !statement.canRead(first + $0, as: types[$0]) }
    guard let unread, let property = properties[unread],
      let entity = try? fields(numbered: number ?? Int64(firstNumber), id: id).entity
    else { return failure }
    return failure.reading(property, of: entity, id)
  }

  private func fields(numbered number: Int64, id: Int64) throws(Failure) -> EntityFields {
    let (place, overflow) = number.subtractingReportingOverflow(Int64(firstNumber))
    if !overflow, place >= 0, place < entities.count, let layout = entities[Int(place)] { return layout }
    throw Failure(
      .database,
      "Row \(id) of table \(table) says that it is of entity number \(number), "
        + "which is not a concrete entity under '\(root.name)'. The file is damaged or was written with another model.")
  }
}

extension Failure {
  /// The same failure to read what a column holds, with the row that was read. The value may be that of a related row.
  fileprivate func reading(_ property: Property, of entity: Entity, _ id: Int64) -> Failure {
    if kind != .database || offender != nil { return self }
    let isOwn = entity.declares(property)
    let offender =
      isOwn
      ? Offender(
        entityName: entity.nameText, key: property.nameText,
        object: ObjectReferenceBox(ObjectReference(root: entity.rootNumber, id: id)))
      : .property(property)
    return Failure(
      kind, "'\(property.qualifiedName)' cannot be read for \(entity.name) \(id). \(message.string)", about: offender,
      offset: offset, databaseCode: databaseCode, details: details, broken: broken, report: report)
  }
}
