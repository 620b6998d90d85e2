/// How the rows of one entity become those of another: an expression over the old row for each column of the new one.
struct RowMapping {
  let mapping: ModelMapping.EntityMapping
  /// By the name of the column. A column that is not here is NULL.
  private(set) var values: [String: String] = [:]
  /// The columns that rows of the source entity use.
  let used: Set<String>
  /// What has to be done when all rows are there.
  private(set) var repairs: [Repair] = []

  private let models: ModelMapping
  private let source: Schema
  private let target: Schema

  init(
    _ mapping: ModelMapping.EntityMapping, in models: ModelMapping, from source: Schema, to target: Schema,
    _ incoming: Incoming
  ) throws(Failure) {
    self.mapping = mapping
    self.models = models
    self.source = source
    self.target = target
    used = incoming.columns(of: mapping.source, in: source)
    for property in mapping.target.properties where !property.isTransient {
      if let attribute = property as? Attribute { map(attribute) }
      if let relationship = property as? Relationship, !relationship.isToMany { try map(toOne: relationship) }
    }
    for relationship in incoming.target where mapping.target.isKind(of: relationship.destination) {
      try map(owner: relationship)
    }
  }

  // MARK: Attributes

  private mutating func map(_ attribute: Attribute) {
    let column = target.column(of: attribute)
    let value = attribute.isDerived ? nil : attribute.storedDefault
    guard let former = models.storedSource(of: attribute, in: mapping) as? Attribute else {
      values[column] = value
      return
    }
    let name = source.column(of: former)
    values[column] =
      !attribute.isOptional && former.isOptional && value != nil ? "ifnull(\(name), \(value ?? ""))" : name
  }

  // MARK: Relationships

  private mutating func map(toOne relationship: Relationship) throws(Failure) {
    let columns = target.toOne(relationship)
    if let former = models.storedSource(of: relationship, in: mapping) as? Relationship {
      if relationship.isOneToOne, relationship.inverse !== relationship, !former.isOneToOne {
        throw shared(relationship)
      }
      return map(columns, of: relationship, from: former)
    }
    // A new one is the other side of what its inverse was.
    guard let inverse = relationship.inverse, inverse !== relationship else { return }
    for former in models.storedSources(of: inverse) where former.inverse == nil {
      if !former.isToMany { throw shared(inverse) }
      guard mapping.source.isKind(of: former.destination) else { continue }
      if values[columns.key] != nil { throw shared(inverse) }
      let owner = source.ownerColumns(of: former)
      values[columns.key] = owner.key
      if let order = columns.order { values[order] = owner.order }
      add(columns.key, columns.destinationEntity, columns.order, owners: inverse, from: former)
    }
  }

  private mutating func map(
    _ columns: Schema.ToOneColumns, of relationship: Relationship, from former: Relationship
  ) {
    let old = source.toOne(former), gone = models.removed(under: former.destination)
    // A destination without sub-entities is all that there can be.
    if !gone.isEmpty, old.destinationEntity == nil { return }
    let numbers = gone.map { String($0.number) }.joined(separator: ", ")
    func kept(_ column: String) -> String {
      guard let entity = old.destinationEntity, !gone.isEmpty else { return column }
      return "CASE WHEN \(entity) IN (\(numbers)) THEN NULL ELSE \(column) END"
    }
    values[columns.key] = kept(old.key)
    if let column = columns.destinationEntity {
      if let entity = old.destinationEntity {
        values[column] = models.renumbered(entity, from: former.destination.subtree, elseKept: gone.isEmpty)
      } else if let destination = models.target(of: former.destination) {
        values[column] = "CASE WHEN \(old.key) IS NOT NULL THEN \(destination.number) END"
      }
    }
    if let column = columns.order {
      if let order = old.order {
        values[column] = kept(order)
      } else {
        repairs.append(.number(key: columns.key, order: column))
      }
    }
  }

  /// The column of a to-many relationship without inverse, which is in the rows of its destination.
  private mutating func map(owner relationship: Relationship) throws(Failure) {
    let columns = target.ownerColumns(of: relationship)
    let sources = models.storedSources(of: relationship)
    if sources.count > 1 { throw shared(relationship) }
    guard let former = sources.first else { return }
    let old: (key: String, order: String?)
    if let inverse = former.inverse {
      if inverse.isToMany || !former.isToMany && !former.isOneToOne { throw shared(relationship) }
      guard mapping.source.isKind(of: inverse.entity) else { return }
      let toOne = source.toOne(inverse)
      old = (toOne.key, toOne.order)
    } else {
      if !former.isToMany { throw shared(relationship) }
      guard mapping.source.isKind(of: former.destination) else { return }
      let owner = source.ownerColumns(of: former)
      old = (owner.key, owner.order)
    }
    values[columns.key] = old.key
    if let order = columns.order { values[order] = old.order }
    add(columns.key, nil, columns.order, owners: relationship, from: former)
  }

  /// What a column of owners needs when all rows are there.
  private mutating func add(
    _ key: String, _ entity: String?, _ order: String?, owners relationship: Relationship, from former: Relationship
  ) {
    let owners = Repair.Owners(
      table: target.table(of: relationship.entity),
      numbers: relationship.entity.subtree.filter { !$0.isAbstract }.map(\.number))
    if models.losesOwners(former, of: relationship) {
      repairs.append(.clear(columns: [key] + [order].compactMap { $0 }, owners))
    }
    if let entity { repairs.append(.findEntity(key: key, entity: entity, owners)) }
    if let order, values[order] == nil { repairs.append(.number(key: key, order: order)) }
  }

  private func shared(_ relationship: Relationship) -> Failure {
    models.refused(
      "An object can be in '\(relationship.qualifiedName)' of one object alone, and could be in that of several. Give "
        + "it another name, and set it in a stage whose model has both.", .property(relationship))
  }
}

/// A change of rows that looks at others.
enum Repair: Hashable {
  struct Owners: Hashable {
    let table: String
    let numbers: [Int]
  }

  /// Places in lists that had none.
  case number(key: String, order: String)
  /// References to objects that are deleted.
  case clear(columns: [String], Owners)
  /// The number of the entity to which a reference leads.
  case findEntity(key: String, entity: String, Owners)

  func statement(on table: String) -> String {
    switch self {
    case .number(let key, let order):
      return
        "UPDATE \(table) SET \(order) = numbered.place FROM (SELECT Z_PK AS id, "
        + "\(OrderKeys.spacing) * row_number() OVER (PARTITION BY \(key) ORDER BY \(order) IS NULL, \(order), Z_PK) "
        + "AS place FROM \(table) WHERE \(key) IS NOT NULL) AS numbered WHERE numbered.id = \(table).Z_PK"
    case .clear(let columns, let owners):
      return "UPDATE \(table) SET \(columns.map { "\($0) = NULL" }.joined(separator: ", ")) "
        + "WHERE \(columns[0]) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(owners.table) AS owner "
        + "WHERE owner.Z_PK = \(table).\(columns[0]) AND owner.Z_ENT IN (\(Repair.list(owners.numbers))))"
    case .findEntity(let key, let entity, let owners):
      return "UPDATE \(table) SET \(entity) = (SELECT owner.Z_ENT FROM \(owners.table) AS owner "
        + "WHERE owner.Z_PK = \(table).\(key)) WHERE \(key) IS NOT NULL"
    }
  }

  static func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }
}

/// To-many relationships without inverse, whose columns are in the tables of their destinations.
struct Incoming {
  let source: [Relationship]
  let target: [Relationship]

  init(_ source: Model, _ target: Model) {
    self.source = Incoming.relationships(of: source)
    self.target = Incoming.relationships(of: target)
  }

  private static func relationships(of model: Model) -> [Relationship] {
    model.numberedEntities.flatMap(\.ownRelationships).filter { $0.isToMany && $0.inverse == nil && !$0.isTransient }
  }

  /// Of the source, the columns beside the first three that rows of `entity` use.
  func columns(of entity: Entity, in schema: Schema) -> Set<String> {
    var columns: Set<String> = []
    for property in entity.properties {
      guard let column = schema.valueColumn(of: property) else { continue }
      columns.insert(column)
      guard let relationship = property as? Relationship else { continue }
      let toOne = schema.toOne(relationship)
      columns.formUnion([toOne.destinationEntity, toOne.order].compactMap { $0 })
    }
    for relationship in source where entity.isKind(of: relationship.destination) {
      let owner = schema.ownerColumns(of: relationship)
      columns.formUnion([owner.key, owner.order].compactMap { $0 })
    }
    return columns
  }
}

extension ModelMapping {
  /// The numbers that entities of the source have in the target, as an expression over a column of them.
  ///
  /// Numbers of entities that are gone become NULL, as do those of no entity unless they are to be kept.
  func renumbered(_ column: String, from entities: [Entity], elseKept keepsOthers: Bool = true) -> String {
    let pairs = entities.filter { !$0.isAbstract }.compactMap { entity in
      target(of: entity).map { (entity.number, $0.number) }
    }
    if keepsOthers, pairs.allSatisfy({ $0.0 == $0.1 }) { return column }
    let cases = pairs.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ")
    if cases.isEmpty { return keepsOthers ? column : "NULL" }
    return "CASE \(column) \(cases)\(keepsOthers ? " ELSE \(column)" : "") END"
  }

  /// Whether some object that has had `former` is deleted, or has no such relationship any more.
  func losesOwners(_ former: Relationship, of relationship: Relationship) -> Bool {
    former.entity.subtree.contains { entity in
      if entity.isAbstract { return false }
      guard let owner = target(of: entity) else { return true }
      return !owner.isKind(of: relationship.entity)
    }
  }
}

extension Attribute {
  /// Its default as SQL for a row; nil when there is none.
  fileprivate var storedDefault: String? {
    if declaredDefault.isNil { return nil }
    if externalColumn != nil, case .data(let data) = declaredDefault {
      return SQLLiteral.text([ExternalStorage.inlineMark] + data.buffer)
    }
    return SQLLiteral.text(declaredDefault)
  }
}
