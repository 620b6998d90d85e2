/// Works out the join tables of a model's many-to-many relationships (docs/file-format.md, Relationships).
struct JoinLayout {
  private(set) var joins: [(relationship: Relationship, table: Schema.JoinTable)] = []
  private(set) var tablesByRelationship: [ObjectIdentifier: Schema.JoinTable] = [:]

  init(model: Model, existingTables: [String: Set<String>]) {
    let keyColumns = JoinLayout.keyColumns(of: model)
    for entity in model.numberedEntities {
      for relationship in JoinLayout.manyToMany(entity) {
        guard let inverse = relationship.inverse,
          JoinLayout.names(relationship, over: inverse, existingTables: existingTables)
        else { continue }
        add(relationship, inverse, keyColumns, existing: existingTables[JoinLayout.tableName(relationship)])
      }
    }
  }

  private mutating func add(
    _ relationship: Relationship, _ inverse: Relationship, _ keyColumns: [ObjectIdentifier: String],
    existing: Set<String>?
  ) {
    let isReflexive = relationship === inverse
    func keyColumn(_ relationship: Relationship) -> String {
      let expected = keyColumns[ObjectIdentifier(relationship)] ?? JoinLayout.keyColumn(relationship)
      return JoinLayout.column(expected, base: JoinLayout.keyColumn(relationship), in: existing)
    }
    let ownerColumn = keyColumn(relationship)
    let destinationColumn = isReflexive ? "REFLEXIVE" : keyColumn(inverse)
    let order = JoinLayout.orderColumn(relationship)
    // One relationship cannot have two columns of one name. No ordered one was seen; this name is Quire's.
    let inverseOrder = isReflexive ? order.map { _ in "Z_FOK_REFLEXIVE" } : JoinLayout.orderColumn(inverse)
    let table = Schema.JoinTable(
      name: JoinLayout.tableName(relationship), ownerColumn: ownerColumn, destinationColumn: destinationColumn,
      orderColumn: order, inverseOrderColumn: inverseOrder, isReflexive: isReflexive)
    joins.append((relationship, table))
    tablesByRelationship[ObjectIdentifier(relationship)] = table
    if isReflexive { return }
    tablesByRelationship[ObjectIdentifier(inverse)] = Schema.JoinTable(
      name: table.name, ownerColumn: destinationColumn, destinationColumn: ownerColumn,
      orderColumn: inverseOrder, inverseOrderColumn: order, isReflexive: false)
  }

  /// `Z_2AUTHORS`, were `relationship` to name the table.
  static func tableName(_ relationship: Relationship) -> String {
    "Z_\(relationship.entity.number)\(Names.upper(relationship.name))"
  }

  private static func orderColumn(_ relationship: Relationship) -> String? {
    guard relationship.isOrdered, let inverse = relationship.inverse else { return nil }
    return "Z_FOK_\(inverse.entity.number)\(Names.upper(relationship.name))"
  }

  private static func manyToMany(_ entity: Entity) -> [Relationship] {
    entity.ownRelationships.filter { $0.isManyToMany && !$0.isTransient }.sorted { $0.name < $1.name }
  }

  /// The column that holds the keys of a relationship's owners is named after the inverse. An entity numbers equal
  /// names through all its join tables, although a table would hold only one of them.
  private static func keyColumns(of model: Model) -> [ObjectIdentifier: String] {
    var columns: [ObjectIdentifier: String] = [:]
    for entity in model.numberedEntities {
      var uses: [String: Int] = [:]
      for relationship in manyToMany(entity) {
        let name = keyColumn(relationship)
        let earlier = uses[name, default: 0]
        uses[name] = earlier + 1
        columns[ObjectIdentifier(relationship)] = earlier == 0 ? name : "\(name)\(earlier)"
      }
    }
    return columns
  }

  /// The key column of a relationship's owners before it is numbered: `Z_2AUTHORS`.
  private static func keyColumn(_ relationship: Relationship) -> String {
    "Z_\(relationship.entity.number)\(Names.upper(relationship.inverse?.name ?? ""))"
  }

  /// `expected`, unless the file has the same name with another number: a migration keeps the numbers it found.
  private static func column(_ expected: String, base: String, in existing: Set<String>?) -> String {
    guard let existing, !existing.contains(expected) else { return expected }
    let numbered = existing.filter { name in
      name.hasPrefix(base) && name.utf8.dropFirst(base.utf8.count).allSatisfy { (48...57).contains($0) }
    }
    return numbered.count == 1 ? numbered.first ?? expected : expected
  }

  /// Notes in a frozen model, which nothing else has yet, where the tables of its file have other names than the rule
  /// says.
  static func note(_ tables: Set<String>, in model: Model) {
    for relationship in model.numberedEntities.flatMap(manyToMany) {
      guard let inverse = relationship.inverse, inverse !== relationship,
        tables.contains(tableName(relationship)), !tables.contains(tableName(inverse))
      else { continue }
      relationship.namesJoinTable = !isNamedByRule(relationship, over: inverse)
    }
  }

  /// Whether `relationship`, and not `inverse`, names their table: what the file has decides, then the model, then the
  /// rule.
  private static func names(
    _ relationship: Relationship, over inverse: Relationship, existingTables: [String: Set<String>]
  ) -> Bool {
    if relationship === inverse { return true }
    let hasThis = existingTables[tableName(relationship)] != nil
    let hasInverse = existingTables[tableName(inverse)] != nil
    if hasThis != hasInverse { return hasThis }
    if relationship.namesJoinTable != inverse.namesJoinTable { return relationship.namesJoinTable }
    return isNamedByRule(relationship, over: inverse)
  }

  private static func isNamedByRule(_ relationship: Relationship, over inverse: Relationship) -> Bool {
    let entity = relationship.entity, other = inverse.entity
    // Core Data's choice between two relationships of one entity follows an internal order; that of Quire is the name.
    if entity === other { return relationship.name < inverse.name }
    if entity.hasChildren != other.hasChildren { return entity.hasChildren }
    return entity.number < other.number
  }
}
