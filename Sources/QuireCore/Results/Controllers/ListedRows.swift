extension ChangedKeys? {
  fileprivate mutating func formUnion(_ keys: ChangedKeys) {
    if self == nil { self = keys } else { self?.formUnion(keys) }
  }
}

/// Rows of one tree of entities that a change may put elsewhere in a list.
struct ListedRows {
  struct Row {
    let entity: Int32
    /// What has changed of itself.
    var keys: ChangedKeys?
    /// What has changed in objects that it reaches.
    var reached: ChangedKeys?

    var hasChanged: Bool { keys != nil }

    var allKeys: ChangedKeys {
      var all = keys ?? ChangedKeys()
      if let reached { all.formUnion(reached) }
      return all
    }
  }

  private var rows: [Int64: Row] = [:]
  private let root: Int

  init(_ change: StoreChange, of root: Int, _ model: Model) {
    self.root = root
    for row in ListedRows.rows(change, of: root, model) {
      rows[row.id] = Row(entity: row.entity, keys: ListedRows.all)
    }
    for (relationship, owners) in change.membershipChanges where relationship.entity.rootNumber == root {
      var keys = ChangedKeys()
      keys.properties.insert(slot: relationship.slot)
      for owner in owners {
        rows[owner.id, default: Row(entity: owner.entity)].keys.formUnion(keys)
      }
    }
  }

  static let all = ChangedKeys(properties: .all, isDecisive: true)

  var count: Int { rows.count }
  var ids: [Int64] { rows.keys.sorted() }

  @discardableResult
  mutating func remove(_ id: Int64) -> Row? { rows.removeValue(forKey: id) }

  /// The rows that reach one of which something that the list follows may have changed. Returns those of `known` that
  /// may be one.
  mutating func add(
    _ target: ListWatch.Target, _ change: StoreChange, besides known: Set<ObjectReference>, from entity: Entity,
    at moment: any Moment
  ) throws(Failure) -> [ObjectReference] {
    let dependency = target.dependency
    guard let last = dependency.path.last else { return [] }
    let root = last.destination.rootNumber
    var changed: [Int64] = [], left: [ObjectReference] = []
    for row in ListedRows.rows(change, of: root, moment.model) {
      let reference = ObjectReference(root: root, id: row.id)
      if known.contains(reference) { left.append(reference) } else { changed.append(row.id) }
    }
    for (relationship, owners) in change.membershipChanges
    where relationship.entity.rootNumber == root && relationship.slot == dependency.property.slot {
      changed += owners.map(\.id)
    }
    if changed.isEmpty { return left }
    let references = changed.map { ObjectReference(root: root, id: $0) }
    for id in try moment.ids(reaching: references, along: dependency.path, from: entity) {
      rows[id, default: Row(entity: Int32(entity.number))].reached.formUnion(target.keys)
    }
    return left
  }

  private static func rows(_ change: StoreChange, of root: Int, _ model: Model) -> [RowIdentifier] {
    var isOfRoot: [Int32: Bool] = [:]
    var found: [RowIdentifier] = []
    for some in [change.inserted, change.updated, change.deleted] {
      for row in some {
        let isFound = isOfRoot[row.entity] ?? (model.entity(numbered: Int(row.entity))?.rootNumber == root)
        isOfRoot[row.entity] = isFound
        if isFound { found.append(row) }
      }
    }
    return found
  }
}
