/// What a change says of rows, by their references: a context of few objects need not look at all of a large change.
final class ChangedRows: Sendable {
  private struct Fate: OptionSet {
    let rawValue: UInt8
    static let inserted = Fate(rawValue: 1), updated = Fate(rawValue: 2), deleted = Fate(rawValue: 4)
    static let returned = Fate(rawValue: 8)
  }

  private let rows: [ObjectReference: (row: RowIdentifier, fate: Fate)]
  private let owners: [(relationship: Relationship, ids: Set<Int64>)]
  let deleted: Set<ObjectReference>
  let returned: Set<ObjectReference>
  private let isUnknown: Bool
  private let rootsWithoutOwners: Set<Int>

  init(_ change: StoreChange, _ model: Model) {
    var rows: [ObjectReference: (row: RowIdentifier, fate: Fate)] = [:]
    rows.reserveCapacity(change.inserted.count + change.updated.count + change.deleted.count)
    var roots: [Int32: Int] = [:]
    func add(_ some: ContiguousArray<RowIdentifier>, _ fate: Fate) -> Set<ObjectReference> {
      var references: Set<ObjectReference> = []
      for row in some {
        guard let root = roots[row.entity] ?? model.entity(numbered: Int(row.entity))?.rootNumber else { continue }
        roots[row.entity] = root
        let reference = ObjectReference(root: root, id: row.id)
        rows[reference] = (row, fate.union(rows[reference]?.fate ?? []))
        if fate == .deleted || fate == .returned { references.insert(reference) }
      }
      return references
    }
    _ = add(change.inserted, .inserted)
    _ = add(change.updated, .updated)
    deleted = add(change.deleted, .deleted)
    returned = add(change.returned, .returned)
    self.rows = rows
    owners = change.membershipChanges.map { ($0.relationship, Set($0.owners.lazy.map(\.id))) }
    isUnknown = change.isUnknown
    rootsWithoutOwners = change.rootsWithoutOwners
  }

  func entity(of reference: ObjectReference, _ model: Model) -> Entity? {
    rows[reference].flatMap { model.entity(numbered: Int($0.row.entity)) }
  }

  /// The part of the change that is about these objects, in the order of their keys.
  func change(of objects: [ManagedObject]) -> StoreChange {
    var change = StoreChange()
    change.isUnknown = isUnknown
    change.rootsWithoutOwners = rootsWithoutOwners
    for object in objects {
      guard let (row, fate) = rows[object.reference] else { continue }
      if fate.contains(.inserted) { change.inserted.append(row) }
      if fate.contains(.updated) { change.updated.append(row) }
      if fate.contains(.deleted) { change.deleted.append(row) }
      if fate.contains(.returned) { change.returned.append(row) }
    }
    func isBefore(_ left: RowIdentifier, _ right: RowIdentifier) -> Bool {
      (left.entity, left.id) < (right.entity, right.id)
    }
    change.inserted.sort(by: isBefore)
    change.updated.sort(by: isBefore)
    change.deleted.sort(by: isBefore)
    change.returned.sort(by: isBefore)
    for (relationship, ids) in owners {
      let root = relationship.entity.rootNumber
      let known = objects.filter { $0.entity.rootNumber == root && ids.contains($0.id) }.map(\.identifier)
      if !known.isEmpty { change.membershipChanges.append((relationship, known.sorted { $0.id < $1.id })) }
    }
    return change
  }
}
