/// One object that a save could not write because of the present state of the store: its values as read, as stored, and
/// as they are here. Values are by slot, with nil for to-many relationships, and never change.
final class Conflict: @unchecked Sendable {
  enum Kind: UInt32, Sendable {
    /// Another writer changed the row.
    case changed = 1
    /// Another writer deleted the row.
    case deleted = 2
    /// Another writer has had `other` refer to an object that was deleted here.
    case referred = 3
    /// `other` has the same values of a uniqueness constraint.
    case unique = 4
  }

  let kind: Kind
  let object: ManagedObject
  let other: ManagedObject?
  /// nil for a new object, and for one that was never read.
  let committed: ContiguousArray<Value>?
  /// nil when there is no row: it was deleted, or `other` is not saved either. Of a new object the row of `other`.
  let stored: ContiguousArray<Value>?
  /// nil when the object is deleted here, or was never read.
  let current: ContiguousArray<Value>?
  private let lent = Guarded<[Lent: Text]>([:])

  private struct Lent: Hashable {
    let version: Int
    let slot: Int
  }

  init(_ kind: Kind, _ object: ManagedObject, other: ManagedObject? = nil, stored: Row?) {
    self.kind = kind
    self.object = object
    self.other = other
    self.stored = stored?.values
    committed = object.state == .inserted || object.isFault ? nil : object.committedValues
    current = !object.isLive || object.isFault ? nil : object.values
  }

  /// Keeps text alive for a caller that borrows it from one version of the object.
  func lend(_ text: Text, version: Int, slot: Int) -> Text {
    lent.withLock { lent in
      let key = Lent(version: version, slot: slot)
      if let present = lent[key] { return present }
      lent[key] = text
      return text
    }
  }
}

extension ManagedObject {
  /// What was read or last saved.
  var committedValues: ContiguousArray<Value> {
    var values = values
    for (slot, saved) in committed where values.indices.contains(slot) { values[slot] = saved }
    return values
  }
}
