import CSQLite

/// The SQL functions that run programs, and the one that gathers values for them.
enum ProgramFunctions {
  /// What SQLite knows the pointers by.
  static let pointerType: StaticString = "quire_program"
  static let partType: StaticString = "quire_part"

  static func register(on connection: OpaquePointer, report: @escaping (Failure) -> Void) throws(Failure) {
    for function in [SQLFunction.test, .compute, .part, .testAnew, .computeAnew, .partAnew] {
      let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (function.isPure ? SQLITE_DETERMINISTIC : 0)
      let state = Unmanaged.passRetained(Report(report))
      let code = sqlite3_create_function_v2(
        connection, function.name, -1, flags, state.toOpaque(),
        { context, count, arguments in ProgramFunctions.run(context, count, arguments) }, nil, nil,
        { Unmanaged<Report>.fromOpaque($0!).release() })
      try Connection.check(code, adding: function.name)
    }
    try AggregateFunctions.register(on: connection)
    let code = sqlite3_create_function_v2(
      connection, SQLFunction.pack.name, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nil, nil,
      { context, _, arguments in ProgramFunctions.step(context, arguments) },
      { context in ProgramFunctions.finish(context) }, nil)
    try Connection.check(code, adding: SQLFunction.pack.name)
  }

  private final class Report {
    let report: (Failure) -> Void
    init(_ report: @escaping (Failure) -> Void) { self.report = report }
  }

  private static func run(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let context, let arguments, count > 0 else { return }
    func pointer(_ type: StaticString) -> UnsafeMutableRawPointer? {
      sqlite3_value_pointer(arguments[0], UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self))
    }
    let values = UnsafeBufferPointer(start: arguments + 1, count: Int(count) - 1)
    do throws(Failure) {
      if let program = pointer(pointerType) {
        try Unmanaged<SQLProgram>.fromOpaque(program).takeUnretainedValue().run(values, context)
      } else if let part = pointer(partType) {
        try Unmanaged<SQLPartInUse>.fromOpaque(part).takeUnretainedValue().run(values, context)
      } else {
        sqlite3_result_null(context)
      }
    } catch {
      if let state = sqlite3_user_data(context) {
        Unmanaged<Report>.fromOpaque(state).takeUnretainedValue().report(error)
      }
      sqlite3_result_error(context, error.message.string, -1)
    }
  }

  // MARK: Gathering

  private final class Gathered {
    var bytes: [UInt8] = []
  }

  private static func step(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let context, let arguments, let slot = slot(context, mayAllocate: true) else { return }
    if slot.pointee == nil { slot.pointee = Unmanaged.passRetained(Gathered()).toOpaque() }
    guard let kept = slot.pointee else { return }
    ItemCoding.append(arguments[0], to: &Unmanaged<Gathered>.fromOpaque(kept).takeUnretainedValue().bytes)
  }

  private static func finish(_ context: OpaquePointer?) {
    guard let context else { return }
    guard let slot = slot(context, mayAllocate: false), let kept = slot.pointee else {
      return SQLValue.give(context, data: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    slot.pointee = nil
    let gathered = Unmanaged<Gathered>.fromOpaque(kept).takeRetainedValue()
    gathered.bytes.withUnsafeBytes { SQLValue.give(context, data: $0) }
  }

  private static func slot(
    _ context: OpaquePointer, mayAllocate: Bool
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
    let size = mayAllocate ? Int32(MemoryLayout<UnsafeMutableRawPointer?>.size) : 0
    return sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }
}
