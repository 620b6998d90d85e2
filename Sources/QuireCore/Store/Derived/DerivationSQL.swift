/// The way from an object to what one of its attributes is derived from, as SQL, there and back.
struct DerivationSQL: Sendable {
  /// Something that another value follows from.
  struct Event {
    let kind: String
    let table: String
    /// For an UPDATE; empty where every one counts.
    var columns: [String] = []
    let condition: String
    /// Besides, what has to hold for it to count while a session of Quire writes; nil when it never does.
    var noteCondition: String? = "1"
    let owners: Owners
    let isSource: Bool
  }

  /// The objects concerned.
  enum Owners {
    /// Expressions of their keys, or NULL.
    case keys([String])
    /// Selects their keys, as Z_PK.
    case query(String)

    var query: String {
      switch self {
      case .keys(let keys): keys.map { "SELECT \($0) AS Z_PK" }.joined(separator: " UNION ")
      case .query(let query): query
      }
    }
  }

  let attribute: Attribute
  let operation: Derivation.Operation
  let table: String
  let column: String
  /// To-one relationships that are followed first, each with its column and the table that it leads to.
  let steps: [(relationship: Relationship, key: String, table: String)]
  /// The to-many relationship behind them.
  let members: RelationshipSQL?
  let source: Attribute?
  private let sourceColumn: String?
  /// Columns of the table that are written, and not derived.
  private let writtenColumns: [String]

  init(_ attribute: Attribute, _ derivation: Derivation, schema: Schema) throws(Failure) {
    self.attribute = attribute
    operation = derivation.operation
    table = schema.table(of: attribute.entity)
    column = schema.column(of: attribute)
    var current = attribute.entity
    var steps: [(relationship: Relationship, key: String, table: String)] = []
    var members: RelationshipSQL?
    var source: Attribute?
    for key in derivation.keys {
      let property = try current.property(named: key)
      source = property as? Attribute
      guard let relationship = property as? Relationship else { continue }
      current = relationship.destination
      if relationship.isToMany {
        members = try RelationshipSQL(relationship, schema: schema)
      } else {
        steps.append((relationship, schema.toOne(relationship).key, schema.table(of: current)))
      }
    }
    self.steps = steps
    self.members = members
    self.source = source
    sourceColumn = source.map(schema.column)
    let derived = Set(
      attribute.entity.root.subtree.flatMap(\.ownAttributes).filter(\.isDerived).map(schema.column))
    writtenColumns = (schema.tables.first { $0.entity === attribute.entity.root }?.columns.map(\.name) ?? [])
      .filter { !derived.contains($0) && $0 != "Z_PK" }
  }

  /// Keeps out rows of the table that do not have the attribute.
  func entityCondition(_ row: String) -> String? {
    let entity = attribute.entity
    return entity.parent == nil ? nil : "+\(row).Z_ENT BETWEEN \(entity.number) AND \(entity.lastNumber)"
  }

  // MARK: There

  /// The value of the row that is called `owner`. `isPlain` is with what SQLite itself has of functions, otherwise what
  /// they are to be called with.
  func value(of owner: String, isPlain: Bool) -> String {
    switch operation {
    case .now: "(strftime('%s', 'now') - strftime('%S', 'now') + strftime('%f', 'now') - 978307200)"
    case .uppercase where isPlain: "upper(\(single(owner)))"
    case .lowercase where isPlain, .canonical where isPlain: "lower(\(single(owner)))"
    case .value, .uppercase, .lowercase, .canonical: single(owner)
    case .count: collective(owner, "count(*)")
    case .minimum: collective(owner, "min(m.\(sourceColumn ?? "Z_PK"))")
    case .maximum: collective(owner, "max(m.\(sourceColumn ?? "Z_PK"))")
    case .sum: collective(owner, "ifnull(\(rounded(calculation("sum", .decimalTotal, isPlain))), 0)")
    case .average: collective(owner, rounded(calculation("avg", .decimalAverage, isPlain)))
    case .unknown: "NULL"
    }
  }

  /// A sum or an average of the members' values; of decimals the exact one, where our functions may be called.
  private func calculation(_ plain: String, _ exact: SQLFunction, _ isPlain: Bool) -> String {
    "\(source?.type == .decimal && !isPlain ? exact.name : plain)(m.\(sourceColumn ?? "Z_PK"))"
  }

  /// Whether SQLite's own functions add what is rounded already.
  private var isExactSum: Bool { (operation == .sum || operation == .average) && source?.type == .decimal }

  /// The file has decimals as doubles, of which these digits can be trusted.
  private func rounded(_ number: String) -> String {
    if attribute.type != .decimal { return number }
    return "CASE WHEN \(number) IS NOT NULL THEN CAST(printf('%.15g', \(number)) AS REAL) END"
  }

  private func single(_ owner: String) -> String {
    let column = sourceColumn ?? "Z_PK"
    if steps.isEmpty { return "\(owner).\(column)" }
    let (tables, conditions) = way(from: owner)
    return "(SELECT s\(steps.count).\(column) FROM \(tables.joined(separator: ", ")) "
      + "WHERE \(conditions.joined(separator: " AND ")))"
  }

  private func collective(_ owner: String, _ aggregate: String) -> String {
    guard let members else { return "NULL" }
    var (tables, conditions) = way(from: owner)
    let anchor = steps.isEmpty ? "\(owner).Z_PK" : "s\(steps.count).Z_PK"
    switch members.storage {
    case .owner: break
    case .destination(let key, _): conditions.append("m.\(key) = \(anchor)")
    case .pairs(let pairs) where pairs.isReflexive:
      conditions.append(
        "m.Z_PK IN (SELECT \(pairs.destinationColumn) FROM \(pairs.name) WHERE \(pairs.ownerColumn) = \(anchor) "
          + "UNION SELECT \(pairs.ownerColumn) FROM \(pairs.name) WHERE \(pairs.destinationColumn) = \(anchor))")
    case .pairs(let pairs):
      tables.append("\(pairs.name) j")
      conditions += ["j.\(pairs.ownerColumn) = \(anchor)", "m.Z_PK = j.\(pairs.destinationColumn)"]
    }
    tables.append("\(members.table) m")
    if let condition = members.destinationCondition("m") { conditions.append(condition.sql) }
    return "(SELECT \(aggregate) FROM \(tables.joined(separator: ", ")) "
      + "WHERE \(conditions.joined(separator: " AND ")))"
  }

  /// The rows s1, s2 and so on that to-one relationships lead to.
  private func way(from owner: String) -> (tables: [String], conditions: [String]) {
    var tables: [String] = [], conditions: [String] = []
    for (place, step) in steps.enumerated() {
      tables.append("\(step.table) s\(place + 1)")
      conditions.append("s\(place + 1).Z_PK = \(place == 0 ? owner : "s\(place)").\(step.key)")
      let destination = step.relationship.destination
      if destination.parent != nil {
        conditions.append("+s\(place + 1).Z_ENT BETWEEN \(destination.number) AND \(destination.lastNumber)")
      }
    }
    return (tables, conditions)
  }

  // MARK: Back

  /// The objects from which the first `count` steps lead to those with these keys.
  private func owners(_ count: Int, _ keys: Owners) -> Owners {
    if count == 0 { return keys }
    var tables = ["\(table) o"], conditions: [String] = []
    for (place, step) in steps.prefix(count - 1).enumerated() {
      tables.append("\(step.table) s\(place + 1)")
      conditions.append("s\(place + 1).Z_PK = \(place == 0 ? "o" : "s\(place)").\(step.key)")
    }
    conditions.append("\(count == 1 ? "o" : "s\(count - 1)").\(steps[count - 1].key) IN (\(keys.query))")
    return .query(
      "SELECT o.Z_PK FROM \(tables.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND "))")
  }

  private static func changes(_ columns: [String]) -> String {
    columns.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
  }

  /// Everything that another value follows from.
  func events() -> [Event] {
    var events: [Event] = []
    sourceEvents(&events)
    for (place, step) in steps.enumerated() {
      // What the next step is made of, or what the value is.
      let next = place + 1 < steps.count ? steps[place + 1].key : members == nil ? sourceColumn : nil
      rowEvents(of: step.table, next.map { [$0] } ?? [], to: &events) { row in
        owners(place + 1, .keys(["\(row).Z_PK"]))
      }
    }
    if let members { memberEvents(members, &events) }
    return events
  }

  /// Whether a new row may need another value than what a session of Quire inserts; nil when it never does.
  private var initialCondition: String? {
    if let step = steps.first { return "NEW.\(step.key) IS NOT NULL" }
    switch members?.storage {
    case .destination(let key, _)?: return "EXISTS (SELECT 1 FROM \(members?.table ?? table) WHERE \(key) = NEW.Z_PK)"
    case .pairs(let pairs)? where !pairs.isReflexive:
      return "EXISTS (SELECT 1 FROM \(pairs.name) WHERE \(pairs.ownerColumn) = NEW.Z_PK)"
    case .pairs?: return "1"
    case .owner?, nil: return nil
    }
  }

  private func sourceEvents(_ events: inout [Event]) {
    let isOwn = entityCondition("NEW") ?? "1"
    let owners = Owners.keys(["NEW.Z_PK"])
    events.append(
      Event(
        kind: "INSERT", table: table, condition: isOwn, noteCondition: initialCondition, owners: owners, isSource: true)
    )
    if operation == .now {
      events.append(
        Event(kind: "UPDATE", table: table, columns: writtenColumns, condition: isOwn, owners: owners, isSource: true))
    } else if let column = steps.first?.key ?? (members == nil ? sourceColumn : nil) {
      let columns = [column, "Z_ENT"]
      events.append(
        Event(
          kind: "UPDATE", table: table, columns: columns,
          condition: "(\(DerivationSQL.changes(columns))) AND \(isOwn)", owners: owners, isSource: true))
    }
  }

  /// Rows of a table come, go, or change in one of the columns.
  private func rowEvents(
    of table: String, _ columns: [String], to events: inout [Event], _ owners: (String) -> Owners
  ) {
    events.append(
      Event(kind: "INSERT", table: table, condition: "1", owners: owners("NEW"), isSource: false))
    events.append(
      Event(kind: "DELETE", table: table, condition: "1", owners: owners("OLD"), isSource: false))
    let columns = columns + ["Z_ENT"]
    events.append(
      Event(
        kind: "UPDATE", table: table, columns: columns, condition: DerivationSQL.changes(columns),
        owners: owners("NEW"),
        isSource: false))
  }

  private func memberEvents(_ members: RelationshipSQL, _ events: inout [Event]) {
    let source = [sourceColumn].compactMap(\.self)
    func concerned(_ anchors: String...) -> Owners { owners(steps.count, .keys(anchors)) }
    switch members.storage {
    case .owner: break
    case .destination(let key, _):
      func event(_ kind: String, _ columns: [String], _ condition: String, _ owners: Owners) {
        events.append(
          Event(
            kind: kind, table: members.table, columns: columns, condition: condition, owners: owners, isSource: false))
      }
      event("INSERT", [], "NEW.\(key) IS NOT NULL", concerned("NEW.\(key)"))
      event("DELETE", [], "OLD.\(key) IS NOT NULL", concerned("OLD.\(key)"))
      let columns = [key] + source + ["Z_ENT"]
      event("UPDATE", columns, DerivationSQL.changes(columns), concerned("OLD.\(key)", "NEW.\(key)"))
    case .pairs(let pairs):
      func anchors(_ rows: [String]) -> Owners {
        let columns = [pairs.ownerColumn] + (pairs.isReflexive ? [pairs.destinationColumn] : [])
        return owners(steps.count, .keys(rows.flatMap { row in columns.map { "\(row).\($0)" } }))
      }
      for (kind, rows) in [("INSERT", ["NEW"]), ("DELETE", ["OLD"]), ("UPDATE", ["OLD", "NEW"])] {
        events.append(
          Event(kind: kind, table: pairs.name, condition: "1", owners: anchors(rows), isSource: false))
      }
      rowEvents(of: members.table, source, to: &events) { row in
        var keys =
          "SELECT \(pairs.ownerColumn) AS Z_PK FROM \(pairs.name) WHERE \(pairs.destinationColumn) = \(row).Z_PK"
        if pairs.isReflexive {
          keys +=
            " UNION SELECT \(pairs.destinationColumn) FROM \(pairs.name) WHERE \(pairs.ownerColumn) = \(row).Z_PK"
        }
        return owners(steps.count, .query(keys))
      }
    }
  }

  // MARK: Triggers

  /// The statement of a trigger for objects whose value follows. It writes the value, and notes the object where
  /// SQLite's own functions cannot calculate it.
  func writing(_ owners: Owners, name: String) -> String {
    let isOwn = entityCondition(table).map { " AND \($0)" } ?? ""
    let update =
      "UPDATE \(table) SET \(column) = \(value(of: table, isPlain: true)) WHERE Z_PK IN (\(owners.query))\(isOwn);"
    if isExactSum { return "\(update) \(noting(owners, name: name))" }
    if !operation.isOfText { return update }
    // Triggers of another folding are replaced when a store is opened, and all values are calculated again.
    let number = operation == .canonical ? "/* folding 2 */ " : ""
    let isForeign =
      "(SELECT \(column) FROM \(table) WHERE Z_PK = n.Z_PK) GLOB '*[^' || char(1) || '-' || char(127) || ']*'"
    return "\(number)\(update) \(noting(query: owners.query, name: name, if: isForeign))"
  }

  /// While a session of Quire writes, it notes the objects only.
  func noting(_ owners: Owners, name: String) -> String {
    switch owners {
    case .query(let query): return noting(query: query, name: name, if: "1")
    case .keys(let keys):
      return keys.map { key in
        "INSERT INTO \(DerivedAttributes.pending) (Z_NAME, Z_PK) SELECT '\(name)', \(key) "
          + "WHERE \(key) IS NOT NULL AND \(isNew(key, name));"
      }.joined(separator: " ")
    }
  }

  private func noting(query: String, name: String, if condition: String) -> String {
    "INSERT INTO \(DerivedAttributes.pending) (Z_NAME, Z_PK) SELECT DISTINCT '\(name)', n.Z_PK FROM (\(query)) n "
      + "WHERE \(condition) AND n.Z_PK IS NOT NULL AND \(isNew("n.Z_PK", name));"
  }

  /// A statement may impose its way with conflicts on the triggers it fires, so they look before they insert.
  private func isNew(_ key: String, _ name: String) -> String {
    "NOT EXISTS (SELECT 1 FROM \(DerivedAttributes.pending) WHERE Z_NAME = '\(name)' AND Z_PK = \(key))"
  }
}
