/// What keeps the rows of a model: all that contexts ask of a store, without a word of how it keeps them.
///
/// `Store` is the engine on SQLite. Any thread may use one.
protocol Engine: AnyObject, Sendable {
  // MARK: What it is

  var model: Model { get }

  /// Upper case.
  var uuid: Text { get }

  /// What it was opened with; `:memory:` without a file.
  var path: Text { get }

  /// Where the file is, whatever the current folder. Caches are beside it.
  var location: Text { get }

  /// Stands for this opening: another one of the same file has another.
  var opening: any AnyObject & Sendable { get }

  var isClosed: Bool { get }

  /// Throws `closed` when it is not open any more. Does not wait for a transaction to end.
  func checkOpen() throws(Failure)

  /// A descriptor that polls readable when other programs may have committed; nil where none can. It ends with the
  /// store.
  func watchOthers() throws(Failure) -> Int32?

  /// Files what other programs have committed, where that descriptor may have polled readable.
  func noticeOthers()

  /// There is one more handle or context.
  func beginUse()

  func endUse()

  func uri(of id: Int64, entity: Entity) -> ObjectURI

  func reference(_ uri: ObjectURI) throws(Failure) -> (entity: Entity, reference: ObjectReference)

  /// The uniqueness constraints of the model that it holds.
  var uniquenessConstraints: [UniquenessConstraint] { get }

  // MARK: Moments

  /// Whether states can be held. Otherwise each read is of what is newest.
  var holdsMoments: Bool { get }

  /// A moment that begins with its first use, at the newest commit of then.
  ///
  /// `unread` is the inbox of a context that has read nothing yet.
  func makeMoment(isPinned: Bool, unread: ChangeInbox?, for holder: MomentHolder) -> any Moment

  /// What is there now. While a transaction is open on this thread, that is what the transaction sees.
  var newest: any Moment { get }

  /// Begins a moment at the state with so many changes: nil where that is neither the newest nor shown by another
  /// moment.
  func begin(_ moment: any Moment, at changes: Int64) throws(Failure) -> MomentState?

  /// Runs `body`, whose reads of `newest` are of one state.
  func readingNewest(_ body: () throws(Failure) -> Void) throws(Failure)

  /// Removes files of large values that no moment needs any more.
  func sweepFiles()

  /// Works out what contexts will show.
  var merging: BackgroundThread { get }

  /// Merges are worked out beside a context from so many changed rows on.
  var fewestPreparedRows: Int { get }

  // MARK: Ids ahead

  /// The first of `count` permanent ids in a row for new objects; nil when none are to be had without waiting.
  func reserveIDs(root: Entity, count: Int) -> Int64?

  /// The first of `count` ids for objects that are not saved yet; the others follow downwards.
  func takeTemporaryIDs(_ count: Int) -> Int64

  /// Takes `count` new ids and returns the first. They are never assigned twice.
  func allocateIDs(root: Entity, count: Int) throws(Failure) -> Int64

  // MARK: Writing

  /// Waits while what was written before has to get into the file, for at most the store's busy timeout. To be called
  /// before a context writes, which shows `moment`, with no lock of the engine held.
  func awaitCheckpoint(before moment: (any Moment)?)

  /// Runs `body` while no other thread writes.
  func writing<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result

  /// Writes the whole request, or nothing when any part of it fails.
  ///
  /// `finish` is called when all is written and nothing is committed: what it throws takes all back. `completion` is
  /// called once all is committed, before any other caller can write.
  func save(
    _ request: SaveRequest, finish: (SaveResult) throws(Failure) -> Void, completion: () -> Void
  ) throws(Failure) -> SaveResult

  /// Carries out a batch request, whole or not at all. `finish` and `completion` are called as those of `save`.
  func batch<Result>(
    by authorship: Authorship, _ body: (any BatchWriter) throws(Failure) -> Result,
    finish: (StoreChange) throws(Failure) -> Void, completion: () -> Void
  ) throws(Failure) -> Result

  /// Runs `body` with all that it reads of `newest` and writes under the eyes of `monitor`.
  func watched<Result>(
    by monitor: FetchMonitor?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result

  var hasPropertiesToSave: Bool { get }

  /// Writes what was set in the metadata, for a save that has nothing else to write.
  func saveProperties() throws(Failure)

  // MARK: Transactions of several saves

  /// Tells calls of the context that holds one from all others.
  var gate: TransactionGate { get }

  func beginTransaction(for holder: UInt, _ inbox: ChangeInbox) throws(Failure) -> HeldTransaction

  /// Ends it for good. When that fails it is still open, or lost. `completion` is called before any other caller can
  /// write.
  func commit(_ transaction: HeldTransaction, completion: () -> Void) throws(Failure)

  /// Takes back all that was written in it, unless that has happened already.
  func rollBack(_ transaction: HeldTransaction)

  // MARK: Following

  /// From now on `inbox` gets what others commit.
  func add(_ inbox: ChangeInbox)

  /// From now on `inbox`, which is that of a child, is closed with it.
  func add(childInbox inbox: ChangeInbox)

  /// Whether another inbox needs what the owner of `inbox` writes. To be asked within a write.
  func hasFollowers(besides inbox: ChangeInbox) -> Bool

  /// Notes what was written, for the commit that follows. Within a write.
  func publish(_ publication: Publication)

  /// How far contexts lag behind, and what keeps the log. Waits for a write that is under way.
  func logState() throws(Failure) -> LogState
}

/// One batch request under way, inside its transaction.
protocol BatchWriter: AnyObject {
  /// The values of expressions for the rows that answer a plan, column by column.
  func values(of columns: [Projection.Column], _ plan: FetchPlan) throws(Failure) -> [[Value]]

  func update(
    _ rows: ContiguousArray<RowIdentifier>, of entity: Entity, to changes: [(property: Property, value: Value)],
    _ computed: [ComputedValues]
  ) throws(Failure)

  /// Deletes rows, by the delete rules.
  func delete(_ rows: ContiguousArray<RowIdentifier>) throws(Failure)

  func insert(_ values: [ContiguousArray<Value>], of entity: Entity) throws(Failure) -> ContiguousArray<RowIdentifier>

  /// Finds for each row of values the one in the store, or before it, that has the same unique values.
  func upsert(_ rows: [ContiguousArray<Value>], of entity: Entity, given: [Property]) throws(Failure) -> Upsert

  /// Writes it, and returns the row of each row of values.
  func run(_ upsert: Upsert, of entity: Entity) throws(Failure) -> ContiguousArray<RowIdentifier>
}

/// An attribute with the value that each of some rows is to get, in their order; the values fit it.
struct ComputedValues {
  let attribute: Attribute
  let values: [Value]
}
