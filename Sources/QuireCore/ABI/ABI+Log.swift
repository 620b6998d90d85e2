import CQuire
import Glibc

/// A log of C callbacks. It holds the caller's `user_data` and calls `destroy` when it goes.
final class LogCallback: @unchecked Sendable {
  private let log: quire_log
  private var isTaken = true

  fileprivate init(_ log: quire_log) { self.log = log }

  deinit { if isTaken { log.destroy?(log.user_data) } }

  /// Runs what takes the log over. When that fails, `user_data` is still the caller's.
  static func handOver(
    _ callback: LogCallback?, _ body: (SQLLog?) throws(Failure) -> Void
  ) throws(Failure) {
    do throws(Failure) { try body(callback?.sqlLog) } catch {
      callback?.isTaken = false
      throw error
    }
  }

  private var sqlLog: SQLLog {
    SQLLog(
      includesValues: log.includes_values, leastNanoseconds: Int64(clamping: log.least_nanoseconds)
    ) { self.tell($0) }
  }

  private func tell(_ entry: SQLLog.Entry) {
    var exported = quire_log_entry()
    exported.struct_size = UInt32(MemoryLayout<quire_log_entry>.size)
    exported.sql = quire_string(data: entry.sql, size: strlen(entry.sql))
    exported.nanoseconds = UInt64(clamping: entry.nanoseconds)
    exported.row_count = UInt64(clamping: entry.rowCount)
    log.statement?(log.user_data, &exported)
  }
}

@_cdecl("quire_store_set_log") @implementation
public func quire_store_set_log(
  _ store: UnsafeMutablePointer<quire_store>?, _ log: UnsafePointer<quire_log>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    try LogCallback.handOver(logCallback(log)) { (log) throws(Failure) in try store.setLog(log) }
  }
}

/// The log of statements, from the caller's struct; nil for NULL.
func logCallback(_ log: UnsafePointer<quire_log>?) throws(Failure) -> LogCallback? {
  guard log != nil else { return nil }
  let chosen = try options(log, defaults: quire_log(), "log")
  if chosen.statement == nil {
    throw Failure(.invalidArgument, "'log' has no function 'statement' to call; pass NULL to log nothing.")
  }
  return LogCallback(chosen)
}
