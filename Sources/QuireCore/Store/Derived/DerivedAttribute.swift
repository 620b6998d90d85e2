/// The SQL of one derived attribute: what its value is, and the triggers that keep it.
///
/// The triggers call nothing that plain SQLite lacks, so that any program may write. They bear the names that Core Data
/// gives its own.
final class DerivedAttribute: @unchecked Sendable {
  let attribute: Attribute
  let operation: Derivation.Operation
  let table: String
  let column: String
  /// What the pending table calls it.
  let name: String
  /// Triggers by name, with the text that the file has of them.
  let triggers: [(name: String, sql: String)]
  /// The slot of the attribute of the same object that the value is made of, if that is all it takes.
  let ownSource: Int?

  private let path: DerivationSQL
  /// Guarded by the store's lock.
  private let folder = TextFolder()

  init(_ attribute: Attribute, _ derivation: Derivation, schema: Schema, _ taken: inout Set<String>) throws(Failure) {
    let path = try DerivationSQL(attribute, derivation, schema: schema)
    self.attribute = attribute
    self.path = path
    operation = derivation.operation
    table = path.table
    column = path.column
    name = "\(attribute.entity.name).\(attribute.name)"
    ownSource = path.steps.isEmpty && path.members == nil ? path.source?.slot : nil
    var triggers: [(name: String, sql: String)] = []
    let pathName = name
    for event in path.events() {
      let wanted =
        "Z_DA_\(event.table)_\(attribute.entity.name)_\(attribute.name)_"
        + "\(event.table == path.table && event.isSource ? "SOURCE" : "PARAMETER")_\(event.kind)"
      func add(_ wanted: String, when condition: String, _ actions: String) {
        var trigger = wanted, number = 0
        while !taken.insert(Names.upper(trigger)).inserted {
          number += 1
          trigger = "\(wanted)_\(number)"
        }
        let columns = event.columns.isEmpty ? "" : " OF \(event.columns.joined(separator: ", "))"
        triggers.append(
          (
            trigger,
            "CREATE TRIGGER \(trigger) AFTER \(event.kind)\(columns) ON \(event.table) FOR EACH ROW "
              + "WHEN (\(condition)) BEGIN \(actions) END"
          ))
      }
      // Two, because a trigger that does not apply costs next to nothing, unlike a statement in it that does nothing.
      add(
        wanted, when: "NOT \(DerivedAttributes.isDeferring) AND (\(event.condition))",
        path.writing(event.owners, name: pathName))
      if let noteCondition = event.noteCondition {
        add(
          "\(wanted)_NOTE", when: "\(DerivedAttributes.isDeferring) AND (\(event.condition)) AND \(noteCondition)",
          path.noting(event.owners, name: pathName))
      }
    }
    self.triggers = triggers
  }

  /// What a new row begins with: the value itself where it depends on nothing else.
  func initialValue(of values: ContiguousArray<Value>, now: Double) -> Value {
    if operation == .now { return .date(now) }
    if let ownSource { return result(values[ownSource]) }
    return attribute.defaultValue
  }

  /// What functions of text, which SQL has for ASCII only, make of a value; others are what SQL makes of them.
  func result(_ value: Value) -> Value {
    guard case .text(let text) = value else { return value }
    switch operation {
    case .uppercase: return .text(text.string.uppercased())
    case .lowercase: return .text(text.string.lowercased())
    case .canonical: return .text(folder.fold(text, [.ignoreCase, .ignoreDiacritics]))
    default: return value
    }
  }

  /// Selects key, entity, present value and what the value is made of, of the rows that are pending.
  var pendingRows: String {
    let value = operation == .now ? "NULL" : path.value(of: "o", isPlain: false)
    return
      "SELECT o.Z_PK, o.Z_ENT, o.\(column), \(value) FROM \(DerivedAttributes.pending) p "
      + "CROSS JOIN \(table) o ON o.Z_PK = p.Z_PK WHERE p.Z_NAME = ?1"
      + (path.entityCondition("o").map { " AND \($0)" } ?? "")
  }

  /// Has all rows be pending, of `now()` those without a value.
  var everyRow: String {
    let conditions = [path.entityCondition(table), operation == .now ? "\(column) IS NULL" : nil].compactMap(\.self)
    let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    return "INSERT OR IGNORE INTO \(DerivedAttributes.pending) (Z_NAME, Z_PK) SELECT ?1, Z_PK FROM \(table)\(filter)"
  }

  /// The type of what `pendingRows` selects last.
  var sourceType: AttributeType { operation.isOfText ? .string : attribute.type }
}
