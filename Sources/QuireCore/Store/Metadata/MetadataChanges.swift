import Synchronization

/// What programs have set in the metadata of an open store, until a save has written it. Any thread.
final class MetadataChanges: Sendable {
  private struct State {
    /// nil for a key that is to be removed.
    var pending: [String: PropertyListValue?] = [:]
    /// Written in a transaction that is not committed yet.
    var uncommitted: [String: PropertyListValue?] = [:]
  }

  private let state = Guarded(State())
  private let hasPending = Atomic<Bool>(false)

  /// Whether a save has nothing to write.
  var isEmpty: Bool { !hasPending.load(ordering: .acquiring) }

  /// What a save is to write now.
  var pending: [String: PropertyListValue?] { state.withLock { $0.pending } }

  func set(_ key: String, to value: PropertyListValue?) {
    state.withLock { $0.pending[key] = .some(value) }
    hasPending.store(true, ordering: .releasing)
  }

  /// The file has these, if the transaction around the write is committed. What was set meanwhile waits for the next
  /// save.
  func noteWritten(_ written: [String: PropertyListValue?], isHeld: Bool) {
    state.withLock { state in
      for (key, value) in written {
        if state.pending[key] == .some(value) { state.pending[key] = nil }
        if isHeld { state.uncommitted[key] = .some(value) }
      }
      hasPending.store(!state.pending.isEmpty, ordering: .releasing)
    }
  }

  func noteCommit() { state.withLock { $0.uncommitted = [:] } }

  /// What was written is to be written again, unless it was set anew since.
  func noteRollback() {
    state.withLock { state in
      if state.uncommitted.isEmpty { return }
      state.pending.merge(state.uncommitted) { set, _ in set }
      state.uncommitted = [:]
      hasPending.store(true, ordering: .releasing)
    }
  }
}

extension [String: PropertyListValue] {
  /// With what was set on top.
  mutating func apply(_ changes: [String: PropertyListValue?]) {
    for (key, value) in changes { self[key] = value }
  }
}
