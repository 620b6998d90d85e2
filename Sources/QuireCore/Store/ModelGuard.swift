import Synchronization

/// Refuses the file of an open store once another program has taken it over to another model. Any thread.
final class ModelGuard: Sendable {
  private let hashes: [String: [UInt8]]
  /// SQLite's number of a schema with which the file was of the model.
  private let known: Atomic<Int64>

  /// `hashes` are what the file said of its model when it had the schema with that number.
  init(_ hashes: [String: [UInt8]], schema: Int64) {
    self.hashes = hashes
    known = Atomic(schema)
  }

  /// To be called in a transaction.
  func check(_ connection: Connection) throws(Failure) {
    try check(connection, schema: try connection.unheard { () throws(Failure) in try connection.schemaNumber() })
  }

  /// A migration changes the schema, so that its number tells enough mostly.
  func check(_ connection: Connection, schema number: Int64) throws(Failure) {
    if number == known.load(ordering: .relaxed) { return }
    let metadata = try connection.unheard { () throws(Failure) in
      try Metadata.read(from: connection, tables: try connection.tables())
    }
    if metadata.hashes != hashes {
      throw Failure(
        .modelMismatch,
        "The store '\(connection.path)' was taken over to another model by another program since it was opened here. "
          + "Close it, and open it with that model.")
    }
    known.store(number, ordering: .relaxed)
  }
}
