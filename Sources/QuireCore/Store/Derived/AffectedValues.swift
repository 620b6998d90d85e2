/// Values that the triggers of a file have changed while a session of Quire writes, as they tell it themselves.
///
/// Such triggers are those of Core Data's derived attributes, and those that an application has added to its file. They
/// do not advance the version of a row. Guarded by the store's lock.
final class AffectedValues: @unchecked Sendable {
  private struct Cell: Hashable {
    let row: RowIdentifier
    let slot: Int
  }

  private let schema: Schema
  /// Attributes by what a trigger may call them, for each entity that was asked for.
  private var names: [Int: [Text: Attribute]] = [:]
  /// The last value counts.
  private var values: [Cell: Value] = [:]

  init(schema: Schema) { self.schema = schema }

  /// Notes what a trigger tells. What the model does not have, or not so, another program may know.
  func note(entity number: Int64, row: Int64, name: Text, cell: OpaquePointer?) {
    guard let number = Int(exactly: number), let entity = schema.model.entity(numbered: number), !entity.isAbstract,
      let attribute = attribute(name, of: entity), attribute.externalColumn == nil,
      let value = SQLValue.value(cell, as: .attribute(attribute.type), isUTF8: true)
    else { return }
    let row = RowIdentifier(id: row, entity: Int32(truncatingIfNeeded: number))
    values[Cell(row: row, slot: attribute.slot)] = value
  }

  func forget() { if !values.isEmpty { values = [:] } }

  /// What was told since the last call, without rows that the same session deletes.
  func take(except deletes: @autoclosure () -> Set<RowIdentifier> = []) -> [DerivedValue] {
    if values.isEmpty { return [] }
    defer { values = [:] }
    let deleted = deletes()
    return values.compactMap { cell, value in
      deleted.contains(cell.row) ? nil : DerivedValue(row: cell.row, slot: cell.slot, value: value)
    }
  }

  /// Triggers of Core Data name the property, those of applications mostly the column.
  private func attribute(_ name: Text, of entity: Entity) -> Attribute? {
    if let known = names[entity.number] { return known[name] }
    var named: [Text: Attribute] = [:]
    for attribute in entity.attributes where !attribute.isTransient {
      named[Text(schema.column(of: attribute))] = attribute
    }
    for attribute in entity.attributes where !attribute.isTransient { named[attribute.nameText] = attribute }
    names[entity.number] = named
    return named[name]
  }
}
