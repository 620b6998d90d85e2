/// The change journal of a file: which rows were changed lately, for contexts of other processes.
///
/// A save or a batch request of Quire leaves one entry with ranges of ids, in its own transaction. In a journal of all
/// changes triggers add an entry for each row that plain SQL changes. `begin` and `finish` enclose what writes rows,
/// and `committed` and `rolledBack` end the transaction. Used under the lock of the store.
final class ChangeJournal: TransactionRecorder, @unchecked Sendable {
  static let table = "QUIRE_CHANGE_JOURNAL"
  /// The first part of the names of its triggers.
  static let prefix = "\(table)_"
  /// The table of earlier versions, which triggers alone have filled.
  static let formerTable = "QUIRE_NOTES"
  static let formerPrefix = "\(formerTable)_"
  /// Entries are kept for so many numbers. A process that has missed some takes it that anything has changed.
  static let mostKept: Int64 = 10_000
  /// An entry takes one number for so many bytes, so that the number of the newest bounds the size of the table.
  static let bytesOfNumber = 64
  /// The most bytes of an entry. A larger one only says that anything may have changed.
  static let mostBytes = 1 << 16
  /// Saves remove old entries each time that the numbers have grown by so many.
  private static let trimmingStep: Int64 = 256

  /// What an entry is.
  enum Kind: Int64 {
    /// Of a row, by a trigger.
    case insert = 0, update = 1, delete = 2
    /// Of an object whose row may be as it was, while the relationship that is named has other members or another
    /// order of them.
    case members = 3
    /// The first save of a commit, and each further one.
    case save = 4, furtherSave = 5
    /// A save that is under way.
    case open = 6
    /// Which journal the file keeps: the row with the number 0.
    case setting = 7
  }

  /// Which journal a file is to keep.
  enum Setting: Int64 {
    case none = 0
    /// Of saves and batch requests of Quire.
    case saves = 1
    /// Of what plain SQL changes, too.
    case all = 2
  }

  /// What a file has, as far as it can be relied on.
  enum Form: Equatable {
    case none, saves, all
    /// The table of earlier versions.
    case former
  }

  private let schema: Schema
  /// SQLite's number of the schema when the file was last looked at.
  private var checkedSchema: Int64?
  private var form = Form.none
  /// Whether triggers of other programs may change rows of the model, so that a save does not know all that it changes.
  private var hasForeignWrites = false

  // Of the running transaction.
  /// What was recorded in it.
  private struct Progress {
    /// The number of the last entry.
    var number: Int64?
    /// Whether an entry counts the commit.
    var isCounted = false
  }

  private var progress = Progress()
  /// As of the last `begin`, or of the `finish` that followed.
  private var former = Progress()
  /// The number of the entry that silences the triggers.
  private var opened: Int64?
  /// SQLite's count of changed rows at the last `begin`.
  private var changeCount: Int64 = 0

  init(of schema: Schema) { self.schema = schema }

  /// Whether saves are to be recorded. To be asked after `begin`.
  var recordsSaves: Bool { form == .saves || form == .all && !hasForeignWrites }

  /// The number of the last entry that the running transaction has made; nil where that is not known.
  var number: Int64? { progress.number }

  // MARK: Recording

  func begin(on connection: Connection) throws(Failure) {
    try begin(
      schema: try connection.unheard { () throws(Failure) in try connection.schemaNumber() }, on: connection)
  }

  /// What writes rows begins, in a transaction, where SQLite has this number of the schema. Another program may have
  /// begun or ended the journal.
  func begin(schema number: Int64, on connection: Connection) throws(Failure) {
    former = progress
    opened = nil
    try look(number, on: connection)
    if form == .all, recordsSaves {
      let insert = try connection.statement("INSERT INTO \(ChangeJournal.table) (Z_KIND) VALUES (?)")
      try insert.bind(Kind.open.rawValue, at: 1)
      try insert.run()
      opened = connection.lastInsertedRow
    }
    changeCount = connection.totalChanges
  }

  /// All is written, and this is what has become different.
  func finish(_ change: StoreChange, on connection: Connection) throws(Failure) {
    if !recordsSaves { return }
    if connection.totalChanges == changeCount {
      if let opened { try remove(opened, on: connection) }
      return
    }
    let entry = hasForeignWrites && !change.isEmpty ? nil : JournalEntry.encoded(change)
    let kind = progress.isCounted ? Kind.furtherSave : .save
    let size = Int64(entry.map { $0.count / ChangeJournal.bytesOfNumber } ?? 0)
    let number: Int64
    if let opened {
      number = opened + size
      let update = try connection.statement(
        "UPDATE \(ChangeJournal.table) SET Z_PK = ?1, Z_KIND = ?2, Z_CHANGES = ?3 WHERE Z_PK = ?4")
      try update.bind(opened, at: 4)
      try write(update, number, kind, entry)
    } else if size == 0 {
      let insert = try connection.statement(
        "INSERT INTO \(ChangeJournal.table) (Z_KIND, Z_CHANGES) VALUES (?2, ?3)")
      try write(insert, nil, kind, entry)
      number = connection.lastInsertedRow
    } else {
      let insert = try connection.statement(
        "INSERT INTO \(ChangeJournal.table) (Z_PK, Z_KIND, Z_CHANGES) "
          + "SELECT max(Z_PK) + 1 + ?1, ?2, ?3 FROM \(ChangeJournal.table)")
      try write(insert, size, kind, entry)
      number = connection.lastInsertedRow
    }
    progress = Progress(number: number, isCounted: true)
    // A part that fails before its `begin` leaves this one as it is.
    former = progress
    if number / ChangeJournal.trimmingStep != (number - size - 1) / ChangeJournal.trimmingStep {
      try trim(upTo: number - ChangeJournal.mostKept, on: connection)
    }
  }

  /// No row has become different.
  func finishWithoutRows(on connection: Connection) throws(Failure) { try finish(StoreChange(), on: connection) }

  func committed() { (progress, former) = (Progress(), Progress()) }

  /// The transaction was taken back, or with `isPart` what was written since `begin`.
  func rolledBack(isPart: Bool) {
    if !isPart { former = Progress() }
    progress = former
    checkedSchema = nil
  }

  private func write(_ statement: Statement, _ number: Int64?, _ kind: Kind, _ entry: Bytes?) throws(Failure) {
    if let number { try statement.bind(number, at: 1) }
    try statement.bind(kind.rawValue, at: 2)
    if let entry { try statement.bind(entry, at: 3) }
    try statement.run()
  }

  private func remove(_ number: Int64, on connection: Connection) throws(Failure) {
    let delete = try connection.statement("DELETE FROM \(ChangeJournal.table) WHERE Z_PK = ?")
    try delete.bind(number, at: 1)
    try delete.run()
  }

  private func trim(upTo number: Int64, on connection: Connection) throws(Failure) {
    if number < 1 { return }
    let delete = try connection.statement("DELETE FROM \(ChangeJournal.table) WHERE Z_PK BETWEEN 1 AND ?")
    try delete.bind(number, at: 1)
    try delete.run()
  }

  private func look(_ number: Int64, on connection: Connection) throws(Failure) {
    if number == checkedSchema { return }
    try connection.unheard { () throws(Failure) in
      let found = try JournalParts(on: connection)
      form = found.form(JournalParts.Wanted(schema))
      hasForeignWrites = form != .none && found.hasForeignWrites(to: schema)
      checkedSchema = number
    }
  }
}

extension Store {
  /// Which journal the file keeps.
  func changeJournal() throws(Failure) -> ChangeJournal.Setting {
    try withConnection { connection throws(Failure) in
      switch try JournalParts(on: connection).form(JournalParts.Wanted(schema)) {
      case .none: .none
      case .saves: .saves
      case .all, .former: .all
      }
    }
  }
}
