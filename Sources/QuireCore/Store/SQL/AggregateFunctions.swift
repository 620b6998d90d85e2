import CSQLite

/// Sums and averages as memory calculates them: integers as long as they suffice, no other rounding on the way.
enum AggregateFunctions {
  static func register(on connection: OpaquePointer) throws(Failure) {
    for (function, finish) in [(SQLFunction.sum, giveSum), (.average, giveAverage)] {
      let code = sqlite3_create_function_v2(
        connection, function.name, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nil, nil,
        { context, _, arguments in AggregateFunctions.step(context, arguments) }, finish, nil)
      try Connection.check(code, adding: function.name)
    }
    try registerDecimals(on: connection)
  }

  /// SQLite gives it as zeros, which is nothing.
  private struct State {
    var count: Int64
    var isReal: Bool
    var integer: Int64
    /// The sum of all as doubles, for the average, and the sum once it is real.
    var total: Double
    var real: Double
  }

  private static let giveSum: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let context, let state = AggregateFunctions.state(context, mayAllocate: false), state.pointee.count > 0 else {
      return sqlite3_result_int(context, 0)
    }
    if state.pointee.isReal {
      give(state.pointee.real, to: context)
    } else {
      sqlite3_result_int64(context, state.pointee.integer)
    }
  }

  /// As `SQLLeaf.Kind.number`.
  private static func give(_ double: Double, to context: OpaquePointer) {
    if double.isNaN { sqlite3_result_zeroblob(context, 0) } else { sqlite3_result_double(context, double) }
  }

  private static let giveAverage: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let context, let state = AggregateFunctions.state(context, mayAllocate: false), state.pointee.count > 0 else {
      return sqlite3_result_null(context)
    }
    give(state.pointee.total / Double(state.pointee.count), to: context)
  }

  private static func step(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let context, let arguments, let state = state(context, mayAllocate: true) else { return }
    let number: Number
    switch sqlite3_value_type(arguments[0]) {
    case SQLITE_INTEGER: number = .integer(sqlite3_value_int64(arguments[0]))
    case SQLITE_FLOAT: number = .real(sqlite3_value_double(arguments[0]))
    default: return
    }
    state.pointee.count += 1
    state.pointee.total += number.double
    let before: Number = state.pointee.isReal ? .real(state.pointee.real) : .integer(state.pointee.integer)
    switch Arithmetic.sum(before, number) {
    case .integer(let integer): state.pointee.integer = integer
    case let other:
      state.pointee.isReal = true
      state.pointee.real = other.double
    }
  }

  // MARK: Decimals

  private final class Decimals {
    var sum = ExactSum.decimal
    var count = 0
  }

  private static func registerDecimals(on connection: OpaquePointer) throws(Failure) {
    let functions: [(SQLFunction, @convention(c) (OpaquePointer?) -> Void)] = [
      (.decimalSum, giveDecimalSum), (.decimalTotal, giveDecimalTotal), (.decimalAverage, giveDecimalAverage),
    ]
    for (function, finish) in functions {
      let code = sqlite3_create_function_v2(
        connection, function.name, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nil, nil,
        { context, _, arguments in AggregateFunctions.stepDecimal(context, arguments) }, finish, nil)
      try Connection.check(code, adding: function.name)
    }
  }

  private static func stepDecimal(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let context, let arguments else { return }
    let size = Int32(MemoryLayout<Unmanaged<Decimals>?>.size)
    guard let kept = sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: Unmanaged<Decimals>?.self) else {
      return
    }
    let decimals: Decimals
    if let known = kept.pointee {
      decimals = known.takeUnretainedValue()
    } else {
      decimals = Decimals()
      kept.pointee = Unmanaged.passRetained(decimals)
    }
    do throws(Failure) {
      guard case .value(.decimal(let decimal)) = try Item(arguments[0], as: .value(.decimal)) else { return }
      decimals.sum.add(decimal)
      decimals.count += 1
    } catch {
      sqlite3_result_error(context, error.message.string, -1)
    }
  }

  private static let giveDecimalSum: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let context else { return }
    let decimals = AggregateFunctions.takeDecimals(context)
    let sum: Value = decimals.map { $0.count == 0 ? .integer(0) : $0.sum.decimal } ?? .integer(0)
    do throws(Failure) {
      let bytes = try ItemCoding.encode(.value(sum))
      quire_sqlite_result_blob_copy(context, bytes, UInt64(bytes.count))
    } catch {
      sqlite3_result_error(context, error.message.string, -1)
    }
  }

  private static let giveDecimalTotal: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let context else { return }
    sqlite3_result_double(context, AggregateFunctions.takeDecimals(context)?.sum.decimal.number?.double ?? 0)
  }

  private static let giveDecimalAverage: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let context else { return }
    guard let decimals = AggregateFunctions.takeDecimals(context), decimals.count > 0 else {
      return sqlite3_result_null(context)
    }
    give((decimals.sum.decimal.number?.double ?? 0) / Double(decimals.count), to: context)
  }

  /// SQLite finishes what it has begun, also after a failure.
  private static func takeDecimals(_ context: OpaquePointer) -> Decimals? {
    guard let kept = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: Unmanaged<Decimals>?.self) else {
      return nil
    }
    defer { kept.pointee = nil }
    return kept.pointee?.takeRetainedValue()
  }

  private static func state(_ context: OpaquePointer, mayAllocate: Bool) -> UnsafeMutablePointer<State>? {
    sqlite3_aggregate_context(context, mayAllocate ? Int32(MemoryLayout<State>.size) : 0)?
      .assumingMemoryBound(to: State.self)
  }
}
