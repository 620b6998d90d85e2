import CQuire

/// A delegate of C callbacks. It holds the caller's `user_data` and calls `destroy` when it goes.
final class ResultsCallbacks: ResultsDelegate {
  private let callbacks: quire_results_delegate

  init(_ callbacks: quire_results_delegate) { self.callbacks = callbacks }

  deinit { callbacks.destroy?(callbacks.user_data) }

  var hasIndexTitles: Bool { callbacks.index_title != nil }

  func willChange(_ results: ResultsController) {
    callbacks.will_change?(callbacks.user_data, .lending(results))
  }

  func didChangeSection(_ change: SectionChange, in results: ResultsController) {
    guard let callback = callbacks.did_change_section else { return }
    let exported = quire_section_change(change)
    withExtendedLifetime(change) {
      withUnsafePointer(to: exported) { callback(callbacks.user_data, .lending(results), $0) }
    }
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
    let exported = ExportedChanges(changes)
    withExtendedLifetime(exported) {
      callback(
        callbacks.user_data, .lending(results), UnsafePointer(UnsafeMutablePointer<quire_changes>.lending(exported)))
    }
  }

  func indexTitle(ofSection name: Text, in results: ResultsController) -> Text? {
    guard let callback = callbacks.index_title else { return nil }
    let lent = name.lent
    guard let title = callback(callbacks.user_data, .lending(results), lent.data, lent.size) else { return nil }
    return withExtendedLifetime(name) { Text(String(cString: title)) }
  }
}

extension Change {
  /// The change as C sees it, for the time of a call.
  func withExported(_ body: (UnsafePointer<quire_change>) -> Void) {
    withExtendedLifetime(self) {
      keys.map(\.lent).withUnsafeBufferPointer { keys in
        let exported = quire_change(self, keys)
        withUnsafePointer(to: exported, body)
      }
    }
  }
}

extension quire_change {
  /// `keys` are those of the change, as C sees them.
  init(_ change: Change, _ keys: UnsafeBufferPointer<quire_string>) {
    self.init(
      kind: UInt32(change.kind.rawValue), key_count: UInt32(clamping: keys.count), id: change.id,
      old_section: Int64(change.oldSection), old_row: Int64(change.oldRow), old_flat: Int64(change.oldFlat),
      new_section: Int64(change.newSection), new_row: Int64(change.newRow), new_flat: Int64(change.newFlat),
      keys: keys.isEmpty ? nil : keys.baseAddress)
  }
}

extension quire_section_change {
  init(_ change: SectionChange) {
    self.init(
      kind: UInt32(change.kind.rawValue), reserved: 0, index: Int64(change.index), name: change.name.lent,
      value: (try? exported(change.value, nameOf: change.name)) ?? quire_value())
  }
}

extension quire_aggregate_change {
  init(_ change: AggregateChange) {
    self.init(
      section: Int64(change.section), name: change.name.lent,
      value: (try? exported(change.value, nameOf: change.text)) ?? quire_value())
  }
}

extension quire_step {
  /// Without the ids of a range.
  init(_ step: Step) {
    self.init(
      kind: UInt32(step.kind.rawValue), reserved: 0, id: step.id, section: Int64(step.section), row: Int64(step.row),
      to_section: Int64(step.toSection), to_row: Int64(step.toRow), flat: Int64(step.flat), to_flat: Int64(step.toFlat),
      removed: Int64(step.removed), inserted: Int64(step.inserted), removed_ids: nil, inserted_ids: nil)
  }
}
