/// A query kept up to date, gathered in sections, that reports its exact changes.
final class ResultsController {
  let context: Context
  /// Ordered by section first; see `init`.
  let query: FetchQuery
  private let isSectioned: Bool
  private let dependencies: [[Relationship]]
  private(set) var index: SectionedIndex
  private(set) var isFetched = false
  private var isInBracket = false
  let generation = Counter()

  var delegate: (any ResultsDelegate)? { didSet { forgetTitles() } }
  private let queuesChanges: Bool
  private var queue: [ChangeSet] = []

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
      throw Failure(.invalidArgument, "A results controller needs a request for objects; set its result type to objects.")
    }
    if request.limit != 0 || request.offset != 0 {
      throw Failure(
        .unsupported, "A results controller cannot keep a limit or an offset true while it is live; fetch with them, or leave them out.")
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
      predicate: request.predicate, sort: sort)
    isSectioned = sectionKeyPath != nil
    dependencies = query.dependencies()
    self.queuesChanges = queuesChanges
    index = SectionedIndex(isSectioned: isSectioned)
    context.add(self)
  }

  /// Fetches anew, without telling the delegate.
  func performFetch() throws(Failure) {
    try context.store.checkOpen()
    if isInBracket {
      throw Failure(.invalidState, "A results controller cannot be fetched again from within its own delegate.")
    }
    try context.process()
    let overlay = try PendingOverlay(query, in: context)
    var plan = query.plan()
    plan.excluded = overlay.savedIDs
    var rows: [(id: Int64, key: RowKey)] = []
    var section = SectionKey.unsectioned
    var lastValue: Value?
    let isSectioned = isSectioned, query = query
    let isDescending = query.sort.first?.isAscending == false
    try context.store.scan(plan, keyPaths: query.sort.map(\.keyPath)) { (row, values) throws(Failure) in
      if isSectioned, lastValue?.isIdentical(to: values[0]) != true {
        section = SectionKey(values[0], isDescending: isDescending)
        lastValue = values[0]
      }
      rows.append((row.id, RowKey(section: section, order: query.sortKey(of: row, values))))
    }
    var matching: [RowChange] = []
    for object in overlay.objects where try query.matches(object) {
      matching.append(RowChange(id: object.id, newKey: try key(of: object)))
    }
    let fresh = SectionedIndex(isSectioned: isSectioned)
    fresh.load(rows)
    _ = fresh.apply(matching)
    index = fresh
    isFetched = true
    queue = []
    noteChange()
  }

  private func key(of object: ManagedObject) throws(Failure) -> RowKey {
    var section = SectionKey.unsectioned
    if isSectioned, let first = query.sort.first {
      section = SectionKey(try object.value(atKeyPath: first.keyPath), isDescending: !first.isAscending)
    }
    return RowKey(section: section, order: try query.sortKey(of: object))
  }

  /// The oldest change set that was not taken, for controllers that queue.
  func nextChanges() throws(Failure) -> ChangeSet? {
    if !queuesChanges {
      throw Failure(.invalidState, "This results controller does not queue changes; make it with queues_changes.")
    }
    return queue.isEmpty ? nil : queue.removeFirst()
  }

  // MARK: Reading

  var count: Int { isFetched ? index.count : 0 }
  var sectionCount: Int { isFetched ? index.sectionCount : 0 }

  func section(at place: Int) throws(Failure) -> SectionInfo {
    if let lent = lentSections[place] { return lent }
    guard isFetched, let (name, start, count) = index.section(at: place) else {
      throw Failure(.notFound, "The results have \(sectionCount) sections; there is none at \(place).")
    }
    let info = SectionInfo(name: name, indexTitle: indexTitle(of: name), start: start, count: count)
    lentSections[place] = info
    return info
  }

  func object(section: Int, row: Int) throws(Failure) -> ManagedObject {
    guard isFetched, let id = index.id(at: IndexPath(section: section, row: row)) else {
      throw Failure(.notFound, "The results have no row \(row) in section \(section).")
    }
    return try object(withID: id)
  }

  private func object(withID id: Int64) throws(Failure) -> ManagedObject {
    let reference = ObjectReference(root: query.entity.rootNumber, id: id)
    if let object = context.registeredObject(reference), !object.isFault { return object }
    guard let row = try context.store.rows(root: query.entity.root, ids: [id]).first else {
      throw Failure(.notFound, "The row of \(query.entity.name) \(id) is no longer in the store.")
    }
    return context.object(for: row)
  }

  func indexPath(of object: ManagedObject) throws(Failure) -> IndexPath {
    guard isFetched, object.context === context, object.entity.rootNumber == query.entity.rootNumber,
      let (path, _) = index.path(of: object.id)
    else { throw Failure(.notFound, "\(object.summary) is not in the results.") }
    return path
  }

  func ids(_ range: Range<Int>) -> [Int64] { index.ids(in: range) }

  func page(_ range: Range<Int>, keys: [String], nulSeparated: Bool) throws(Failure) -> Page {
    let rows = index.ids(in: range).map { RowIdentifier(id: $0, entity: Int32(query.entity.number)) }
    let list = ObjectList(context: context, entity: query.entity, rows: ContiguousArray(rows), batchSize: 0)
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
  func contextDidChange(_ objects: [ManagedObject]) throws(Failure) {
    if !isFetched { return }
    var changes: [RowChange] = []
    var involved: [Int64: ManagedObject] = [:]
    for object in try candidates(objects) {
      let key = try query.matches(object) ? try key(of: object) : nil
      if key == nil, !index.contains(object.id) { continue }
      changes.append(RowChange(id: object.id, newKey: key))
      involved[object.id] = object
    }
    deliver(changes, involved)
  }

  func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) throws(Failure) {
    if !isFetched { return }
    var displaced: [RowChange] = []
    var involved: [Int64: ManagedObject] = [:]
    var renamed: [Int64: Int64] = [:]
    for (object, temporary) in objects where object.entity.rootNumber == query.entity.rootNumber {
      renamed[temporary] = object.id
      if !index.contains(temporary) { continue }
      let key = try key(of: object)
      if !index.replaceID(temporary, with: object.id, key: key) {
        displaced.append(RowChange(id: temporary, newKey: nil))
        displaced.append(RowChange(id: object.id, newKey: key))
        involved[temporary] = object
        involved[object.id] = object
      }
    }
    if renamed.isEmpty { return }
    // Who takes a change set after the save must find its objects by the ids that they have now.
    queue = queue.map { $0.renaming(renamed) }
    generation.increment()
    deliver(displaced, involved)
  }

  /// The objects of this query among the changed ones, and those that reach a changed object through the query's keys.
  private func candidates(_ changed: [ManagedObject]) throws(Failure) -> ObjectSet {
    var found = ObjectSet()
    for object in changed where object.entity.rootNumber == query.entity.rootNumber { found.insert(object) }
    for path in dependencies {
      guard let destination = path.last?.destination else { continue }
      let related = changed.filter { $0.entity.isKind(of: destination) }.map(\.reference)
      if related.isEmpty { continue }
      let ids = try context.store.ids(reaching: related, along: path, from: query.entity)
      for row in try context.store.rows(root: query.entity.root, ids: ids) { found.insert(context.object(for: row)) }
      // What is not saved yet, the store cannot know.
      let targets = Set(related)
      for object in context.pending where object.isLive && object.entity.isKind(of: query.entity) {
        if case .object(let box) = try object.value(atKeyPath: path.map(\.name)), targets.contains(box.reference) {
          found.insert(object)
        }
      }
    }
    return found
  }

  /// One bracket. The delegate may be replaced, and the controller let go of, by any of the calls.
  private func deliver(_ changes: [RowChange], _ involved: [Int64: ManagedObject]) {
    if changes.isEmpty { return }
    isInBracket = true
    defer { isInBracket = false }
    delegate?.willChange(self)
    let report = index.apply(changes)
    noteChange()
    if queuesChanges, !report.isEmpty { queue.append(report) }
    if delegate != nil {
      for change in report.sectionChanges { delegate?.didChangeSection(change, in: self) }
      for change in report.changes {
        if let object = involved[change.id] { delegate?.didChangeObject(object, change, in: self) }
      }
    }
    delegate?.didChange(self)
    delegate?.didReport(report, in: self)
  }
}

extension SectionKey {
  /// nil and empty text make one section, as in Core Data.
  init(_ value: Value, isDescending: Bool) {
    var order = SortKey()
    if case .nil = value {
      order.append(.text(""), descending: isDescending)
    } else {
      order.append(value, descending: isDescending)
    }
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
