/// What a context reads through and saves to: a store, or the context above it. What is there counts as saved.
///
/// A context asks its source for rows and members, and hands it what is to be saved. It never asks for a value that an
/// object has. Objects of contexts above are found along `Context.parent`.
protocol SavedSource: AnyObject {
  // MARK: Rows

  /// The rows with these ids; ids without a row are left out. In no order.
  func rows(root: Entity, ids: [Int64]) throws(Failure) -> [Row]

  /// Those of the ids that have a row.
  func usedIDs(_ ids: [Int64], root: Entity) throws(Failure) -> Set<Int64>

  /// The same for rows that are of `entity`, or of one below it.
  func usedIDs(_ ids: [Int64], of entity: Entity) throws(Failure) -> Set<Int64>

  // MARK: Relationships

  /// The members of a to-many relationship of one row, in order when it is ordered.
  func members(of relationship: Relationship, owner: Int64) throws(Failure) -> [RowIdentifier]

  /// Reads the members of a to-many relationship for objects of `context` that have not read theirs, and returns the
  /// objects that were read.
  func readMembers(
    of relationship: Relationship, _ owners: [ManagedObject], in context: Context
  ) throws(Failure) -> [ManagedObject]

  /// The ids of rows that hold one of `members`, and perhaps of some more.
  func owners(
    of members: [ObjectReference], through relationship: Relationship, from entity: Entity
  ) throws(Failure) -> [Int64]

  // MARK: Statements

  /// What answers fetch plans, counts and scans: statements over the rows of a file.
  var moment: any Moment { get }

  /// Whether what is saved there are objects. Their values win over the rows that `reader` finds, and some of them have
  /// temporary ids.
  var holdsObjects: Bool { get }

  // MARK: What is to come

  /// Whether there is something for a context with that inbox to take over.
  func hasNews(for inbox: ChangeInbox) -> Bool

  /// Whether rows that are read now may be of a later commit than what the context with that inbox shows.
  func readsAhead(of inbox: ChangeInbox) -> Bool

  /// Gives up the moment if the store has asked for that while a call was under way.
  func giveUpIfAsked()

  /// Begins a step of a context to what is newest, with what has come into its inbox.
  func beginMove(_ inbox: ChangeInbox) throws(Failure) -> Move

  /// Has what is there take over what it takes over automatically, before a context does so.
  func mergeIfAutomatic() throws(Failure)

  // MARK: Saving

  /// Writes what is pending in `context`, or nothing when any part of it fails. nil where there are no results to take
  /// over. The context is then to take over what others have saved before it (`Context.mergeAfterSave`).
  func save(_ request: SaveRequest, of context: Context) throws(Failure) -> SaveResult?

  /// Carries out a batch request, and moves the context on to that. With `merges` the context is to take over what it
  /// has changed (`Context.mergeAfterSave`).
  func batch(
    in context: Context, merges: Bool,
    _ body: (any BatchWriter) throws(Failure) -> ContiguousArray<RowIdentifier>
  ) throws(Failure) -> ContiguousArray<RowIdentifier>

  /// Whether a save has metadata to write.
  var hasPropertiesToSave: Bool { get }

  /// Writes what was set in the metadata, for a save without changes of objects.
  func saveProperties(of context: Context) throws(Failure)

  /// Tells what `save` has changed, once the context has taken over the results. What cannot be told now is told later.
  func announceSave()

  /// Assigns permanent ids to the new objects that are there.
  func obtainPermanentIDs() throws(Failure)

  // MARK: What only a store has

  /// Runs `body`, whose reads find what is newest, with what a transaction of this thread has written.
  func readNewest(_ body: () throws(Failure) -> Void) throws(Failure)

  /// The context has begun a transaction of the file, by which it reads from now on.
  func beginTransaction()

  /// The transaction is over. The context shows what is newest.
  func endTransaction()

  /// Names the commit that the context shows.
  func token() throws(Failure) -> MomentToken

  /// Whether the context stays at its moment until a call is to move it.
  var isPinned: Bool { get }

  func setPinned(_ isPinned: Bool) throws(Failure)

  /// Begins a step of a context to the commit that a token names, with what has come into its inbox.
  func beginMove(_ inbox: ChangeInbox, to token: MomentToken) throws(Failure) -> Move

  func checkHasTransactions() throws(Failure)

  func checkHasBatchRequests() throws(Failure)

  /// The failure of an end of a transaction where none is open.
  var noTransaction: Failure { get }
}
