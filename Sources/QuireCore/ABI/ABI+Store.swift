import CQuire

/// What a busy_timeout of zero means, in milliseconds.
let defaultBusyTimeout: Int32 = 5000

@_cdecl("quire_store_open") @implementation
public func quire_store_open(
  _ path: CText, _ path_size: Int, _ model: UnsafeMutablePointer<quire_model>?,
  _ options: UnsafePointer<quire_store_options>?, _ out_store: Out<quire_store>, _ out_error: ErrorOut
) -> quire_status {
  out_store?.pointee = nil
  return status(out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    let out = try required(out_store, "out_store")
    try withStoreOptions(options) { options throws(Failure) in
      let path = try text(path, path_size, "path")
      let model = try model == nil ? nil : resolve(model, "model")
      let store = try Store.open(path: path, model: model, options: options)
      store.beginUse()
      out.pointee = .passing(store)
    }
  }
}

/// Runs `body` with the options of the caller's struct, whose log passes to what it makes.
func withStoreOptions(
  _ given: UnsafePointer<quire_store_options>?, _ body: (Store.Options) throws(Failure) -> Void
) throws(Failure) {
  let given = try options(given, defaults: quire_store_options(), "options")
  try LogCallback.handOver(logCallback(given.log)) { (log) throws(Failure) in
    try body(
      Store.Options(
        isReadOnly: given.is_read_only, mustExist: given.must_exist, synchronousNormal: given.relaxed_durability,
        busyTimeoutMilliseconds: given.busy_timeout == 0 ? defaultBusyTimeout : Int32(clamping: given.busy_timeout),
        log: log, tracksHistory: given.tracks_history,
        changeJournal: try changeJournal(given.change_journal),
        logLimit: given.wal_limit == 0 ? nil : Int(clamping: given.wal_limit), migrates: given.migrates,
        type: try storeType(given.type)))
  }
}

/// nil for the default.
private func changeJournal(_ journal: UInt32) throws(Failure) -> ChangeJournal.Setting? {
  switch journal {
  case QUIRE_CHANGE_JOURNAL_DEFAULT.rawValue: return nil
  case QUIRE_CHANGE_JOURNAL_NONE.rawValue: return ChangeJournal.Setting.none
  case QUIRE_CHANGE_JOURNAL_SAVES.rawValue: return .saves
  case QUIRE_CHANGE_JOURNAL_ALL.rawValue: return .all
  default:
    throw Failure(.invalidArgument, "\(journal) is no change journal. Give a constant of quire_change_journal.")
  }
}

/// nil for any type.
private func storeType(_ type: UInt32) throws(Failure) -> StoreType? {
  if type == QUIRE_STORE_ANY.rawValue { return nil }
  if let known = StoreType(rawValue: type) { return known }
  throw Failure(.invalidArgument, "\(type) is no type of a store. Give a constant of quire_store_type.")
}

@_cdecl("quire_store_retain") @implementation
public func quire_store_retain(_ store: UnsafePointer<quire_store>?) -> UnsafeMutablePointer<quire_store>? {
  peek(store)?.beginUse()
  return retain(store)
}

@_cdecl("quire_store_release") @implementation
public func quire_store_release(_ store: UnsafeMutablePointer<quire_store>?) {
  peek(store)?.endUse()
  release(store)
}

@_cdecl("quire_store_close") @implementation
public func quire_store_close(_ store: UnsafeMutablePointer<quire_store>?, _ out_error: ErrorOut) -> quire_status {
  unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    try store.close()
  }
}

@_cdecl("quire_store_copy") @implementation
public func quire_store_copy(
  _ store: UnsafeMutablePointer<quire_store>?, _ path: CText, _ path_size: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    try store.copy(to: text(path, path_size, "path"))
  }
}

@_cdecl("quire_store_convert") @implementation
public func quire_store_convert(
  _ path: CText, _ path_size: Int, _ model: UnsafeMutablePointer<quire_model>?, _ target: CText, _ target_size: Int,
  _ type: UInt32, _ out_error: ErrorOut
) -> quire_status {
  status(out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    let path = try text(path, path_size, "path"), target = try text(target, target_size, "target")
    let model = try model == nil ? nil : resolve(model, "model")
    try Store.convert(path: path, model: model, to: target, type: storeType(type), form: ModelFile.self)
  }
}

@_cdecl("quire_store_delete") @implementation
public func quire_store_delete(_ path: CText, _ path_size: Int, _ out_error: ErrorOut) -> quire_status {
  status(out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    try Store.delete(path: text(path, path_size, "path"))
  }
}

@_cdecl("quire_store_check") @implementation
public func quire_store_check(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_mended: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_mended?.pointee = 0
  return unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    let mended = try store.check()
    out_mended?.pointee = Int64(mended)
  }
}

@_cdecl("quire_store_checkpoint") @implementation
public func quire_store_checkpoint(_ store: UnsafeMutablePointer<quire_store>?, _ out_error: ErrorOut) -> quire_status {
  unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    try store.checkpoint()
  }
}

@_cdecl("quire_store_compact") @implementation
public func quire_store_compact(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_freed_size: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_freed_size?.pointee = 0
  return unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    let size = try store.compact()
    out_freed_size?.pointee = Int64(size)
  }
}

@_cdecl("quire_store_wal_info") @implementation
public func quire_store_wal_info(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_info: UnsafeMutablePointer<quire_wal_info>?,
  _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    let store = try resolve(store, "store")
    try ForeignCall.refuse()
    let state = try store.logState()
    return quire_wal_info(
      struct_size: 0, reserved: 0, size: Int64(state.size), unfolded_size: Int64(state.unfoldedSize),
      limit: Int64(state.limit), older_count: Int64(state.olderCount), pinned_count: Int64(state.pinnedCount),
      lag: Int64(state.lag), lost_count: Int64(state.lostCount))
  }
}

extension quire_wal_info: FilledStruct {
  static var leastSize: Int { 56 }
  static var initializer: String { "QUIRE_WAL_INFO_INIT" }
}

@_cdecl("quire_store_is_open") @implementation
public func quire_store_is_open(_ store: UnsafePointer<quire_store>?) -> Bool {
  peek(store).map { !$0.isClosed } ?? false
}

@_cdecl("quire_store_change_journal") @implementation
public func quire_store_change_journal(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_journal: UnsafeMutablePointer<UInt32>?, _ out_error: ErrorOut
) -> quire_status {
  out_journal?.pointee = QUIRE_CHANGE_JOURNAL_DEFAULT.rawValue
  return unconfined(store, "store", out_error) { store throws(Failure) in
    let out = try required(out_journal, "out_journal")
    try ForeignCall.refuse()
    out.pointee =
      switch try store.changeJournal() {
      case .none: QUIRE_CHANGE_JOURNAL_NONE.rawValue
      case .saves: QUIRE_CHANGE_JOURNAL_SAVES.rawValue
      case .all: QUIRE_CHANGE_JOURNAL_ALL.rawValue
      }
  }
}

@_cdecl("quire_store_path") @implementation
public func quire_store_path(_ store: UnsafePointer<quire_store>?) -> quire_string { peek(store)?.path.lent ?? noText }

@_cdecl("quire_store_uuid") @implementation
public func quire_store_uuid(_ store: UnsafePointer<quire_store>?) -> quire_string { peek(store)?.uuid.lent ?? noText }

@_cdecl("quire_store_model") @implementation
public func quire_store_model(_ store: UnsafePointer<quire_store>?) -> UnsafeMutablePointer<quire_model>? {
  peek(store).map { .lending($0.model) }
}
