import CSQLite

/// The SQL functions that compiled predicates call. They have no side effects, and NULL in is never NULL out of
/// `quire_text`, which makes its answer two-valued.
enum PredicateFunctions {
  /// quire_text(operation, folding, text, pattern): 1 or 0, the numbers of `TextMatcher.Operation` and `TextFolding`.
  static let text = "quire_text"
  /// quire_fold(folding, text).
  private static let fold = "quire_fold"
  /// quire_single(number): the nearest 32-bit value.
  private static let round = "quire_single"

  /// quire_order(kind, text, locale): bytes in the order of texts, the numbers of `TextOrder.Kind`.
  private static let order = "quire_order"

  /// One parameter, the locale.
  static func ordered(_ sql: String, _ kind: TextOrder.Kind) -> String { "\(order)(\(kind.rawValue), \(sql), ?)" }
  static func single(_ sql: String) -> String { "\(round)(\(sql))" }
  static func folded(_ sql: String, _ folding: TextFolding) -> String { "\(fold)(\(folding.rawValue), \(sql))" }

  /// Adds the functions to a connection. `report` gets what a function threw, just before SQLite fails the statement.
  static func register(on connection: OpaquePointer, report: @escaping (Failure) -> Void) throws(Failure) {
    try register(text, 4, on: connection, report) { context, arguments in
      evaluateText(context, arguments)
    }
    try register(fold, 2, on: connection, report) { context, arguments in evaluateFold(context, arguments) }
    try register(round, 1, on: connection, report) { context, arguments in
      switch sqlite3_value_type(arguments[0]) {
      case SQLITE_INTEGER: sqlite3_result_double(context, Double(Float(sqlite3_value_int64(arguments[0]))))
      case SQLITE_FLOAT: sqlite3_result_double(context, Double(Float(sqlite3_value_double(arguments[0]))))
      default: sqlite3_result_null(context)
      }
    }
    try register(order, 3, on: connection, report) { context, arguments in evaluateOrder(context, arguments) }
    try register(PackedList.element, 2, on: connection, report) { context, arguments in
      let packed = bytes(arguments[0], sqlite3_value_blob(arguments[0]))
      let index = Int(sqlite3_value_int64(arguments[1]))
      switch PackedList.read(UnsafeRawBufferPointer(packed), at: index) {
      case .null: sqlite3_result_null(context)
      case .integer(let integer): sqlite3_result_int64(context, integer)
      case .real(let double): sqlite3_result_double(context, double)
      case .text(let text): result(context, text: text)
      case .data(let data): quire_sqlite_result_blob_copy(context, address(data), UInt64(data.count))
      }
    }
  }

  private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>
  private typealias Body = (OpaquePointer, Arguments) -> Void

  /// What a function of one connection keeps between calls.
  private final class State {
    let report: (Failure) -> Void
    let body: Body
    let folder = TextFolder()
    /// The matcher of the last pattern, for patterns that come from a column.
    var matcher: TextMatcher?
    /// Those last used, as a statement uses the same for every row.
    var orderKeys: [TextOrder: TextOrderKeys] = [:]

    init(_ report: @escaping (Failure) -> Void, _ body: @escaping Body) {
      self.report = report
      self.body = body
    }
  }

  private static func register(
    _ name: String, _ count: Int32, on connection: OpaquePointer, _ report: @escaping (Failure) -> Void,
    _ body: @escaping Body
  ) throws(Failure) {
    let state = Unmanaged.passRetained(State(report, body))
    // SQLite releases the state itself, even when this fails.
    let code = sqlite3_create_function_v2(
      connection, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, state.toOpaque(),
      { context, _, arguments in
        guard let context, let arguments else { return }
        PredicateFunctions.state(context)?.body(context, arguments)
      }, nil, nil, { Unmanaged<State>.fromOpaque($0!).release() })
    guard code == SQLITE_OK else {
      throw Failure(
        .database, "The SQL function \(name) could not be added to the connection (code \(code)).", databaseCode: code)
    }
  }

  private static func state(_ context: OpaquePointer) -> State? {
    sqlite3_user_data(context).map { Unmanaged<State>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: Text

  private static func evaluateText(_ context: OpaquePointer, _ arguments: Arguments) {
    guard let state = state(context), sqlite3_value_type(arguments[2]) == SQLITE_TEXT,
      sqlite3_value_type(arguments[3]) == SQLITE_TEXT
    else { return sqlite3_result_int(context, 0) }
    do throws(Failure) {
      let matcher = try matcher(context, arguments, state)
      let text = bytes(arguments[2], sqlite3_value_text(arguments[2]))
      sqlite3_result_int(context, try matcher.matches(text) ? 1 : 0)
    } catch {
      state.report(error)
      sqlite3_result_error(context, error.message.string, -1)
    }
  }

  /// SQLite keeps the matcher with the statement while the pattern is constant.
  private static func matcher(
    _ context: OpaquePointer, _ arguments: Arguments, _ state: State
  ) throws(Failure) -> TextMatcher {
    if let kept = sqlite3_get_auxdata(context, 3) {
      return Unmanaged<TextMatcher>.fromOpaque(kept).takeUnretainedValue()
    }
    let number = UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[0]))
    let folding = TextFolding(rawValue: UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[1])) & 3)
    guard let operation = TextMatcher.Operation(rawValue: number) else {
      throw Failure(.invalidArgument, "\(text) knows no operation \(number).")
    }
    let pattern = Text(trusted: Bytes(bytes(arguments[3], sqlite3_value_text(arguments[3]))))
    if let last = state.matcher, last.operation == operation, last.folding == folding, last.pattern == pattern {
      return last
    }
    let matcher = try TextMatcher(operation, folding, pattern: pattern)
    state.matcher = matcher
    sqlite3_set_auxdata(
      context, 3, Unmanaged.passRetained(matcher).toOpaque(), { Unmanaged<TextMatcher>.fromOpaque($0!).release() })
    return matcher
  }

  private static func evaluateFold(_ context: OpaquePointer, _ arguments: Arguments) {
    guard let state = state(context), sqlite3_value_type(arguments[1]) == SQLITE_TEXT else {
      return sqlite3_result_null(context)
    }
    let folding = TextFolding(rawValue: UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[0])) & 3)
    state.folder.withFolded(bytes(arguments[1], sqlite3_value_text(arguments[1])), folding) {
      result(context, text: UnsafeRawBufferPointer($0))
    }
  }

  private static func evaluateOrder(_ context: OpaquePointer, _ arguments: Arguments) {
    guard let state = state(context), sqlite3_value_type(arguments[1]) == SQLITE_TEXT else {
      return sqlite3_result_null(context)
    }
    do throws(Failure) {
      let kind = TextOrder.Kind(rawValue: UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[0]))) ?? .binary
      let locale = Text(trusted: Bytes(bytes(arguments[2], sqlite3_value_text(arguments[2])))).string
      let order = try TextOrder(kind, locale: locale)
      let keys: TextOrderKeys
      if let known = state.orderKeys[order] {
        keys = known
      } else {
        keys = try TextOrderKeys(order)
        if state.orderKeys.count >= 16 { state.orderKeys = [:] }
        state.orderKeys[order] = keys
      }
      keys.withKey(of: bytes(arguments[1], sqlite3_value_text(arguments[1]))) { key in
        let raw = UnsafeRawBufferPointer(key)
        quire_sqlite_result_blob_copy(context, address(raw), UInt64(raw.count))
      }
    } catch {
      state.report(error)
      sqlite3_result_error(context, error.message.string, -1)
    }
  }

  // MARK: Bytes

  /// The size is asked for after the address, as SQLite wants it.
  private static func bytes(_ value: OpaquePointer?, _ start: UnsafeRawPointer?) -> UnsafeBufferPointer<UInt8> {
    let count = Int(sqlite3_value_bytes(value))
    return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
  }

  private static func result(_ context: OpaquePointer, text: UnsafeRawBufferPointer) {
    quire_sqlite_result_text_copy(
      context, address(text).assumingMemoryBound(to: CChar.self), UInt64(text.count))
  }

  /// An address even for no bytes: SQLite takes a null pointer for NULL.
  private static func address(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
    bytes.baseAddress ?? UnsafeRawPointer(placeholder.start)
  }

  private static let placeholder = Bytes(count: 0) { _ in }
}
