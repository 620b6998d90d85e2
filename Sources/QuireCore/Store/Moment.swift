/// What is in a store as of one commit, for a context to read: whatever is committed meanwhile, it stays as it is.
///
/// An engine gives them (`Engine`). One thread at a time uses a moment, that of its context. The engine ends or renews
/// it on other threads.
protocol Moment: AnyObject, Sendable {
  var engine: any Engine { get }

  // MARK: What it shows

  /// Begins it at the newest commit, if it has not begun, and returns what it contains.
  @discardableResult
  func begin() throws(Failure) -> MomentState

  /// What it contains; nil where it was not begun. Does not wait for a use that is under way.
  var contents: MomentState? { get }

  /// Whether there is a commit that it does not contain and that no inbox has.
  var hasNews: Bool { get }

  /// Whether it was given up, so that what is read since is newer than what its context shows.
  var isLost: Bool { get }

  /// Gives it up if the store has asked for that while a call of its context was under way. For the beginning of calls.
  func giveUpIfAsked()

  /// Whether it stays however long the log becomes.
  var isPinned: Bool { get set }

  /// Whether a context shows it. One that a merge is prepared by becomes so when the context merges.
  var isOfContext: Bool { get set }

  /// Whether its context waits to write, and moves on by that.
  var waitsToWrite: Bool { get set }

  /// Goes on to the newest commit. What cannot be read now is read with the next use.
  func renew()

  /// Lets go of what it holds. It begins anew with its next use.
  func end()

  /// Bytes that name what it contains, for caches; nil where it is not the newest state.
  func state() -> [UInt8]?

  /// The same, when no later state can have the same name. Waits for that.
  func settledState() -> [UInt8]?

  // MARK: Rows by their ids

  /// The rows with these ids in the tree of `root`, in no order; ids without a row are left out.
  func rows(root: Entity, ids: [Int64]) throws(Failure) -> [Row]

  /// The ids that rows have, in no order.
  func usedIDs(_ ids: [Int64], root: Entity) throws(Failure) -> [Int64]

  /// The row that has these values.
  func row(with key: UniqueKey, of constraint: UniquenessConstraint) throws(Failure) -> Row?

  /// Stands at the rows with these ids one after the other, in the order of `ids`; ids without a row are left out.
  /// False, and nothing is read, where one of the properties is not in the row.
  func read(
    _ properties: [Property], root: Entity, ids: [Int64], _ body: (any RowScan) throws(Failure) -> Void
  ) throws(Failure) -> Bool

  /// Passes the rows whose ids are in `range` by their ids. False where `read` has to do it, or `body` stopped. `body`
  /// may not use the store.
  func readInPassing(
    _ properties: [Property], root: Entity, range: ClosedRange<Int64>,
    _ body: @escaping (any RowScan) throws(Failure) -> Bool
  ) throws(Failure) -> Bool

  // MARK: Members

  /// The rows that a relationship of the saved object `id` refers to: an ordered relationship in its order, any other
  /// by id.
  func relatedIDs(_ relationship: Relationship, of id: Int64) throws(Failure) -> ContiguousArray<RowIdentifier>

  /// The same for any number of saved objects: owner by owner, with the rows themselves, each once.
  func members(
    of relationship: Relationship, owners: [Int64]
  ) throws(Failure) -> (members: [(owner: Int64, id: Int64)], rows: [Row])

  /// The saved rows of `entity` (and those below it) from which `keyPath` reaches one of `references`, by id.
  func ids(
    reaching references: [ObjectReference], along keyPath: [Relationship], from entity: Entity
  ) throws(Failure) -> [Int64]

  // MARK: Plans

  /// Which rows answer the plan, in its order.
  func ids(_ plan: FetchPlan) throws(Failure) -> ContiguousArray<RowIdentifier>

  /// The plan, ready to run any number of times, at any moment of the store.
  func compiled(_ plan: FetchPlan) throws(Failure) -> any CompiledFetch

  func ids(_ fetch: any CompiledFetch) throws(Failure) -> ContiguousArray<RowIdentifier>

  /// How many rows answer the plan, its limit and offset considered.
  func count(_ plan: FetchPlan) throws(Failure) -> Int

  func count(_ plan: FetchPlan, _ projection: Projection) throws(Failure) -> Int

  /// The rows that answer the plan, in its order.
  func rows(_ plan: FetchPlan) throws(Failure) -> [Row]

  /// The columns, with their values row by row, and the property of each that is one.
  func columns(
    _ plan: FetchPlan, _ projection: Projection
  ) throws(Failure) -> [(property: Property?, values: [Value])]

  /// Passes each row that answers the plan to `body`, in the plan's order. With it come the order of its section as
  /// data, where the plan has sections, and the values at `paths`. The array is reused from row to row.
  func scan(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], _ body: (RowIdentifier, [Value]) throws(Failure) -> Void
  ) throws(Failure)

  /// The same with the values where the engine has them, and with those of the plan's expressions.
  func scanRows(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], _ body: (any RowScan) throws(Failure) -> Void
  ) throws(Failure)

  /// The same in less time, in an order that `body` has to check; it returns false to stop, and may not use the store.
  /// False when it stopped, or where `scanRows` has to do it.
  func scanInPassing(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], _ body: @escaping (any RowScan) throws(Failure) -> Bool
  ) throws(Failure) -> Bool

  /// Passes the rows that answer the plan, with `properties`. With `inPassing` as `scanInPassing`. False where it
  /// stopped, or a property is not in the row.
  func readRows(
    _ plan: FetchPlan, _ properties: [Property], inPassing: Bool,
    _ body: @escaping (any RowScan) throws(Failure) -> Bool
  ) throws(Failure) -> Bool

  /// Fails for a plan that it could not answer.
  func check(_ plan: FetchPlan) throws(Failure)

  /// How it would find the rows of a plan, or with a projection its columns.
  func explain(_ plan: FetchPlan, _ projection: Projection?) throws(Failure) -> FetchExplanation

  /// Runs `body` with everything that it reads under the eyes of `monitor`.
  func watched<Result>(
    by monitor: FetchMonitor?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension Moment {
  var model: Model { engine.model }

  func explain(_ plan: FetchPlan) throws(Failure) -> FetchExplanation { try explain(plan, nil) }

  /// The newest commit that it contains; nil where it was not begun.
  var commit: Int64? { contents?.commit }
}

/// What a store knows of the context of a moment. Any thread.
struct MomentHolder: Sendable {
  /// Runs what it is given if no call of the context is under way.
  let whileFree: @Sendable (() -> Void) -> Void
  /// Whether callers hold objects or lists of the context, which are to stay as they are shown.
  let isInUse: @Sendable () -> Bool
  static let none = MomentHolder(whileFree: { _ in }, isInUse: { false })
}

/// What a state of a store contains.
struct MomentState: Equatable {
  /// The number of the newest commit.
  let commit: Int64
  /// How many of the commits up to there have changed what contexts read. Where that is equal, contexts find the same.
  let changes: Int64

  /// Whether a commit is part of it.
  func contains(_ other: Int64) -> Bool { other <= commit }
}

/// A fetch of ids, ready to run any number of times.
protocol CompiledFetch: AnyObject {}

/// The rows of a scan, one at a time, where the engine has them: columns are compared and encoded without a copy. The
/// receiver looks at the row of the moment.
protocol RowScan: AnyObject {
  var id: Int64 { get }

  /// Puts all values into the columns of a page. False, in passing, where that cannot be done so.
  func append(to columns: inout [ColumnBuilder]) throws(Failure) -> Bool

  /// Whether the first of the values is, byte by byte, that of the row before. To be asked once for each row.
  func repeatsFirst() -> Bool

  /// The value in that place.
  func value(at place: Int) throws(Failure) -> Value

  /// All of them.
  func values() throws(Failure) -> [Value]

  /// Those of the plan's expressions; an empty list where one has many values.
  func furtherValues() throws(Failure) -> [Value]

  /// Appends the text in that place to a sort key; false when there is none.
  func append(textAt place: Int, to key: inout SortKey, descending: Bool) -> Bool
}

extension [Int64] {
  /// First and last of ids that ascend and have few gaps: a scan of what lies between reads hardly more than they are.
  var denseRange: ClosedRange<Int64>? {
    guard count >= 256, let first, let last, first > 0, last >= first, last - first < 2 * Int64(count) else {
      return nil
    }
    var previous: Int64 = 0
    for id in self {
      if id <= previous { return nil }
      previous = id
    }
    return first...last
  }
}
