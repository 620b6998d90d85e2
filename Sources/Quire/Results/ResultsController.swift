/// A query kept up to date, gathered in sections, that reports its exact changes.
final class ResultsController {
  let context: Context
  /// Ordered by section first; see `init`.
  let query: FetchQuery
  /// Those who watch its fetches.
  private let cancellation: Cancellation?
  private let progress: FetchMonitor.Progress?
  private let isSectioned: Bool
  private let dependencies: [Dependency]
  private(set) var index: SectionedIndex
  private(set) var isFetched = false
  /// `Context.touchCount` at the fetch, which has seen everything up to there.
  private var fetchTime: UInt64 = 0
  /// The objects of the bracket that is being told of: until it has been applied, a row may show one that is gone.
  private var bracket: [Int64: ManagedObject]?
  /// While a bracket's changes are worked out but not applied: the objects that got permanent ids, by temporary id.
  private var assignedMeanwhile: [Int64: ManagedObject]?
  let generation = Counter()

  var delegate: (any ResultsDelegate)? { didSet { forgetTitles() } }
  private let queuesChanges: Bool
  private var queue = ChangeQueue()

  // Made when asked for, forgotten with the next change.
  private var titles: [(title: Text, section: Int)]?
  private var lentSections: [Int: SectionInfo] = [:]

  struct SectionInfo {
    let name: Text
    let indexTitle: Text?
    let start: Int
    let count: Int
  }

  /// Copies what it needs from `request`. When the first sort key is not the section key, the section key goes before
  /// it, ascending: sections are contiguous whatever the request says.
  init(context: Context, request: FetchRequest, sectionKeyPath: String?, queuesChanges: Bool) throws(Failure) {
    try context.store.checkOpen()
    if request.resultType != .objects {
      throw Failure(
        .invalidArgument, "A results controller needs a request for objects; set its result type to objects.")
    }
    if request.limit != 0 || request.offset != 0 {
      throw Failure(
        .unsupported,
        "A results controller cannot keep a limit or an offset true while it is live; fetch with them, "
          + "or leave them out."
      )
    }
    if !request.includesPendingChanges {
      throw Failure(.unsupported, "A results controller follows pending changes; set includes_pending_changes to true.")
    }
    var sort = request.sort
    if let sectionKeyPath {
      let path = try FetchRequest.split(keyPath: sectionKeyPath)
      if sort.first?.keyPath != path { sort.insert(SortDescriptor(keyPath: path), at: 0) }
    }
    self.context = context
    query = try FetchQuery(
      entity: context.model.entity(named: request.entityName), includesSubentities: request.includesSubentities,
      predicate: request.predicate, sort: sort, of: context.store)
    cancellation = request.cancellation
    progress = request.progress
    isSectioned = sectionKeyPath != nil
    dependencies = query.dependencies()
    self.queuesChanges = queuesChanges
    index = SectionedIndex(isSectioned: isSectioned)
    context.add(self)
  }

  /// Fetches anew, without telling the delegate.
  func performFetch() throws(Failure) {
    try context.store.checkOpen()
    if bracket != nil {
      throw Failure(.invalidState, "A results controller cannot be fetched again from within its own delegate.")
    }
    try context.process()
    var query = query
    query.monitor = FetchMonitor(of: query.entity.name, cancellation, progress, in: context)
    let time = context.touchCount
    let (fresh, matching) = try context.store.watched(by: query.monitor) { () throws(Failure) in
      try read(query)
    }
    _ = fresh.apply(matching)
    index = fresh
    isFetched = true
    fetchTime = time
    queue = ChangeQueue()
    noteChange()
  }

  /// What is saved as an index, and what is pending beside it.
  private func read(_ query: FetchQuery) throws(Failure) -> (SectionedIndex, [RowChange]) {
    let overlay = try PendingOverlay(query, in: context)
    var plan = query.plan()
    plan.excluded = overlay.savedIDs
    let fresh = SectionedIndex(isSectioned: isSectioned)
    var loader = SectionedIndex.Loader(fresh)
    var rowKey = RowKey(section: .unsectioned, order: SortKey())
    var lastValue: Value?
    let isSectioned = isSectioned
    try context.store.scan(plan, keyPaths: query.sort.map(\.keyPath)) { (row, values) throws(Failure) in
      if isSectioned, lastValue?.isIdentical(to: values[0]) != true {
        rowKey.section = SectionKey(values[0], query)
        lastValue = values[0]
      }
      query.setSortKey(&rowKey.order, of: row, values)
      loader.add(row.id, rowKey)
    }
    var matching: [RowChange] = []
    for object in overlay.objects where try query.matches(object) {
      matching.append(RowChange(id: object.id, newKey: try key(of: object)))
    }
    loader.finish()
    return (fresh, matching)
  }

  private func key(of object: ManagedObject) throws(Failure) -> RowKey {
    var section = SectionKey.unsectioned
    if isSectioned, let first = query.sort.first {
      section = SectionKey(try object.value(atKeyPath: first.keyPath), query)
    }
    return RowKey(section: section, order: try query.sortKey(of: object))
  }

  /// The oldest change set that was not taken, for controllers that queue.
  func nextChanges() throws(Failure) -> ChangeSet? {
    if !queuesChanges {
      throw Failure(.invalidState, "This results controller does not queue changes; make it with queues_changes.")
    }
    return queue.takeFirst()
  }

  // MARK: Reading

  var count: Int { isFetched ? index.count : 0 }
  var sectionCount: Int { isFetched ? index.sectionCount : 0 }

  private func checkFetched() throws(Failure) {
    if !isFetched {
      throw Failure(.invalidState, "The results were not fetched yet, so there is nothing in them; fetch them first.")
    }
  }

  func section(at place: Int) throws(Failure) -> SectionInfo {
    try checkFetched()
    if let lent = lentSections[place] { return lent }
    guard let (name, start, count) = index.section(at: place) else {
      throw Failure(.notFound, "The results have \(sectionCount) sections; there is none at \(place).")
    }
    let info = SectionInfo(name: name, indexTitle: indexTitle(of: name), start: start, count: count)
    lentSections[place] = info
    return info
  }

  func object(section: Int, row: Int) throws(Failure) -> ManagedObject {
    try checkFetched()
    guard let id = index.id(at: IndexPath(section: section, row: row)) else {
      throw Failure(.notFound, "The results have no row \(row) in section \(section).")
    }
    return try object(withID: id)
  }

  private func object(withID id: Int64) throws(Failure) -> ManagedObject {
    if let object = bracket?[id] { return object }
    let reference = ObjectReference(root: query.entity.rootNumber, id: id)
    if let object = context.registeredObject(reference), !object.isFault { return object }
    guard let row = try context.rows(root: query.entity.root, ids: [id]).first else {
      throw Failure(.notFound, "The row of \(query.entity.name) \(id) is no longer in the store.")
    }
    let object = context.object(for: row)
    // Another writer changed the row: the list takes that on with the next changes, so as not to show it out of order.
    if try key(of: object) != index.key(of: id) { context.touch(object) }
    return object
  }

  func indexPath(of object: ManagedObject) throws(Failure) -> IndexPath {
    try checkFetched()
    guard object.context === context, object.entity.rootNumber == query.entity.rootNumber,
      let (path, _) = index.path(of: object.id)
    else { throw Failure(.notFound, "\(object.summary) is not in the results.") }
    return path
  }

  func ids(_ range: Range<Int>) -> [Int64] { index.ids(in: range) }

  func page(_ range: Range<Int>, keys: [String], nulSeparated: Bool) throws(Failure) -> Page {
    let rows = index.ids(in: range).map { RowIdentifier(id: $0, entity: Int32(query.entity.number)) }
    let list = ObjectList(context: context, entity: query.entity, rows: ContiguousArray(rows), reading: ObjectReading())
    return try list.page(0..<rows.count, keys: keys, nulSeparated: nulSeparated)
  }

  /// All sections as columns.
  func sectionsPage(nulSeparated: Bool) -> Page {
    let count = sectionCount
    var names = ColumnBuilder(name: "name", kind: .text, capacity: count)
    var titles = ColumnBuilder(name: "indexTitle", kind: .text, capacity: count)
    var starts = ColumnBuilder(name: "start", kind: .integer, capacity: count)
    var counts = ColumnBuilder(name: "count", kind: .integer, capacity: count)
    for place in 0..<count {
      guard let section = index.section(at: place) else { continue }
      names.append(.text(section.name))
      titles.append(indexTitle(of: section.name).map { .text($0) } ?? .nil)
      starts.append(.integer(Int64(section.start)))
      counts.append(.integer(Int64(section.count)))
    }
    let columns = [names, titles, starts, counts].map { $0.column(nulSeparated: nulSeparated) }
    return Page(rowCount: count, columns: columns)
  }

  func indexTitlesPage(nulSeparated: Bool) -> Page {
    let found = indexTitles()
    var titles = ColumnBuilder(name: "indexTitle", kind: .text, capacity: found.count)
    for (title, _) in found { titles.append(.text(title)) }
    return Page(rowCount: found.count, columns: [titles.column(nulSeparated: nulSeparated)])
  }

  // MARK: Index titles

  /// Titles of all sections: those without one are left out, and a run of equal ones counts once.
  func indexTitles() -> [(title: Text, section: Int)] {
    if let titles { return titles }
    var found: [(title: Text, section: Int)] = []
    for section in 0..<sectionCount {
      guard let name = index.section(at: section)?.name, let title = indexTitle(of: name) else { continue }
      if found.last?.title != title { found.append((title, section)) }
    }
    titles = found
    return found
  }

  /// Without a say of the delegate, the first letter in upper case; "" for an empty name.
  func indexTitle(of name: Text) -> Text? {
    if let delegate, delegate.hasIndexTitles { return delegate.indexTitle(ofSection: name, in: self) }
    return Text(name.string.prefix(1).uppercased())
  }

  private func forgetTitles() {
    titles = nil
    lentSections = [:]
  }

  private func noteChange() {
    forgetTitles()
    generation.increment()
  }
}

// MARK: Following the context

extension ResultsController: ContextObserver {
  func contextDidChange(_ batch: [ObjectChange]) throws(Failure) {
    if !isFetched { return }
    let objectChanges = batch.filter { $0.time > fetchTime }
    var changes: [RowChange] = []
    var involved: [Int64: ManagedObject] = [:]
    func evaluate(_ candidates: ObjectSet, hasChanged: Bool) throws(Failure) {
      try context.fulfil(candidates)
      for object in candidates {
        var key: RowKey?
        if object.isLive, try object.isStillStored(), try query.matches(object) { key = try self.key(of: object) }
        // A row that did not change itself is told of when the related object that did has given it another key.
        if hasChanged ? key == nil && !index.contains(object.id) : key == index.key(of: object.id) { continue }
        changes.append(RowChange(id: object.id, newKey: key))
        involved[object.id] = object
      }
    }
    var changed = ObjectSet()
    for change in objectChanges where change.object.entity.rootNumber == query.entity.rootNumber {
      changed.insert(change.object)
    }
    try evaluate(changed, hasChanged: true)
    try evaluate(dependents(of: objectChanges, besides: changed), hasChanged: false)
    deliver(changes, involved)
  }

  func follows(_ entity: Entity) -> Bool {
    let root = entity.rootNumber
    return isFetched
      && (query.entity.rootNumber == root
        || dependencies.contains { $0.path.contains { $0.destination.rootNumber == root } })
  }

  func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {
    if !isFetched { return }
    var renamed: [Int64: Int64] = [:]
    for (object, temporary) in objects where object.entity.rootNumber == query.entity.rootNumber {
      renamed[temporary] = object.id
      assignedMeanwhile?[temporary] = object
      guard let present = index.key(of: temporary) else { continue }
      if let key = try? key(of: object), index.replaceID(temporary, with: object.id, key: key) { continue }
      // It belongs elsewhere by its new id. It takes that on where it stands and moves in a bracket.
      _ = index.replaceID(temporary, with: object.id, key: present)
      context.touch(object)
    }
    touchHolders(of: objects.map(\.object))
    if renamed.isEmpty { return }
    // Who takes a change set after the save must find its objects by the ids that they have now.
    queue.rename(renamed)
    generation.increment()
  }

  /// Rows that are ordered by a to-one relationship itself, hence by an id, have new keys when the id changes.
  private func touchHolders(of objects: [ManagedObject]) {
    for path in query.sortPaths {
      guard let last = path.last as? Relationship else { continue }
      let holders = try? context.objects(reaching: objects, along: path.relationships + [last], from: query.entity)
      for object in holders ?? [] where index.contains(object.id) { context.touch(object) }
    }
  }

  /// The objects that reach a changed object through the keys of the query, without those of `known`.
  private func dependents(of changes: [ObjectChange], besides known: ObjectSet) throws(Failure) -> ObjectSet {
    var found = ObjectSet()
    for dependency in dependencies {
      let changed = changes.filter { $0.properties.contains(dependency.property) && dependency.concerns($0.object) }
      for object in try context.objects(reaching: changed.map(\.object), along: dependency.path, from: query.entity)
      where !known.contains(object) { found.insert(object) }
    }
    return found
  }

  /// One bracket. The delegate may be replaced, and the controller let go of, by any of the calls.
  private func deliver(_ changes: [RowChange], _ involved: [Int64: ManagedObject]) {
    if changes.isEmpty { return }
    bracket = involved
    defer { bracket = nil }
    assignedMeanwhile = [:]
    var told = delegate
    told?.willChange(self)
    if delegate !== told {
      told = delegate
      told?.willChange(self)
    }
    let (changes, involved) = withPermanentIDs(changes, involved)
    assignedMeanwhile = nil
    let report = index.apply(changes)
    noteChange()
    if queuesChanges, !report.isEmpty { queue.append(report) }
    // A delegate that comes now sees the new state and is told of what follows it.
    func isStillThere() -> Bool { told != nil && delegate === told }
    for change in report.sectionChanges where isStillThere() { told?.didChangeSection(change, in: self) }
    for change in report.changes where isStillThere() {
      if let object = involved[change.id] { told?.didChangeObject(object, change, in: self) }
    }
    if isStillThere() { told?.didChange(self) }
    if isStillThere() { told?.didReport(report, in: self) }
  }

  /// The same changes by the ids that the objects have after `willChange`, which may have saved them.
  private func withPermanentIDs(
    _ changes: [RowChange], _ involved: [Int64: ManagedObject]
  ) -> ([RowChange], [Int64: ManagedObject]) {
    guard let assigned = assignedMeanwhile, !assigned.isEmpty else { return (changes, involved) }
    var involved = involved
    let changes = changes.map { change in
      guard let object = assigned[change.id] else { return change }
      involved[object.id] = object
      return RowChange(
        id: object.id, newKey: change.newKey.map { (try? key(of: object)) ?? $0 }, isUpdated: change.isUpdated)
    }
    return (changes, involved)
  }
}

extension SectionKey {
  /// nil and empty text make one section, as in Core Data.
  init(_ value: Value, _ query: FetchQuery) {
    var order = SortKey()
    query.append(value.isNil ? .text("") : value, at: 0, to: &order)
    self.init(order: order, name: value.sectionName)
  }
}

extension ChangeSet {
  /// The same changes with other ids for rows that got permanent ones.
  func renaming(_ ids: [Int64: Int64]) -> ChangeSet {
    ChangeSet(
      changes: changes.map { change in
        var change = change
        change.id = ids[change.id] ?? change.id
        return change
      }, sectionChanges: sectionChanges, oldCount: oldCount, newCount: newCount, oldSectionCount: oldSectionCount,
      newSectionCount: newSectionCount)
  }
}
