/// A transaction of the history, with its changes.
struct HistoryTransaction: Sendable {
  let number: Int64
  /// Seconds since 2001.
  let timestamp: Double
  let author: Text?
  let contextName: Text?
  let processID: Text?
  let bundleID: Text?
  let changes: [HistoryChange]

  /// Behind it.
  var place: HistoryPlace { HistoryPlace(number: number, timestamp: timestamp) }
}

/// What a transaction did to one row.
struct HistoryChange: Sendable {
  /// As ZCHANGETYPE.
  enum Kind: Int64, Sendable { case insert = 0, update, delete }

  let kind: Kind
  let id: Int64
  /// nil where the model has no such entity any more.
  let entity: Entity?
  /// What an update has changed; nil where that is not known.
  let changedProperties: [Property]?
  /// What a deletion has left.
  let tombstones: [(attribute: Attribute, value: Value)]
}

/// Which transactions are asked for.
struct HistoryQuery: Sendable {
  /// Behind what is known already. nil for all that there are.
  var after: HistoryPlace?
  /// Seconds since 2001: not earlier ones.
  var since: Double?
  var author: Text?
  var contextName: Text?
  /// Only changes of it, or of entities under it, and transactions with such.
  var entity: Entity?
  /// 0 for all.
  var limit = 0
}

/// What a fetch has found.
final class HistoryList: Sendable {
  let transactions: [HistoryTransaction]
  /// Where the next fetch goes on.
  let end: HistoryPlace
  /// Upper case, of the store.
  let uuid: Text

  init(_ transactions: [HistoryTransaction], end: HistoryPlace, uuid: Text) {
    self.transactions = transactions
    self.end = end
    self.uuid = uuid
  }
}
