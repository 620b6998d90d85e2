/// The context above a child, to that child. What this one has, saved or not, is what the child finds saved.
final class ParentSource: SavedSource {
  private let parent: Context

  init(_ parent: Context) { self.parent = parent }

  // MARK: Rows

  /// Where the parent has an object it says what its row is; the others are read as the parent would read them.
  func rows(root: Entity, ids: [Int64]) throws(Failure) -> [Row] {
    var current: [Row] = []
    var unread: [Int64] = []
    for id in ids {
      guard let object = parent.registeredObject(ObjectReference(root: root.rootNumber, id: id)),
        object.state != .saved || !object.isFault
      else {
        unread.append(id)
        continue
      }
      if object.isLive { current.append(object.row) }
    }
    return unread.isEmpty ? current : current + (try parent.source.rows(root: root, ids: unread))
  }

  func usedIDs(_ ids: [Int64], root: Entity) throws(Failure) -> Set<Int64> {
    Set(try rows(root: root, ids: ids).map(\.id))
  }

  func usedIDs(_ ids: [Int64], of entity: Entity) throws(Failure) -> Set<Int64> {
    try usedIDs(ids, root: entity.root)
  }

  // MARK: Relationships

  func members(of relationship: Relationship, owner: Int64) throws(Failure) -> [RowIdentifier] {
    let reference = ObjectReference(root: relationship.entity.rootNumber, id: owner)
    guard let owner = try parent.object(reference, of: relationship.entity), owner.isLive else { return [] }
    return try owner.objects(of: relationship).map(\.identifier)
  }

  /// The parent reads all of them at once. Then each is taken over from there.
  func readMembers(
    of relationship: Relationship, _ owners: [ManagedObject], in context: Context
  ) throws(Failure) -> [ManagedObject] {
    let theirs = owners.map { parent.object($0.reference, entity: $0.entity) }
    try parent.fulfil(theirs)
    let read = try parent.prefetch([[relationship]], from: theirs)
    try withExtendedLifetime((theirs, read)) { () throws(Failure) in
      for owner in owners { _ = try owner.members(of: relationship) }
    }
    return []
  }

  func owners(
    of members: [ObjectReference], through relationship: Relationship, from entity: Entity
  ) throws(Failure) -> [Int64] {
    var theirs: [ManagedObject] = []
    for reference in members {
      if let object = try parent.object(reference, of: relationship.destination) { theirs.append(object) }
    }
    let owners = try parent.owners(of: Set(members), present: theirs, through: relationship, from: entity)
    return owners.filter(\.isLive).map(\.id)
  }

  // MARK: Statements

  var moment: any Moment { parent.source.moment }
  var holdsObjects: Bool { true }

  // MARK: What is to come

  func readsAhead(of inbox: ChangeInbox) -> Bool { parent.readsAhead }

  func giveUpIfAsked() { parent.source.giveUpIfAsked() }

  func hasNews(for inbox: ChangeInbox) -> Bool { !inbox.isEmpty }

  /// A child has no moment: what its parent has is what there is.
  func beginMove(_ inbox: ChangeInbox) -> Move {
    let change = inbox.take()
    return Move(
      change, reading: { body throws(Failure) in try body() }, cancel: { if let change { inbox.putBack(change) } })
  }

  /// Later changes of the parent arrive in the inbox of the child.
  func mergeIfAutomatic() throws(Failure) {
    try parent.mergeIfAutomatic()
    try parent.process()
  }

  // MARK: Saving

  /// The save of the context on the store writes them.
  var hasPropertiesToSave: Bool { false }

  func saveProperties(of context: Context) {}

  /// The parent takes over values that no store keeps, too.
  func save(_ request: SaveRequest, of context: Context) throws(Failure) -> SaveResult? {
    try parent.accept(request, from: context)
    parent.announcer.savingChild = context
    return nil
  }

  func batch(
    in context: Context, merges: Bool,
    _ body: (any BatchWriter) throws(Failure) -> ContiguousArray<RowIdentifier>
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try checkHasBatchRequests()
    return []
  }

  func announceSave() {
    try? parent.notifyObservers()
    parent.announcer.savingChild = nil
  }

  func obtainPermanentIDs() throws(Failure) { try parent.obtainPermanentIDs() }

  // MARK: What only a store has

  func readNewest(_ body: () throws(Failure) -> Void) throws(Failure) { try body() }

  func beginTransaction() {}

  func endTransaction() {}

  func token() throws(Failure) -> MomentToken { throw ParentSource.noMoment }

  var isPinned: Bool { false }

  func setPinned(_ isPinned: Bool) throws(Failure) {
    if isPinned { throw ParentSource.noMoment }
  }

  func beginMove(_ inbox: ChangeInbox, to token: MomentToken) throws(Failure) -> Move { throw ParentSource.noMoment }

  private static var noMoment: Failure {
    Failure(
      .unsupported,
      "A child has no moment of its own: it reads what its parent holds. Pin the context without a parent.")
  }

  func checkHasTransactions() throws(Failure) {
    throw Failure(
      .unsupported,
      "A child saves into its parent, and not into the file. Begin the transaction in the context without a parent.")
  }

  func checkHasBatchRequests() throws(Failure) {
    throw Failure(
      .unsupported,
      "Batch requests change the store itself, and this context has a parent. Run them in the context without one, "
        + "and merge here (quire_context_merge).")
  }

  var noTransaction: Failure {
    Failure(
      .invalidState, "A child has no transactions of its own. End that of the context without a parent.")
  }
}

extension ManagedObject {
  /// What a child reads of this object.
  fileprivate var row: Row {
    var values = values
    for relationship in entity.relationships where relationship.isTransient { values[relationship.slot] = .nil }
    return Row(entity: entity, id: id, version: version, values: values)
  }
}
