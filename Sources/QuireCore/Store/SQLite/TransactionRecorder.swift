/// Records in each transaction of a connection what it has changed. Used by the thread that writes.
protocol TransactionRecorder: AnyObject, Sendable {
  /// What writes rows begins, in a transaction.
  func begin(on connection: Connection) throws(Failure)

  /// It ends, and has changed no row of the model.
  func finishWithoutRows(on connection: Connection) throws(Failure)

  /// The transaction was committed.
  func committed()

  /// The transaction was taken back, or with `isPart` what was written since `begin`.
  func rolledBack(isPart: Bool)
}

extension Connection {
  /// Runs `body`, which changes no row of the model, in a write transaction; any error rolls it back.
  func transactionWithoutRows<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try transaction { () throws(Failure) in
      guard let recorder else { return try body() }
      try recorder.begin(on: self)
      let result = try body()
      try recorder.finishWithoutRows(on: self)
      return result
    }
  }
}
