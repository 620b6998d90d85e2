import Synchronization

/// What programs have set in the metadata of an open store, until a save has written it. Used with the store's lock
/// held, but for `isEmpty`.
final class MetadataChanges: @unchecked Sendable {
  /// nil for a key that is to be removed.
  private var pending: [String: PropertyListValue?] = [:]
  /// Written in a transaction that is not committed yet.
  private var uncommitted: [String: PropertyListValue?] = [:]
  private let hasPending = Atomic<Bool>(false)

  /// Whether a save has nothing to write. Any thread.
  var isEmpty: Bool { !hasPending.load(ordering: .acquiring) }

  func set(_ key: String, to value: PropertyListValue?) {
    pending[key] = .some(value)
    hasPending.store(true, ordering: .releasing)
  }

  /// Has `properties` show what a save will make of them.
  func apply(to properties: inout [String: PropertyListValue]) {
    for (key, value) in pending { properties[key] = value }
  }

  /// The file has them, if the transaction around the write is committed.
  func noteWritten(isHeld: Bool) {
    if isHeld { uncommitted.merge(pending) { $1 } }
    pending = [:]
    hasPending.store(false, ordering: .releasing)
  }

  func noteCommit() { uncommitted = [:] }

  /// What was written is to be written again, unless it was set anew since.
  func noteRollback() {
    if uncommitted.isEmpty { return }
    pending.merge(uncommitted) { set, _ in set }
    uncommitted = [:]
    hasPending.store(true, ordering: .releasing)
  }
}
