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

/// A uniqueness constraint as the properties that it names, which the store holds.
final class UniquenessConstraint {
  /// The entity whose objects must differ: the topmost one that has the properties, because the index of a constraint
  /// covers the table of all its entities.
  let entity: Entity
  let properties: [Property]

  fileprivate init?(_ names: [String], of entity: Entity, in schema: Schema) {
    properties = names.compactMap { entity.propertiesByName[$0] }
    if properties.isEmpty || properties.count < names.count { return nil }
    for property in properties where schema.valueColumn(of: property) == nil { return nil }
    var topmost = entity
    while let parent = topmost.parent, names.allSatisfy({ parent.propertiesByName[$0] != nil }) { topmost = parent }
    self.entity = topmost
  }
}

extension Schema {
  /// The SELECT for the row that has the values of a constraint, which are its arguments.
  func select(_ constraint: UniquenessConstraint, _ layout: RowLayout) -> String {
    let conditions = constraint.properties.compactMap { property in
      valueColumn(of: property).map { column in
        let name = "\(RowLayout.alias).\(column)"
        return (property.externalColumn?.sql(name, key: "\(RowLayout.alias).Z_PK") ?? name) + " = ?"
      }
    }
    return "SELECT \(layout.columns) FROM \(layout.table) \(RowLayout.alias) "
      + "WHERE \(conditions.joined(separator: " AND ")) LIMIT 1"
  }
}

extension Store {
  /// All constraints of the model.
  var uniquenessConstraints: [UniquenessConstraint] { model.entities.flatMap(uniquenessConstraints(declaredBy:)) }

  /// Those of one entity, with those that it inherits.
  func uniquenessConstraints(of entity: Entity) -> [UniquenessConstraint] {
    sequence(first: entity, next: \.parent).flatMap(uniquenessConstraints(declaredBy:))
  }

  private func uniquenessConstraints(declaredBy entity: Entity) -> [UniquenessConstraint] {
    entity.uniquenessConstraints.compactMap { UniquenessConstraint($0, of: entity, in: schema) }
  }
}
