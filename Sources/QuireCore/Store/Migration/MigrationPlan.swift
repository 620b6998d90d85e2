/// What takes a file from one model to another, step by step. Nothing is written to make one.
struct MigrationPlan {
  let mapping: ModelMapping
  let source: Schema
  let target: Schema
  private(set) var steps: [MigrationStep] = []

  private let objects: [SchemaObject]
  private let definitions: [Schema.Definition]
  private let former: [Schema.Definition]
  private let tables: [TableMigration]
  private let joins: [JoinMigration]
  /// Tables of the source that do not stay, with what they are called meanwhile.
  private let setAside: [(name: String, meanwhile: String)]
  /// Tables whose rows are written while no trigger may run.
  private let written: Set<String>
  /// The columns of the history of changes; nil where the file keeps none.
  private let historyColumns: Set<String>?
  /// Names of what the model of the file asks for beside its tables, or that of the target.
  private let namesOfModels: Set<String>
  /// Indexes of the target that the file has as they are, on tables that stay.
  private var keptIndexes: Set<String> = []
  /// Whether what the framework derives by triggers of its own is derived as before.
  private(set) var keepsForeignDerivations = false

  /// Both models are frozen; `source` is that of the file.
  init(from source: Model, to target: Model, on connection: Connection) throws(Failure) {
    let existing = try connection.tables()
    let mapping = try ModelMapping(from: source, to: target)
    let sourceSchema = Schema(model: source, existingTables: existing)
    let targetSchema = Schema(model: target, existingTables: MigrationPlan.namesKept(from: sourceSchema, mapping))
    let former = try MigrationPlan.formerDefinitions(of: sourceSchema)
    self.mapping = mapping
    self.source = sourceSchema
    self.target = targetSchema
    self.former = former
    objects = try connection.schemaObjects()
    definitions = try targetSchema.definitions()
    namesOfModels = Set((former + definitions).filter(\.isIndex).flatMap(\.names))
    historyColumns = existing[HistoryTables.Kind.change.table]
    let incoming = Incoming(source, target)
    let others = try MigrationPlan.columnsOfOthers(in: sourceSchema, existing, on: connection)
    var tables: [TableMigration] = []
    for table in targetSchema.tables {
      tables.append(
        try TableMigration(
          table, in: mapping, from: sourceSchema, to: targetSchema, incoming, columnsOfOthers: others))
    }
    self.tables = tables
    joins = targetSchema.joins.map { JoinMigration($0.relationship, $0.table, in: mapping, to: targetSchema) }
    let keptJoins = joins.compactMap { $0.kept(in: sourceSchema) }
    let kept = Set(tables.filter { !$0.isMade }.map(\.table.name) + keptJoins)
    let all = sourceSchema.tables.map(\.name) + sourceSchema.joins.map(\.table.name)
    setAside = all.filter { !kept.contains($0) }.map { ($0, "QUIRE_FORMER_\($0)") }
    written = Set(tables.filter(\.writesRows).map(\.table.name) + setAside.map(\.name))
    try checkRoom(besides: Set(all))
    keepsForeignDerivations = keepsDerivations()
    keptIndexes = Set(definitions.filter(stays).map(\.name))
    steps = try mapping.differences() + work()
  }

  /// Which of two relationships names their join table stays as the file has it: that of one entity follows no rule.
  private static func namesKept(from source: Schema, _ mapping: ModelMapping) -> [String: Set<String>] {
    var names: [String: Set<String>] = [:]
    for join in source.joins {
      for entity in mapping.entities where entity.source === join.relationship.entity {
        if let relationship = entity.target(of: join.relationship) as? Relationship, relationship.isManyToMany {
          names[JoinLayout.tableName(relationship)] = []
        }
      }
    }
    return names
  }

  /// What the file may have by its own model; an index that cannot be made is not in it.
  private static func formerDefinitions(of schema: Schema) throws(Failure) -> [Schema.Definition] {
    do throws(Failure) { return try schema.definitions() } catch {
      if error.kind != .unsupported { throw error }
      return []
    }
  }

  private static func columnsOfOthers(
    in schema: Schema, _ existing: [String: Set<String>], on connection: Connection
  ) throws(Failure) -> [String: [Schema.Column]] {
    var found: [String: [Schema.Column]] = [:]
    for table in schema.tables {
      let known = Set(table.columns.map { Names.upper($0.name) })
      guard existing[table.name]?.contains(where: { !known.contains(Names.upper($0)) }) == true else { continue }
      for (column, isCalculated) in try connection.declaredColumns(of: table.name)
      where !known.contains(Names.upper(column.name)) {
        if isCalculated {
          throw Failure(
            .unsupported,
            "The store '\(connection.path)' cannot be migrated: another program has added the calculated column "
              + "\(column.name) to table \(table.name). Remove the column.")
        }
        found[table.name, default: []].append(column)
      }
    }
    return found
  }

  /// What is to be made must not meet what another program has made.
  private func checkRoom(besides own: Set<String>) throws(Failure) {
    let ownNames = Set(own.map(Names.upper)), made = setAside.map { Names.upper($0.meanwhile) }
    let wanted =
      Set(tables.filter(\.isMade).map { Names.upper($0.table.name) } + joins.map { Names.upper($0.table.name) } + made)
    for object in objects where object.kind == .table || object.kind == .view {
      let name = Names.upper(object.name)
      if wanted.contains(name), !ownNames.contains(name) {
        throw Failure(
          .unsupported,
          "The store cannot be migrated: another program has made \(object.name), which the model needs as a table. "
            + "Rename what is there.")
      }
    }
    for table in tables {
      let own = Set(table.table.columns.map { Names.upper($0.name) })
      if let column = table.columnsOfOthers.first(where: { own.contains(Names.upper($0.name)) }) {
        throw Failure(
          .unsupported,
          "The store cannot be migrated: another program has added the column \(column.name) to table "
            + "\(table.table.name), which the model needs for a property. Rename what is there.")
      }
    }
  }

  // MARK: Steps

  private func work() throws(Failure) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    let changed = tables.filter(\.changes)
    let restored = restoredObjects()
    let drops = restored.map(\.drop) + objectsOfQuire() + staleObjects()
    if !drops.isEmpty {
      steps.append(
        MigrationStep(
          .changeIndex, "Indexes and triggers that are to change, or that stand in the way, are removed.",
          .statements(drops)))
    }
    if !setAside.isEmpty {
      steps.append(
        MigrationStep(
          .changeTable, "Tables that are made anew, or that are gone, are called otherwise for a while.",
          .statements(setAside.map { "ALTER TABLE \($0.name) RENAME TO \($0.meanwhile)" })))
    }
    for table in changed {
      let statements = table.statements(from: table.origin.map { place($0.name).name } ?? "")
      if statements.isEmpty { continue }
      steps.append(
        MigrationStep(.changeTable, of: table.table.entity.name, sentence(of: table), .statements(statements)))
    }
    for join in joins where join.kept(in: source) == nil {
      let make = definitions.first { $0.kind == .joinTable && $0.name == join.table.name }?.statements ?? []
      steps.append(
        MigrationStep(
          .changeTable, of: join.relationship.entity.name, property: join.relationship.name,
          "Table \(join.table.name) of '\(join.relationship.qualifiedName)' is made.",
          .statements(make + join.insertions(from: source, place))))
    }
    for table in changed where !table.repairs.isEmpty {
      steps.append(
        MigrationStep(
          .changeTable, of: table.table.entity.name,
          "Places in lists and references of table \(table.table.name) are brought to what the model asks for.",
          .statements(table.repairs)))
    }
    if !setAside.isEmpty {
      steps.append(
        MigrationStep(
          .changeTable, "The former tables are deleted.",
          .statements(setAside.map { "DROP TABLE \($0.meanwhile)" })))
    }
    for definition in definitions where definition.isIndex && !keptIndexes.contains(definition.name) {
      steps.append(
        MigrationStep(
          .changeIndex, "Index \(definition.name) on table \(definition.table) is made.",
          .statements(definition.statements + [definition.filling].compactMap { $0 })))
    }
    steps += restored.map {
      MigrationStep(
        .changeIndex, "\($0.kind == .index ? "Index" : "Trigger") \($0.name) of another program is made again.",
        .restore($0))
    }
    return steps + bookkeeping()
  }

  private func sentence(of table: TableMigration) -> String {
    guard case .kept(let new) = table.form else {
      guard let origin = table.origin else { return "Table \(table.table.name) is made." }
      return "Table \(table.table.name) is made anew, with the rows of \(origin.name)."
    }
    if new.isEmpty { return "The rows of table \(table.table.name) have other numbers of entities." }
    let names = new.map(\.name).joined(separator: ", ")
    return "Table \(table.table.name) has the new column\(new.count == 1 ? "" : "s") \(names)."
  }

  /// Where a table of the source is while rows go over, and whether the numbers of entities in it are new.
  private func place(_ name: String) -> (name: String, isRenumbered: Bool) {
    if let former = setAside.first(where: { $0.name == name }) { return (former.meanwhile, false) }
    return (name, true)
  }

  // MARK: Indexes and triggers

  /// What another program has made, and what has to be made again: indexes of tables that are made anew, and triggers,
  /// which must not run meanwhile. They may name any table.
  private func restoredObjects() -> [SchemaObject] {
    objects.filter { object in
      if isQuires(object) || namesOfModels.contains(object.name) || isStaleTrigger(object) { return false }
      switch object.kind {
      case .trigger: return true
      // The framework leaves indexes of former models behind. They go with their table.
      case .index: return isGone(object.table) && !isFrameworks(object)
      default: return false
      }
    }
  }

  /// Indexes and triggers that a model asks for, and that are not to stay as they are.
  private func staleObjects() -> [String] {
    let kept = Set(definitions.filter { keptIndexes.contains($0.name) }.flatMap(\.names))
    let stale = objects.filter { object in
      if isQuires(object) || kept.contains(object.name) { return false }
      if isStaleTrigger(object) { return true }
      if object.kind == .index, isGone(object.table), isFrameworks(object) { return true }
      return namesOfModels.contains(object.name) && (object.kind != .table || object.isVirtual)
    }
    // Triggers name the trees that go.
    return (stale.filter { $0.kind == .trigger } + stale.filter { $0.kind != .trigger }).map(\.drop)
  }

  /// Whether a definition of the target is in the file as it is, on a table that stays.
  private func stays(_ definition: Schema.Definition) -> Bool {
    if !definition.isIndex || isGone(definition.table) { return false }
    // The triggers of an R-Tree must not run for each row that is written.
    if definition.kind == .rTree, written.contains(definition.table) { return false }
    return zip(definition.names, definition.statements).allSatisfy { name, sql in
      objects.contains { $0.name == name && $0.sql == sql }
    }
  }

  private func isGone(_ table: String) -> Bool {
    setAside.contains { Names.areSame($0.name, table) }
  }

  private func isFrameworks(_ object: SchemaObject) -> Bool {
    object.name.hasPrefix("Z_") || object.name.hasPrefix("\(object.table)_")
  }

  /// What Quire has beside the tables of a model. The next opening makes what the model asks for.
  private func isQuires(_ object: SchemaObject) -> Bool {
    let name = Names.upper(object.name)
    if name == TextIndexes.directory || name.hasPrefix("\(TextIndexes.directory)_") { return true }
    // The table says that the journal is to go on.
    if name.hasPrefix(ChangeJournal.prefix) || name.hasPrefix(ChangeJournal.formerPrefix) { return true }
    return name == DerivedAttributes.directory || name == DerivedAttributes.pending
      || object.kind == .trigger && name.hasPrefix("Z_DA_") && object.namesDerivations
  }

  private func objectsOfQuire() -> [String] {
    // In an order that does not tell when they were made.
    let own = objects.filter(isQuires).sorted { $0.name < $1.name }
    let shadows = Set(own.filter(\.isVirtual).flatMap { TextIndex.withShadows($0.name).dropFirst() })
    let tables = own.filter { $0.kind == .table && !shadows.contains($0.name) }
    return (own.filter { $0.kind == .trigger } + tables).map(\.drop)
  }

  /// Triggers by which the framework derives attributes have numbers of entities in them. Where any number changes, or
  /// a table, Quire keeps these attributes from then on.
  private func isStaleTrigger(_ object: SchemaObject) -> Bool {
    guard object.kind == .trigger, object.name.hasPrefix("Z_DA_"), !isQuires(object) else { return false }
    return !keepsForeignDerivations
  }

  private func keepsDerivations() -> Bool {
    if !setAside.isEmpty || !mapping.removed.isEmpty { return false }
    let former = VersionHash(model: source.model), computed = VersionHash(model: target.model)
    return mapping.entities.allSatisfy { entity in
      entity.source.number == entity.target.number
        && (!former.hasDerived(among: [entity.source.name])
          || entity.source.name == entity.target.name
            && computed.agrees(with: former, onDerivedEntity: entity.target.name))
    }
  }

  // MARK: Bookkeeping

  private func bookkeeping() -> [MigrationStep] {
    var steps = [
      MigrationStep(
        .changeBookkeeping, "The numbers of entities and their last keys are noted.", .statements(primaryKeys()))
    ]
    let history = historyColumns.map(historyStatements) ?? []
    if !history.isEmpty {
      steps.append(
        MigrationStep(
          .changeBookkeeping, "The history of changes has the new numbers of entities.", .statements(history)))
    }
    return steps + [
      MigrationStep(.changeBookkeeping, "The metadata name the new model.", .metadata),
      MigrationStep(.changeBookkeeping, "The file keeps the new model.", .modelCache),
    ]
  }

  private func primaryKeys() -> [String] {
    let former = "SELECT max(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT IN"
    let count = source.model.numberedEntities.count
    var statements = ["UPDATE Z_PRIMARYKEY SET Z_ENT = -Z_ENT WHERE Z_ENT BETWEEN 1 AND \(count)"]
    for entity in target.model.numberedEntities {
      let roots = Set(mapping.entities.filter { $0.target.rootNumber == entity.number }.map { -$0.source.rootNumber })
      let last =
        entity.parent != nil || roots.isEmpty ? "0" : "ifnull((\(former) (\(Repair.list(roots.sorted())))), 0)"
      statements.append(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(entity.number), "
          + "\(SQLLiteral.text(.text(entity.nameText)) ?? "NULL"), \(entity.parent?.number ?? 0), \(last))")
    }
    return statements + ["DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < 0"]
  }

  /// Changes of objects whose entity is gone go along. Which bit of a change stands for which property is not known, so
  /// those of entities with other properties say "any".
  private func historyStatements(_ columns: Set<String>) -> [String] {
    let all = source.model.numberedEntities
    var statements: [String] = []
    let removed = mapping.removed.map(\.number)
    if !removed.isEmpty { statements.append("DELETE FROM ACHANGE WHERE ZENTITY IN (\(Repair.list(removed)))") }
    let needed = (0..<HistoryTables.tombstoneCount(of: target.model)).map(HistoryTables.tombstone)
    statements += needed.filter { !columns.contains($0) }.map { "ALTER TABLE ACHANGE ADD COLUMN \($0) BLOB" }
    let tombstones = columns.filter { $0.hasPrefix("ZTOMBSTONE") }.union(needed).sorted()
    for mapping in mapping.entities where !hasSameProperties(mapping) {
      let change = "ZENTITY = \(mapping.source.number)"
      let bits = SQLLiteral.text(ChangedColumns.any(of: mapping.target))
      statements.append("UPDATE ACHANGE SET ZCOLUMNS = \(bits) WHERE \(change) AND ZCOLUMNS IS NOT NULL")
      let values = tombstoneSources(mapping)
      let moved = tombstones.filter { values[$0, default: "NULL"] != $0 }
      if moved.isEmpty { continue }
      let assignments = moved.map { "\($0) = \(values[$0, default: "NULL"])" }.joined(separator: ", ")
      statements.append("UPDATE ACHANGE SET \(assignments) WHERE \(change)")
    }
    let number = mapping.renumbered("ZENTITY", from: all)
    if number != "ZENTITY" {
      statements.append(
        "UPDATE ACHANGE SET ZENTITY = \(number) WHERE ZENTITY BETWEEN 1 AND \(all.count)")
    }
    return statements
  }

  /// For each column of the last values of deleted objects, the column in which the value is now.
  private func tombstoneSources(_ mapping: ModelMapping.EntityMapping) -> [String: String] {
    let former = HistoryTables.preservedAttributes(of: mapping.source)
    var sources: [String: String] = [:]
    for (place, attribute) in HistoryTables.preservedAttributes(of: mapping.target).enumerated() {
      guard let source = self.mapping.storedSource(of: attribute, in: mapping),
        let old = former.firstIndex(where: { $0 === source })
      else { continue }
      sources[HistoryTables.tombstone(place)] = HistoryTables.tombstone(old)
    }
    return sources
  }

  private func hasSameProperties(_ mapping: ModelMapping.EntityMapping) -> Bool {
    mapping.source.properties.count == mapping.target.properties.count
      && zip(mapping.target.properties, mapping.sources).allSatisfy { property, source in
        guard let source, property.name == source.name else { return false }
        return (property as? Attribute)?.traits.preservesAfterDeletion
          == (source as? Attribute)?.traits.preservesAfterDeletion
      }
  }
}
