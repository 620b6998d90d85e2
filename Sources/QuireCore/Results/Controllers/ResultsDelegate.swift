/// Notified of a controller's changes, in the order of these methods; the ABI layer turns them into C callbacks.
protocol ResultsDelegate: AnyObject {
  func willChange(_ results: ResultsController)
  func didChangeSection(_ change: SectionChange, in results: ResultsController)
  /// Called only when `hearsOfObjects`: the objects are read for it.
  func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController)
  var hearsOfObjects: Bool { get }
  func didChangeAggregates(_ changes: [AggregateChange], in results: ResultsController)
  func didChange(_ results: ResultsController)
  func didReport(_ changes: ChangeSet, in results: ResultsController)
  /// The index title of a section, or nil for none. Called only when `hasIndexTitles`.
  func indexTitle(ofSection name: Text, in results: ResultsController) -> Text?
  var hasIndexTitles: Bool { get }
}

extension ResultsDelegate {
  var hearsOfObjects: Bool { true }

  func didChangeAggregates(_ changes: [AggregateChange], in results: ResultsController) {}
}
