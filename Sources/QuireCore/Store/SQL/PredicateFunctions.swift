import CSQLite

/// The SQL functions that compiled predicates call. They have no side effects, and NULL in is never NULL out of
/// `quire_text`, which makes its answer two-valued.
enum PredicateFunctions {
  /// What SQLite knows the pointer of a matcher by.
  static let matcherType: StaticString = "quire_matcher"

  /// Adds the functions to a connection. `report` gets what a function threw, just before SQLite fails the statement.
  static func register(on connection: OpaquePointer, report: @escaping (Failure) -> Void) throws(Failure) {
    try register(.text, 4, on: connection, report, calling: textFunction) { context, arguments in
      evaluateText(context, arguments)
    }
    try register(.fold, 2, on: connection, report) { context, arguments in evaluateFold(context, arguments) }
    try register(.single, 1, on: connection, report) { context, arguments in
      switch sqlite3_value_type(arguments[0]) {
      case SQLITE_INTEGER: sqlite3_result_double(context, Double(Float(sqlite3_value_int64(arguments[0]))))
      case SQLITE_FLOAT: sqlite3_result_double(context, Double(Float(sqlite3_value_double(arguments[0]))))
      default: sqlite3_result_null(context)
      }
    }
    try ProgramFunctions.register(on: connection, report: report)
    try register(.order, 3, on: connection, report) { context, arguments in evaluateOrder(context, arguments) }
    try register(.element, 2, on: connection, report) { context, arguments in
      let packed = SQLValue.bytes(arguments[0], sqlite3_value_blob(arguments[0]))
      let index = Int(sqlite3_value_int64(arguments[1]))
      switch PackedList.read(UnsafeRawBufferPointer(packed), at: index) {
      case .null: sqlite3_result_null(context)
      case .integer(let integer): sqlite3_result_int64(context, integer)
      case .real(let double): sqlite3_result_double(context, double)
      case .text(let text): SQLValue.give(context, text: text)
      case .data(let data): SQLValue.give(context, data: data)
      }
    }
  }

  private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>
  private typealias Body = (OpaquePointer, Arguments) -> Void
  private typealias Function = @convention(c) (OpaquePointer?, Int32, Arguments?) -> Void

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
    _ function: SQLFunction, _ count: Int32, on connection: OpaquePointer, _ report: @escaping (Failure) -> Void,
    calling entry: @escaping Function = { context, _, arguments in
      guard let context, let arguments else { return }
      PredicateFunctions.state(context)?.body(context, arguments)
    }, _ body: @escaping Body
  ) throws(Failure) {
    let state = Unmanaged.passRetained(State(report, body))
    // SQLite releases the state itself, even when this fails.
    let code = sqlite3_create_function_v2(
      connection, function.name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, state.toOpaque(),
      entry, nil, nil, { Unmanaged<State>.fromOpaque($0!).release() })
    try Connection.check(code, adding: function.name)
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
      answer(context, arguments, try matcher(context, arguments, state))
    } catch {
      report(error, context)
    }
  }

  /// Called for each row, mostly with a matcher. What SQLite keeps beside a statement it looks for one by one, so
  /// that a thousand patterns would cost a million looks.
  private static let textFunction: Function = { context, _, arguments in
    guard let context, let arguments else { return }
    let type = UnsafeRawPointer(PredicateFunctions.matcherType.utf8Start).assumingMemoryBound(to: CChar.self)
    guard let kept = sqlite3_value_pointer(arguments[3], type) ?? sqlite3_get_auxdata(context, 3) else {
      PredicateFunctions.state(context)?.body(context, arguments)
      return
    }
    Unmanaged<TextMatcher>.fromOpaque(kept)._withUnsafeGuaranteedRef { matcher in
      PredicateFunctions.answer(context, arguments, matcher)
    }
  }

  @inline(__always)
  private static func answer(_ context: OpaquePointer, _ arguments: Arguments, _ matcher: TextMatcher) {
    guard sqlite3_value_type(arguments[2]) == SQLITE_TEXT else { return sqlite3_result_int(context, 0) }
    do throws(Failure) {
      let text = SQLValue.bytes(arguments[2], sqlite3_value_text(arguments[2]))
      sqlite3_result_int(context, try matcher.matches(text) ? 1 : 0)
    } catch {
      report(error, context)
    }
  }

  private static func report(_ failure: Failure, _ context: OpaquePointer) {
    state(context)?.report(failure)
    sqlite3_result_error(context, failure.message.string, -1)
  }

  /// SQLite keeps the matcher with the statement while the pattern is constant: then `kept` has it.
  private static func matcher(
    _ context: OpaquePointer, _ arguments: Arguments, _ state: State
  ) throws(Failure) -> TextMatcher {
    let number = UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[0]))
    let folding = TextFolding(rawValue: UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[1])) & 7)
    guard let operation = TextMatcher.Operation(rawValue: number) else {
      throw Failure(.invalidArgument, "\(SQLFunction.text.name) knows no operation \(number).")
    }
    let pattern = SQLValue.text(arguments[3])
    let matcher: TextMatcher
    if let last = state.matcher, last.operation == operation, last.folding == folding, last.pattern == pattern {
      matcher = last
    } else {
      matcher = try TextMatcher(operation, folding, pattern: pattern)
      state.matcher = matcher
    }
    sqlite3_set_auxdata(
      context, 3, Unmanaged.passRetained(matcher).toOpaque(), { Unmanaged<TextMatcher>.fromOpaque($0!).release() })
    return matcher
  }

  private static func evaluateFold(_ context: OpaquePointer, _ arguments: Arguments) {
    guard let state = state(context), sqlite3_value_type(arguments[1]) == SQLITE_TEXT else {
      return sqlite3_result_null(context)
    }
    let folding = TextFolding(rawValue: UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[0])) & 3)
    state.folder.withFolded(SQLValue.bytes(arguments[1], sqlite3_value_text(arguments[1])), folding) {
      SQLValue.give(context, text: UnsafeRawBufferPointer($0))
    }
  }

  private static func evaluateOrder(_ context: OpaquePointer, _ arguments: Arguments) {
    guard let state = state(context), sqlite3_value_type(arguments[1]) == SQLITE_TEXT else {
      return sqlite3_result_null(context)
    }
    do throws(Failure) {
      try orderKeys(context, arguments, state).withKey(
        of: SQLValue.bytes(arguments[1], sqlite3_value_text(arguments[1]))
      ) { key in
        SQLValue.give(context, data: UnsafeRawBufferPointer(key))
      }
    } catch {
      state.report(error)
      sqlite3_result_error(context, error.message.string, -1)
    }
  }

  /// SQLite keeps them with the statement, because kind and locale are constant. Looking for the locale takes far
  /// longer than making a key.
  private static func orderKeys(
    _ context: OpaquePointer, _ arguments: Arguments, _ state: State
  ) throws(Failure) -> TextOrderKeys {
    if let kept = sqlite3_get_auxdata(context, 2) {
      return Unmanaged<TextOrderKeys>.fromOpaque(kept).takeUnretainedValue()
    }
    let kind = TextOrder.Kind(rawValue: UInt32(truncatingIfNeeded: sqlite3_value_int64(arguments[0]))) ?? .binary
    let order = try TextOrder(kind, locale: SQLValue.text(arguments[2]).string)
    let keys: TextOrderKeys
    if let known = state.orderKeys[order] {
      keys = known
    } else {
      keys = try TextOrderKeys(order)
      if state.orderKeys.count >= 16 { state.orderKeys = [:] }
      state.orderKeys[order] = keys
    }
    sqlite3_set_auxdata(
      context, 2, Unmanaged.passRetained(keys).toOpaque(), { Unmanaged<TextOrderKeys>.fromOpaque($0!).release() })
    return keys
  }
}
