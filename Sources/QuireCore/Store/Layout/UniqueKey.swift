/// The values of one uniqueness constraint. Two rows or objects with the same are one too many.
struct UniqueKey: Hashable {
  private let constraint: ObjectIdentifier
  let values: [Value]

  /// nil when a value is nil, since nil conflicts with nothing.
  init?(_ constraint: UniquenessConstraint, of object: ContiguousArray<Value>) {
    self.constraint = ObjectIdentifier(constraint)
    var values: [Value] = []
    for property in constraint.properties {
      guard object.indices.contains(property.slot), !object[property.slot].isNil else { return nil }
      // What cannot be read is like nothing else.
      values.append((try? object[property.slot].inPlace()) ?? object[property.slot])
    }
    self.values = values
  }

  static func == (left: UniqueKey, right: UniqueKey) -> Bool {
    left.constraint == right.constraint && left.values.elementsEqual(right.values) { $0.isIdentical(to: $1) }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(constraint)
    for value in values {
      switch value {
      case .integer(let integer): hasher.combine(integer)
      case .double(let double), .date(let double): hasher.combine(double.bitPattern)
      case .decimal(let decimal): hasher.combine(decimal)
      case .text(let text), .uri(let text): hasher.combine(text)
      case .data(let data), .uuid(let data): hasher.combine(data)
      case .object(let box): hasher.combine(box.reference)
      case .boolean(let flag): hasher.combine(flag)
      case .float(let float): hasher.combine(float.bitPattern)
      case .external(let value): hasher.combine(value.file)
      case .nil, .list: break
      }
    }
  }
}

/// A uniqueness constraint as the properties that it names, which have columns.
final class UniquenessConstraint {
  let entity: Entity
  let properties: [Property]
  let sql: String
  let layout: RowLayout

  fileprivate init?(_ names: [String], of entity: Entity, in store: Store) {
    let properties = names.compactMap { entity.propertiesByName[$0] }
    let columns = properties.compactMap { property in
      store.schema.valueColumn(of: property).map { column in
        let name = "\(RowLayout.alias).\(column)"
        return property.externalColumn?.sql(name, key: "\(RowLayout.alias).Z_PK") ?? name
      }
    }
    if columns.isEmpty || columns.count < names.count { return nil }
    self.entity = entity
    self.properties = properties
    layout = store.layouts.layout(of: entity.root, includesSubentities: true)
    let conditions = columns.map { "\($0) = ?" }.joined(separator: " AND ")
    sql = "SELECT \(layout.columns) FROM \(layout.table) \(RowLayout.alias) WHERE \(conditions) LIMIT 1"
  }
}

extension Store {
  /// All constraints of the model, or of one entity with those that it inherits.
  func uniquenessConstraints(of entity: Entity? = nil) -> [UniquenessConstraint] {
    let declaring = entity.map { Array(sequence(first: $0, next: \.parent)) } ?? model.entities
    return declaring.flatMap { entity in
      entity.uniquenessConstraints.compactMap { UniquenessConstraint($0, of: entity, in: self) }
    }
  }
}
