import CSQLite

/// The place of a compiled statement that is not in use, under its text. It stays filed while the statement is in use,
/// so that the text, which is long, is looked up once for each use.
final class IdleStatement {
  private var prepared: OpaquePointer?

  deinit { finish() }

  func take() -> OpaquePointer? {
    defer { prepared = nil }
    return prepared
  }

  /// False when there is one already.
  func keep(_ statement: OpaquePointer) -> Bool {
    if prepared != nil { return false }
    prepared = statement
    return true
  }

  func finish() { sqlite3_finalize(take()) }
}
