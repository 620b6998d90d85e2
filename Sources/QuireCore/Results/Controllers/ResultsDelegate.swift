/// Notified of a controller's changes, in the order of these methods; the ABI layer turns them into C callbacks.
protocol ResultsDelegate: AnyObject {
  func willChange(_ results: ResultsController)
  func didChangeSection(_ change: SectionChange, in results: ResultsController)
  func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController)
  func didChangeAggregates(_ changes: [AggregateChange], in results: ResultsController)
  func didChange(_ results: ResultsController)
  func didReport(_ changes: ChangeSet, in results: ResultsController)
  /// The index title of a section, or nil for none. Called only when `hasIndexTitles`.
  func indexTitle(ofSection name: Text, in results: ResultsController) -> Text?
  var hasIndexTitles: Bool { get }
}

extension ResultsDelegate {
  func didChangeAggregates(_ changes: [AggregateChange], in results: ResultsController) {}
}
