/// The statements of one fetch index, as Core Data spells them.
struct FetchIndexSQL {
  /// The dimensions that SQLite's R-Tree has at most.
  private static let mostDimensions = 5

  let index: FetchIndex
  let entity: Entity
  let schema: Schema

  /// What follows the name of the table in `CREATE INDEX`; nil for an index that makes nothing. Core Data leaves out an
  /// index on one relationship and one that a uniqueness constraint serves. To-many relationships have no column.
  func columns() throws(Failure) -> String? {
    let names = index.elements.map(\.property)
    let isOnRelationship = names.contains { name in
      guard let relationship = name.flatMap({ entity.propertiesByName[$0] }) as? Relationship else { return false }
      return relationship.isToMany || names.count == 1
    }
    let isServed = entity.ancestry.contains { $0.uniquenessConstraints.contains { $0 == names } }
    if isOnRelationship || isServed || index.elements.contains(where: isTransient) { return nil }
    var columns: [String] = []
    for element in index.elements {
      columns.append("\(try column(of: element)) COLLATE BINARY \(element.isDescending ? "DESC" : "ASC")")
    }
    let list = "(\(columns.joined(separator: ", ")))"
    guard let condition = index.condition else { return list }
    guard let predicate = (condition as? IndexPredicate)?.predicate else { throw failure("has an unknown condition.") }
    return "\(list) WHERE \(try IndexConditionSQL(schema: schema, index: self).text(predicate))"
  }

  private func isTransient(_ element: FetchIndex.Element) -> Bool {
    element.property.flatMap { entity.propertiesByName[$0] }?.isTransient == true
  }

  func rTree(named name: String, on table: String) throws(Failure) -> RTree {
    if index.condition != nil { throw failure("is an R-Tree, which has all rows and no condition.") }
    if index.elements.count > FetchIndexSQL.mostDimensions {
      throw failure("is an R-Tree of \(index.elements.count) values; it has at most \(FetchIndexSQL.mostDimensions).")
    }
    var columns: [String] = []
    for element in index.elements {
      guard let attribute = element.property.flatMap({ entity.propertiesByName[$0] }) as? Attribute,
        !attribute.isTransient, attribute.type.isNumber
      else { throw failure("is an R-Tree of something else than stored numbers and dates.") }
      if Set(columns).contains(schema.column(of: attribute)) { throw failure("is an R-Tree of one value twice.") }
      columns.append(schema.column(of: attribute))
    }
    return RTree(name: name, table: table, columns: columns)
  }

  private func column(of element: FetchIndex.Element) throws(Failure) -> String {
    switch element.target {
    case .object: return "Z_PK"
    case .entity: return "Z_ENT"
    case .property(let name):
      if let column = entity.propertiesByName[name].flatMap({ schema.valueColumn(of: $0) }) { return column }
      throw failure("names '\(name)', which has no column.")
    case .expression(let expression):
      let text = (expression as? IndexedExpression)?.expression.text ?? ""
      throw failure("is on the expression '\(text)', for which SQL has no column. Index a property.")
    }
  }

  func failure(_ problem: String) -> Failure {
    Failure(
      .unsupported,
      "The store cannot be created: fetch index '\(index.name)' of entity '\(entity.name)' \(problem)",
      about: .entity(entity))
  }
}

extension AttributeType {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
    default: false
    }
  }
}
