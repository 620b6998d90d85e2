import CSQLite

/// The log of the statements that a store runs.
struct SQLLog: Sendable {
  /// One statement that has ended.
  struct Entry {
    /// With numbered parameters, or with their values.
    let sql: UnsafePointer<CChar>
    let nanoseconds: Int64
    let rowCount: Int64
  }

  /// Whether texts have the values in the places of parameters.
  let includesValues: Bool
  /// Statements that take less are not logged.
  let leastNanoseconds: Int64
  let tell: @Sendable (Entry) -> Void
  /// Several connections may have statements end at once, and the program is told of one after the other.
  let turn = Guarded(())
}

/// Follows the statements of one connection for a log.
final class SQLTrace {
  let log: SQLLog
  /// While a moment begins or ends, by statements that are none of the program's.
  var isPaused = false
  /// Of the statements that run, innermost last.
  private var running: [(statement: OpaquePointer, rowCount: Int64)] = []

  init(_ log: SQLLog) { self.log = log }

  /// Makes SQLite call this object, which the connection keeps, until another one takes its place.
  func follow(_ handle: OpaquePointer) {
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE),
      { event, trace, statement, nanoseconds in
        guard let trace, let statement = statement.map({ OpaquePointer($0) }) else { return 0 }
        let own = Unmanaged<SQLTrace>.fromOpaque(trace).takeUnretainedValue()
        if event == UInt32(SQLITE_TRACE_ROW) {
          own.countRow(of: statement)
        } else if let nanoseconds {
          own.end(statement, nanoseconds.load(as: Int64.self))
        }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func countRow(of statement: OpaquePointer) {
    if let place = running.lastIndex(where: { $0.statement == statement }) {
      running[place].rowCount += 1
    } else {
      running.append((statement, 1))
    }
  }

  private func end(_ statement: OpaquePointer, _ nanoseconds: Int64) {
    var rowCount: Int64 = 0
    if let place = running.lastIndex(where: { $0.statement == statement }) {
      rowCount = running.remove(at: place).rowCount
    }
    if isPaused || nanoseconds < log.leastNanoseconds { return }
    let expanded = log.includesValues ? sqlite3_expanded_sql(statement) : nil
    defer { sqlite3_free(expanded) }
    guard let sql = expanded.map({ UnsafePointer($0) }) ?? sqlite3_sql(statement) else { return }
    // SQLite is in the middle of things.
    ForeignCall.run {
      log.turn.withLock { _ in log.tell(SQLLog.Entry(sql: sql, nanoseconds: nanoseconds, rowCount: rowCount)) }
    }
  }
}
