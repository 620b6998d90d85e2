extension Connection {
  /// A connection on which SQL may call the functions that the library makes SQL for, and those of Core Data's
  /// triggers.
  static func opened(
    path: Text, access: Access, busyTimeoutMilliseconds: Int32, memory: MemoryFiles? = nil
  ) throws(Failure) -> Connection {
    let connection = try Connection(
      path: path, access: access, busyTimeoutMilliseconds: busyTimeoutMilliseconds, memory: memory)
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
    let other = try Connection.opened(
      path: location, access: access, busyTimeoutMilliseconds: busyTimeoutMilliseconds, memory: memory)
    if case .readOnlyUnlocked = access { try other.execute("PRAGMA locking_mode = EXCLUSIVE") }
    other.isOpening = false
    other.stopGuardingFile()
    return other
  }

  /// The same, which shares the log with this one.
  func anotherBesideLog() throws(Failure) -> Connection {
    // What is at a path now is another file, if any.
    if let absence = files?.absent { throw failure(absence) }
    let other = try another()
    // It never closes the file as the last one.
    other.setCheckpointsOnClose(false)
    other.foldNothing()
    return other
  }

  /// The same for what reads alone.
  func anotherForReading(external: ExternalStorage, searchesText: Bool) throws(Failure) -> Connection {
    let other = try anotherBesideLog()
    other.isUTF8 = isUTF8
    other.external = external
    if external.isUsed { try ExternalFunction.register(on: other) }
    try other.execute("PRAGMA temp_store = MEMORY")
    try other.execute("PRAGMA query_only = ON")
    if memory != nil {
      try other.execute("PRAGMA cache_size = \(MemoryFiles.pagesToRead)")
    } else if searchesText {
      // The rows that a text index finds lie all over the table. A pattern that is in a hundredth of a million rows
      // takes some 40 MB of pages. With 2 MB of memory they would be read from the file each time.
      try other.execute("PRAGMA cache_size = -65536")
    }
    return other
  }
}
