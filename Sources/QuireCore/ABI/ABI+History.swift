import CQuire

/// What a fetch of the history has found, with what it lends.
final class ExportedHistory: Sendable {
  let list: HistoryList
  /// The texts of decimals, which have none of their own.
  private let digits = Guarded<[String: Text]>([:])

  init(_ list: HistoryList) { self.list = list }

  func transaction(_ index: Int64) throws(Failure) -> HistoryTransaction {
    try element(index, of: list.transactions, "index")
  }

  func change(_ transaction: Int64, _ index: Int64) throws(Failure) -> HistoryChange {
    try element(index, of: element(transaction, of: list.transactions, "transaction").changes, "index")
  }

  func kept(_ text: Text) -> Text {
    digits.withLock { digits in
      if let known = digits[text.string] { return known }
      digits[text.string] = text
      return text
    }
  }
}

extension quire_history_transaction_info: FilledStruct {
  static var leastSize: Int { 96 }
  static var initializer: String { "QUIRE_HISTORY_TRANSACTION_INFO_INIT" }
}

extension quire_history_change_info: FilledStruct {
  static var leastSize: Int { 48 }
  static var initializer: String { "QUIRE_HISTORY_CHANGE_INFO_INIT" }
}

@_cdecl("quire_history_token") @implementation
public func quire_history_token(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_token: UnsafeMutablePointer<UInt8>?, _ out_error: ErrorOut
) -> quire_status {
  givingToken(out_token, out_error) { () throws(Failure) in
    let store = try resolve(store, "store")
    try ForeignCall.refuse()
    return try store.historyToken()
  }
}

@_cdecl("quire_history_fetch") @implementation
public func quire_history_fetch(
  _ store: UnsafeMutablePointer<quire_store>?, _ token: UnsafePointer<UInt8>?, _ token_size: Int,
  _ options: UnsafePointer<quire_history_options>?, _ out_history: Out<quire_history>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_history, "out_history", out_error) { () throws(Failure) in
    let store = try resolve(store, "store")
    try ForeignCall.refuse()
    let given = try QuireCore.options(options, defaults: quire_history_options(), "options")
    try checkReserved(given.reserved, "options")
    var query = HistoryQuery()
    if given.author != nil { query.author = try text(given.author, endsWithNUL, "author") }
    if given.context_name != nil { query.contextName = try text(given.context_name, endsWithNUL, "context_name") }
    if given.entity != nil { query.entity = try store.model.entity(given.entity, endsWithNUL, "entity") }
    if given.has_since { query.since = try date(given.since, "since") }
    query.limit = Int(clamping: given.limit)
    let token = token == nil && token_size == 0 ? nil : try historyToken(token, token_size)
    return ExportedHistory(try store.history(after: token, query))
  }
}

@_cdecl("quire_history_retain") @implementation
public func quire_history_retain(_ history: UnsafePointer<quire_history>?) -> UnsafeMutablePointer<quire_history>? {
  retain(history)
}

@_cdecl("quire_history_release") @implementation
public func quire_history_release(_ history: UnsafeMutablePointer<quire_history>?) { release(history) }

@_cdecl("quire_history_count") @implementation
public func quire_history_count(_ history: UnsafePointer<quire_history>?) -> Int64 {
  Int64(peek(history)?.list.transactions.count ?? 0)
}

@_cdecl("quire_history_next_token") @implementation
public func quire_history_next_token(
  _ history: UnsafePointer<quire_history>?, _ out_token: UnsafeMutablePointer<UInt8>?, _ out_error: ErrorOut
) -> quire_status {
  givingToken(out_token, out_error) { () throws(Failure) in
    let list = try resolve(history, "history").list
    return HistoryToken(list.end, ofStore: list.uuid)
  }
}

@_cdecl("quire_history_transaction") @implementation
public func quire_history_transaction(
  _ history: UnsafePointer<quire_history>?, _ index: Int64,
  _ out_info: UnsafeMutablePointer<quire_history_transaction_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    let found = try resolve(history, "history").transaction(index)
    return quire_history_transaction_info(
      struct_size: 0, reserved: 0, number: found.number, timestamp: Epoch.since1970(found.timestamp),
      author: found.author?.lent ?? noText, context_name: found.contextName?.lent ?? noText,
      process_id: found.processID?.lent ?? noText, bundle_id: found.bundleID?.lent ?? noText,
      change_count: Int64(found.changes.count))
  }
}

@_cdecl("quire_history_transaction_token") @implementation
public func quire_history_transaction_token(
  _ history: UnsafePointer<quire_history>?, _ index: Int64, _ out_token: UnsafeMutablePointer<UInt8>?,
  _ out_error: ErrorOut
) -> quire_status {
  givingToken(out_token, out_error) { () throws(Failure) in
    let history = try resolve(history, "history")
    return HistoryToken(try history.transaction(index).place, ofStore: history.list.uuid)
  }
}

@_cdecl("quire_history_change") @implementation
public func quire_history_change(
  _ history: UnsafePointer<quire_history>?, _ transaction: Int64, _ index: Int64,
  _ out_info: UnsafeMutablePointer<quire_history_change_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    let found = try resolve(history, "history").change(transaction, index)
    return quire_history_change_info(
      struct_size: 0, kind: UInt32(found.kind.rawValue), id: found.id, entity: found.entity?.nameText.lent ?? noText,
      key_count: found.changedProperties.map { Int64($0.count) } ?? (found.kind == .update ? -1 : 0),
      tombstone_count: Int64(found.tombstones.count))
  }
}

@_cdecl("quire_history_changed_key") @implementation
public func quire_history_changed_key(
  _ history: UnsafePointer<quire_history>?, _ transaction: Int64, _ change: Int64, _ index: Int64
) -> quire_string {
  guard let found = try? peek(history)?.change(transaction, change),
    let property = try? element(index, of: found.changedProperties ?? [], "index")
  else { return noText }
  return property.nameText.lent
}

@_cdecl("quire_history_tombstone") @implementation
public func quire_history_tombstone(
  _ history: UnsafePointer<quire_history>?, _ transaction: Int64, _ change: Int64, _ index: Int64,
  _ out_key: UnsafeMutablePointer<quire_string>?, _ out_value: UnsafeMutablePointer<quire_value>?,
  _ out_error: ErrorOut
) -> quire_status {
  out_key?.pointee = noText
  out_value?.pointee = quire_value()
  return unconfined(history, "history", out_error) { history throws(Failure) in
    let key = try required(out_key, "out_key"), value = try required(out_value, "out_value")
    let found = try element(index, of: history.change(transaction, change).tombstones, "index")
    value.pointee = try exported(found.value, lend: history.kept)
    key.pointee = found.attribute.nameText.lent
  }
}

@_cdecl("quire_history_purge") @implementation
public func quire_history_purge(
  _ store: UnsafeMutablePointer<quire_store>?, _ token: UnsafePointer<UInt8>?, _ token_size: Int,
  _ out_count: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  purging(store, out_count, out_error) { store throws(Failure) in
    try store.purgeHistory(before: historyToken(token, token_size))
  }
}

@_cdecl("quire_history_purge_before_date") @implementation
public func quire_history_purge_before_date(
  _ store: UnsafeMutablePointer<quire_store>?, _ seconds_since_1970: Double, _ out_count: UnsafeMutablePointer<Int64>?,
  _ out_error: ErrorOut
) -> quire_status {
  purging(store, out_count, out_error) { store throws(Failure) in
    try store.purgeHistory(before: date(seconds_since_1970, "seconds_since_1970"))
  }
}

private func purging(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_count: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut,
  _ body: (Store) throws(Failure) -> Int
) -> quire_status {
  out_count?.pointee = 0
  return unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    let count = try body(store)
    out_count?.pointee = Int64(count)
  }
}

/// Writes a token to the bytes of the caller, which are zero when the call fails.
private func givingToken(
  _ out_token: UnsafeMutablePointer<UInt8>?, _ out_error: ErrorOut, _ body: () throws(Failure) -> HistoryToken
) -> quire_status {
  out_token?.update(repeating: 0, count: HistoryToken.size)
  return status(out_error) { () throws(Failure) in
    let out = try required(out_token, "out_token")
    out.update(from: try body().bytes, count: HistoryToken.size)
  }
}

private func historyToken(_ token: UnsafePointer<UInt8>?, _ size: Int) throws(Failure) -> HistoryToken {
  guard let token else { throw Failure(.invalidArgument, "'token' is NULL; the bytes of a history token are needed.") }
  // Others cannot be read in full: their size may be anything.
  if size != HistoryToken.size {
    throw Failure(
      .invalidArgument, "'token' has \(size) bytes, and a history token has \(HistoryToken.size): it is damaged.")
  }
  return try HistoryToken(Array(UnsafeBufferPointer(start: token, count: size)))
}

/// Seconds since 1970 as those of the file.
private func date(_ seconds: Double, _ name: InputName) throws(Failure) -> Double {
  if seconds.isNaN { throw Failure(.invalidArgument, "'\(name)' is NaN; a date in seconds since 1970 is needed.") }
  return Epoch.since2001(seconds)
}
