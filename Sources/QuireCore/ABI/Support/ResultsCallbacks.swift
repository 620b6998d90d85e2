import CQuire

/// A delegate of C callbacks, with the `user_data` of the caller.
final class ResultsCallbacks: ResultsDelegate {
  private let callbacks: quire_results_delegate
  private let userData: UserData

  init(_ callbacks: quire_results_delegate, in confinement: Confinement) {
    self.callbacks = callbacks
    userData = UserData(callbacks.user_data, callbacks.destroy, in: confinement)
  }

  var hearsOfObjects: Bool { callbacks.did_change_object != nil }
  var hasIndexTitles: Bool { callbacks.index_title != nil }

  func willChange(_ results: ResultsController) {
    callbacks.will_change?(callbacks.user_data, .lending(results))
  }

  func didChangeSection(_ change: SectionChange, in results: ResultsController) {
    guard let callback = callbacks.did_change_section else { return }
    change.withExported { callback(callbacks.user_data, .lending(results), $0) }
  }

  func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController) {
    guard let callback = callbacks.did_change_object else { return }
    change.withExported { callback(callbacks.user_data, .lending(results), .lending(object), $0) }
  }

  func didChangeAggregates(_ changes: [AggregateChange], in results: ResultsController) {
    guard let callback = callbacks.did_change_aggregates else { return }
    withExtendedLifetime(changes) {
      var records = changes.map { quire_aggregate_change($0) }
      records.withUnsafeMutableBufferPointer { records in
        withUnsafePointer(to: quire_aggregate_change_array(records)) {
          callback(callbacks.user_data, .lending(results), $0)
        }
      }
    }
  }

  func didChange(_ results: ResultsController) {
    callbacks.did_change?(callbacks.user_data, .lending(results))
  }

  func didReport(_ changes: ChangeSet, in results: ResultsController) {
    guard let callback = callbacks.changes else { return }
    changes.withExported { callback(callbacks.user_data, .lending(results), $0) }
  }

  func indexTitle(ofSection name: Text, in results: ResultsController) -> Text? {
    guard let callback = callbacks.index_title else { return nil }
    let lent = name.lent
    guard let title = callback(callbacks.user_data, .lending(results), lent.data, lent.size) else { return nil }
    return withExtendedLifetime(name) { Text(String(cString: title)) }
  }
}
