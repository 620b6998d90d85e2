extension Connection {
  /// A connection on which SQL may call the functions that the library makes SQL for, and those of Core Data's
  /// triggers.
  static func opened(
    path: Text, access: Access, busyTimeoutMilliseconds: Int32
  ) throws(Failure) -> Connection {
    let connection = try Connection(path: path, access: access, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    connection.registerTriggerFunctions()
    if let handle = connection.handle {
      try PredicateFunctions.register(on: handle) { [weak connection] failure in connection?.pendingFailure = failure }
      try TextIndexFunction.register(on: connection)
      try PassingFunction.register(on: handle, for: connection)
    }
    return connection
  }

  /// Another connection to the same file, which reaches it in the same way.
  func another() throws(Failure) -> Connection {
    let other = try Connection.opened(path: location, access: access, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    if case .readOnlyUnlocked = access { try other.execute("PRAGMA locking_mode = EXCLUSIVE") }
    other.isOpening = false
    other.stopGuardingFile()
    return other
  }
}
