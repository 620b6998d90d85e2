/// How one table of entities comes to be.
struct TableMigration {
  /// What is done to the table that is there.
  enum Form {
    /// It stays, whatever becomes of the numbers in it.
    case kept(new: [Schema.Column])
    /// There is another one in its place, or none was there.
    case made
  }

  let table: Schema.Table
  /// The table that it was; nil for a new one.
  let origin: Schema.Table?
  let form: Form
  /// For each concrete entity that has rows.
  let rows: [RowMapping]
  private let models: ModelMapping
  /// The columns of other programs, which stay.
  let columnsOfOthers: [Schema.Column]

  init(
    _ table: Schema.Table, in models: ModelMapping, from source: Schema, to target: Schema, _ incoming: Incoming,
    columnsOfOthers: [String: [Schema.Column]]
  ) throws(Failure) {
    self.table = table
    self.models = models
    let tree = models.entities.filter { $0.target.rootNumber == table.entity.number }
    let mappings = tree.filter { !$0.source.isAbstract }
    var rows: [RowMapping] = []
    for mapping in mappings { rows.append(try RowMapping(mapping, in: models, from: source, to: target, incoming)) }
    self.rows = rows
    // One of abstract entities has no rows, and may have columns of other programs.
    let origin = (mappings.first ?? tree.first).flatMap { mapping in
      source.tables.first { $0.entity.number == mapping.source.rootNumber }
    }
    self.origin = origin
    self.columnsOfOthers = origin.flatMap { columnsOfOthers[$0.name] } ?? []
    form = origin.map { TableMigration.form(of: table, from: $0, rows) } ?? .made
  }

  /// A table stays where each row has all that it needs in the columns where it is to be.
  private static func form(of table: Schema.Table, from origin: Schema.Table, _ rows: [RowMapping]) -> Form {
    let concrete = origin.entity.subtree.filter { !$0.isAbstract }
    if origin.name != table.name || rows.count < concrete.count { return .made }
    let types = Dictionary(table.columns.map { ($0.name, $0.sqlType) }, uniquingKeysWith: { first, _ in first })
    if !origin.columns.allSatisfy({ types[$0.name] == $0.sqlType }) { return .made }
    let present = Set(origin.columns.dropFirst(3).map(\.name))
    for row in rows {
      for column in present {
        // What is only here is left where nothing reads it otherwise.
        if row.used.contains(column) ? row.values[column] != column : row.values[column] != nil { return .made }
      }
    }
    let known = Set(origin.columns.map(\.name))
    return .kept(new: table.columns.filter { !known.contains($0.name) })
  }

  var isMade: Bool { if case .made = form { true } else { false } }

  /// Whether its rows are written, if there are any.
  var writesRows: Bool { isMade || !updates.isEmpty || !repairs.isEmpty }

  /// Whether anything happens to it.
  var changes: Bool {
    if case .kept(let new) = form { return !new.isEmpty || writesRows }
    return true
  }

  /// What makes it, with its rows. `origin` is where these are now.
  func statements(from former: String) -> [String] {
    switch form {
    case .kept(let new):
      return new.map { "ALTER TABLE \(table.name) ADD COLUMN \($0.name) \($0.sqlType)" } + updates
    case .made:
      let create = Schema.statement(table, with: columnsOfOthers)
      return origin == nil ? [create] : [create, insertion(from: former)]
    }
  }

  var repairs: [String] {
    var found: [Repair] = []
    for repair in rows.flatMap(\.repairs) where !found.contains(repair) { found.append(repair) }
    return found.map { $0.statement(on: table.name) }
  }

  /// In the table that stays: numbers of entities and values of new columns.
  private var updates: [String] {
    guard case .kept(let new) = form else { return [] }
    var changes = number == "Z_ENT" ? [] : ["Z_ENT = \(number)"]
    var entities = number == "Z_ENT" ? [] : rows.filter { $0.mapping.source.number != $0.mapping.target.number }
    for column in new {
      let value = value(of: column.name)
      if value == "NULL" { continue }
      changes.append("\(column.name) = \(value)")
      entities += rows.filter { $0.values[column.name] != nil }
    }
    if changes.isEmpty { return [] }
    let numbers = Set(entities.map(\.mapping.source.number))
    let condition = numbers.count == rows.count ? "" : " WHERE Z_ENT IN (\(Repair.list(numbers.sorted())))"
    return ["UPDATE \(table.name) SET \(changes.joined(separator: ", "))\(condition)"]
  }

  private func insertion(from former: String) -> String {
    let columns = table.columns.dropFirst(3).filter { value(of: $0.name) != "NULL" }
    let names = ["Z_PK", "Z_ENT", "Z_OPT"] + columns.map(\.name) + columnsOfOthers.map { SQLLiteral.name($0.name) }
    let values =
      ["Z_PK", number, "Z_OPT"] + columns.map { value(of: $0.name) } + columnsOfOthers.map { SQLLiteral.name($0.name) }
    let count = origin.map { $0.entity.subtree.filter { !$0.isAbstract }.count } ?? 0
    let numbers = Repair.list(rows.map(\.mapping.source.number))
    return "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) "
      + "SELECT \(values.joined(separator: ", ")) FROM \(former)"
      + (rows.count < count ? " WHERE Z_ENT IN (\(numbers))" : "")
  }

  /// The number of the entity of a row, as an expression over the old row.
  private var number: String { models.renumbered("Z_ENT", from: rows.map(\.mapping.source)) }

  /// The value of a column, as an expression over the old row.
  private func value(of column: String) -> String {
    var values: [(value: String, numbers: [Int])] = []
    for row in rows {
      let value = row.values[column] ?? "NULL"
      if let place = values.firstIndex(where: { $0.value == value }) {
        values[place].numbers.append(row.mapping.source.number)
      } else {
        values.append((value, [row.mapping.source.number]))
      }
    }
    // Where nothing else is in the column, it is NULL already.
    if let only = values.first, values.count == 1 { return only.value }
    let cases = values.filter { $0.value != "NULL" }.map {
      "WHEN Z_ENT IN (\(Repair.list($0.numbers))) THEN \($0.value)"
    }
    return cases.isEmpty ? "NULL" : "CASE \(cases.joined(separator: " ")) END"
  }
}
