/// The changes of a save or a batch request, for contexts to take over.
struct StoreChange: Sendable {
  var inserted: ContiguousArray<RowIdentifier> = []
  /// Rows of which some value or the version is another than before.
  var updated: ContiguousArray<RowIdentifier> = []
  var deleted: ContiguousArray<RowIdentifier> = []
  /// Those of the updated rows that were deleted and inserted again in between.
  var returned: ContiguousArray<RowIdentifier> = []
  /// Objects whose to-many relationship has other members than before. They are known to be of the relationship's
  /// entity, but not of which one under it.
  var membershipChanges: [(relationship: Relationship, owners: [RowIdentifier])] = []
  /// Whether other programs may have changed anything else.
  var isUnknown = false
  /// Numbers of root entities with rows that other programs have changed, without a word of the objects that have these
  /// as members. Any object may have others of them than before.
  var rootsWithoutOwners: Set<Int> = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && membershipChanges.isEmpty && !isUnknown
  }

  /// How many rows it is about, some of them perhaps twice.
  var rowCount: Int {
    membershipChanges.reduce(inserted.count + updated.count + deleted.count) { $0 + $1.owners.count }
  }

  /// Whether objects may have other members in a relationship, of which nothing tells.
  func mayBeOther(_ relationship: Relationship) -> Bool {
    relationship.isToMany && !relationship.isTransient
      && rootsWithoutOwners.contains(relationship.destination.rootNumber)
  }

  /// Those with such a relationship of their own.
  func entitiesOfPossibleOwners(in model: Model) -> [Entity] {
    if rootsWithoutOwners.isEmpty { return [] }
    return model.entities.filter { $0.ownRelationships.contains(where: mayBeOther) }
  }

  /// Both, as one change.
  func followed(by other: StoreChange) -> StoreChange {
    let inbox = ChangeInbox()
    inbox.post(self)
    inbox.post(other)
    return inbox.take() ?? other
  }

  /// What another program has committed.
  static var unknown: StoreChange {
    var change = StoreChange()
    change.isUnknown = true
    return change
  }
}
