/// The saves of other contexts since a context last took them over: for each row its end, not every step. Any thread.
final class ChangeInbox: Sendable {
  private enum Fate { case inserted, updated, deleted, returned }

  private struct Contents {
    var rows: [RowIdentifier: Fate] = [:]
    var membershipChanges: [ObjectIdentifier: (relationship: Relationship, owners: Set<RowIdentifier>)] = [:]
    /// Made when it is first asked for.
    var signal: Signal?
    /// Whether there is nothing to take any more, as the store was closed.
    var isClosed = false

    var isEmpty: Bool { rows.isEmpty && membershipChanges.isEmpty }

    mutating func drop() {
      rows = [:]
      membershipChanges = [:]
      signal?.lower()
    }
  }

  private let contents = Guarded(Contents())

  var isEmpty: Bool { contents.withLock { $0.isEmpty } }

  func post(_ change: StoreChange) {
    contents.withLock { contents in
      if contents.isClosed { return }
      let wasEmpty = contents.isEmpty
      // The owner may have read in between. A row that came and then changed is a changed row to it, and a row that
      // came and went is a deleted one.
      for row in change.inserted {
        switch contents.rows[row] {
        case .deleted: contents.rows[row] = .returned
        // A parent has changed it before it merged that others had inserted it.
        case .updated: break
        default: contents.rows[row] = .inserted
        }
      }
      for row in change.updated {
        contents.rows[row] = contents.rows[row] == .deleted || contents.rows[row] == .returned ? .returned : .updated
      }
      for row in change.returned { contents.rows[row] = .returned }
      for row in change.deleted { contents.rows[row] = .deleted }
      for (relationship, owners) in change.membershipChanges {
        contents.membershipChanges[ObjectIdentifier(relationship), default: (relationship, [])].owners.formUnion(owners)
      }
      if wasEmpty, !contents.isEmpty { contents.signal?.raise() }
    }
  }

  /// Everything that came in since the last time, in the order of keys; nil when that is nothing.
  func take() -> StoreChange? {
    contents.withLock { contents in
      if contents.isEmpty { return nil }
      var change = StoreChange()
      for (row, fate) in contents.rows.sorted(by: { ($0.key.entity, $0.key.id) < ($1.key.entity, $1.key.id) }) {
        switch fate {
        case .inserted: change.inserted.append(row)
        case .updated: change.updated.append(row)
        case .deleted: change.deleted.append(row)
        case .returned:
          change.updated.append(row)
          change.returned.append(row)
        }
      }
      for (relationship, owners) in contents.membershipChanges.values.sorted(by: {
        ($0.relationship.entity.number, $0.relationship.slot) < ($1.relationship.entity.number, $1.relationship.slot)
      }) {
        change.membershipChanges.append((relationship, owners.sorted { $0.id < $1.id }))
      }
      contents.drop()
      return change
    }
  }

  /// Drops what came in, and whatever else will.
  func close() {
    contents.withLock { contents in
      contents.isClosed = true
      if !contents.isEmpty { contents.drop() }
    }
  }

  /// Objects of the context that posts here got permanent ids.
  func rename(_ permanent: [ObjectReference: ObjectReference], _ model: Model) {
    func renamed(_ row: RowIdentifier) -> RowIdentifier {
      guard row.id < 0, let entity = model.entity(numbered: Int(row.entity)),
        let reference = permanent[ObjectReference(root: entity.rootNumber, id: row.id)]
      else { return row }
      return RowIdentifier(id: reference.id, entity: row.entity)
    }
    contents.withLock { contents in
      if contents.isEmpty { return }
      contents.rows = Dictionary(
        contents.rows.map { (renamed($0), $1) }, uniquingKeysWith: { first, _ in first })
      for (key, value) in contents.membershipChanges {
        contents.membershipChanges[key]?.owners = Set(value.owners.map(renamed))
      }
    }
  }

  /// A descriptor that polls readable while there is something to take.
  func descriptor() throws(Failure) -> Int32 {
    let made = contents.withLock { contents -> Int32? in
      if contents.signal == nil {
        contents.signal = Signal()
        if !contents.isEmpty { contents.signal?.raise() }
      }
      return contents.signal?.descriptor
    }
    if let made { return made }
    throw Failure(
      .invalidState, "The system gives no descriptors for changes to be merged. Close some of those that are open.")
  }
}

/// The inboxes of a store's contexts, held weakly.
struct Inboxes: Sendable {
  struct Reference: WeakReference, Sendable {
    weak var inbox: ChangeInbox?

    var isGone: Bool { inbox == nil }
  }

  /// Get what others save.
  var followers = WeakReferences<Reference>()
  /// Receive the changes of their parents.
  var children = WeakReferences<Reference>()
}

extension Store {
  /// From now on `inbox` gets what others save.
  func add(_ inbox: ChangeInbox) { inboxes.withLock { $0.followers.add(.init(inbox: inbox)) } }

  /// From now on `inbox`, which is that of a child, is closed with the store.
  func add(childInbox inbox: ChangeInbox) { inboxes.withLock { $0.children.add(.init(inbox: inbox)) } }

  func closeInboxes() {
    let all = inboxes.withLock { inboxes in (inboxes.followers.all + inboxes.children.all).compactMap(\.inbox) }
    for inbox in all { inbox.close() }
  }

  /// Whether another inbox, or a transaction that may be rolled back, needs what the owner of `inbox` writes. To be
  /// asked inside `withConnection`.
  func hasFollowers(besides inbox: ChangeInbox) -> Bool {
    assert(lock.isHeld)
    if held != nil { return true }
    return inboxes.withLock { inboxes in inboxes.followers.all.contains { $0.inbox != nil && $0.inbox !== inbox } }
  }

  func post(_ change: StoreChange, besides inbox: ChangeInbox) {
    let others = inboxes.withLock { inboxes in inboxes.followers.all.compactMap(\.inbox).filter { $0 !== inbox } }
    for other in others { other.post(change) }
  }
}
