extension FetchMonitor {
  /// Watches one fetch or batch request of a context; nil when the request asks for no watching. While the progress
  /// function runs, the context refuses all calls.
  convenience init?(
    _ work: Work = .fetch, of entityName: String, _ cancellation: Cancellation?, _ progress: Progress?,
    in context: Context
  ) {
    if cancellation == nil, progress == nil { return nil }
    let confinement = context.confinement
    self.init(
      work, of: entityName, cancellation: cancellation,
      progress: progress.map { progress in
        Progress(nanoseconds: progress.nanoseconds) { rows in confinement.refusing { progress.report(rows) } }
      })
  }
}
