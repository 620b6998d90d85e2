/// One step of a context to a newer moment: what has changed up to there, and how to read there before the step is
/// made.
///
/// It ends with `accept` or `cancel`. Until then the context is where it was.
final class Move {
  /// nil when nothing has changed that the context could know of.
  let change: StoreChange?
  private(set) var isAccepted = false
  private let reading: (() throws(Failure) -> Void) throws(Failure) -> Void
  private let accepting: () -> Void
  private let cancelling: () -> Void

  init(
    _ change: StoreChange?, reading: @escaping (() throws(Failure) -> Void) throws(Failure) -> Void,
    accept: @escaping () -> Void = {}, cancel: @escaping () -> Void = {}
  ) {
    self.change = change
    self.reading = reading
    accepting = accept
    cancelling = cancel
  }

  /// Runs `body`, whose reads find what is there after the step.
  func read<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    var result: Result?
    try withoutActuallyEscaping(body) { body throws(Failure) in
      try reading { () throws(Failure) in result = try body() }
    }
    guard let result else { throw ProcessMark.inherited }
    return result
  }

  func accept() {
    isAccepted = true
    accepting()
  }

  /// What has changed is there to be taken over the next time.
  func cancel() { cancelling() }
}
