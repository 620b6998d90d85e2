/// Several controllers of one context, whose sections follow each other as those of one list.
///
/// A composite holds no rows: it shows those of its children. For that the children are brought up to date together. At
/// any time all of them show the old state, or all the new one.
final class CompositeController: LiveList {
  static let kindName = "composite"

  let context: Context
  let number: Int64
  private(set) var children: [ResultsController] = []
  private(set) var isFetched = false
  private(set) var isTelling = false
  let generation = Counter()
  /// The program's pointer that is attached to it.
  var userData: AnyObject?
  var delegate: (any CompositeDelegate)?
  let queuesChanges: Bool
  var queue = ChangeQueue()

  init(context: Context, queuesChanges: Bool) throws(Failure) {
    try context.store.checkOpen()
    self.context = context
    self.queuesChanges = queuesChanges
    number = context.queuedLists.takeNumber()
    context.announcer.add(self)
  }

  /// Puts a controller behind the others.
  func add(_ child: ResultsController) throws(Failure) {
    if isFetched {
      throw Failure(.invalidState, "The composite was fetched already; children are added before that.")
    }
    if child.context !== context {
      throw Failure(.invalidArgument, "The results controller is of another context than the composite.")
    }
    if child.composite != nil {
      throw Failure(.invalidArgument, "The results controller is in a composite already; make another one for this.")
    }
    child.composite = self
    children.append(child)
  }

  /// Fetches all children anew, without a report. On failure they keep their rows.
  func performFetch() throws(Failure) {
    if children.isEmpty {
      throw Failure(.invalidState, "The composite has no children; add some before it is fetched.")
    }
    if isTelling {
      throw Failure(
        .invalidState, "A composite cannot be fetched again from within its own delegate. Do it when that has returned."
      )
    }
    for child in children { try child.prepareToFetch() }
    let time = context.clock.change
    var fresh: [ListContents] = []
    for child in children { fresh.append(try child.listing.contents(in: context, cache: child.cacheName)) }
    for (child, contents) in zip(children, fresh) { child.show(contents, since: time) }
    isFetched = true
    queue = ChangeQueue()
    generation.increment()
  }

  // MARK: Reading

  var count: Int { isFetched ? children.reduce(0) { $0 + $1.count } : 0 }
  var sectionCount: Int { isFetched ? children.reduce(0) { $0 + $1.sectionCount } : 0 }

  func checkFetched() throws(Failure) {
    if !isFetched {
      throw Failure(.invalidState, "The composite was not fetched yet, so there is nothing in it; fetch it first.")
    }
  }

  /// The first section and the first row of a child.
  func start(of place: Int) -> (section: Int, flat: Int) {
    children[..<place].reduce((section: 0, flat: 0)) { ($0.section + $1.sectionCount, $0.flat + $1.count) }
  }

  /// The child of a section, the section's place there, and the first row of the child.
  func child(ofSection section: Int) throws(Failure) -> (place: Int, section: Int, flat: Int) {
    try checkFetched()
    var rest = section, flat = 0
    for (place, child) in children.enumerated() where section >= 0 {
      if rest < child.sectionCount { return (place, rest, flat) }
      rest -= child.sectionCount
      flat += child.count
    }
    throw Failure(.notFound, "The composite has \(sectionCount) sections; there is none at \(section).")
  }

  func section(at section: Int) throws(Failure) -> SectionInfo {
    let (place, inner, flat) = try child(ofSection: section)
    let info = try children[place].section(at: inner)
    return SectionInfo(
      name: info.name, value: info.value, indexTitle: info.indexTitle, start: flat + info.start, count: info.count)
  }

  func object(section: Int, row: Int) throws(Failure) -> ManagedObject {
    let (place, inner, _) = try child(ofSection: section)
    return try children[place].object(section: inner, row: row)
  }

  /// Where the first child stands that has the object.
  func indexPath(of object: ManagedObject) throws(Failure) -> IndexPath {
    try checkFetched()
    for (place, child) in children.enumerated() {
      guard let path = try? child.indexPath(of: object) else { continue }
      return IndexPath(section: start(of: place).section + path.section, row: path.row)
    }
    throw Failure(.notFound, "\(object.summary) is not in the composite.")
  }

  func ids(in window: Range<Int>) -> [Int64] {
    var ids: [Int64] = []
    var first = 0
    for child in children {
      let part = window.clamped(to: first..<first + child.count)
      ids += child.ids(in: part.lowerBound - first..<part.upperBound - first)
      first += child.count
    }
    return ids
  }

  func sectionIndex(containingFlat flat: Int) -> Int? {
    var rest = flat, sections = 0
    for child in isFetched && flat >= 0 ? children : [] {
      if rest < child.count { return child.index.sectionIndex(containingFlat: rest).map { sections + $0 } }
      rest -= child.count
      sections += child.sectionCount
    }
    return nil
  }

  func sectionsPage(nulSeparated: Bool) throws(Failure) -> Page {
    try ResultsController.sectionsPage(isFetched ? children : [], nulSeparated: nulSeparated)
  }
}

/// Following the context, in place of the children.
extension CompositeController: ContextObserver {
  func contextDidChange(_ batch: ChangeBatch) throws(Failure) {
    if !isFetched { return }
    var brackets: [ResultsBracket] = []
    for child in children {
      if let bracket = try child.makeBracket(for: batch) { brackets.append(bracket) }
    }
    if !brackets.isEmpty { deliver(brackets) }
  }

  /// Its children do that.
  func loseTrack() {}
  func preparation() -> (any PreparedObserver)? { nil }

  func tellRest() throws(Failure) {
    if !isFetched { return }
    var brackets: [ResultsBracket] = []
    for child in children { if let bracket = try child.restBracket() { brackets.append(bracket) } }
    if !brackets.isEmpty { try context.notifying { deliver(brackets) } }
  }

  /// Its children say that.
  func follows(_ entity: Entity) -> Bool { false }

  func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {
    queue.rename(Dictionary(objects.map { ($0.temporary, $0.object.id) }) { $1 })
    generation.increment()
  }

  /// One bracket around those of children, each at most once: all announce, all change, then all report.
  func deliver(_ brackets: [ResultsBracket]) {
    isTelling = true
    for bracket in brackets { bracket.open() }
    var told = delegate
    told?.willChange(self)
    if delegate !== told {
      told = delegate
      told?.willChange(self)
    }
    for bracket in brackets { bracket.announce() }
    var sets = children.map { ChangeSet(unchanged: $0.count, sections: $0.sectionCount) }
    for (place, child) in children.enumerated() {
      if let bracket = brackets.first(where: { $0.results === child }) { sets[place] = bracket.apply() }
    }
    let report = ChangeSet(joining: sets).drawing { ids(in: $0..<$0 + 1).first }
    generation.increment()
    enqueue(report)
    for bracket in brackets {
      if let place = children.firstIndex(where: { $0 === bracket.results }) { bracket.deliver(sets[place]) }
    }
    if let told { deliver(report, to: told) }
    for bracket in brackets { bracket.close() }
    isTelling = false
  }

  private func deliver(_ report: ChangeSet, to told: any CompositeDelegate) {
    func isStillThere() -> Bool { delegate === told }
    for change in report.sectionChanges where isStillThere() {
      told.didChangeSection(change, of: children[report.part(of: change)], in: self)
    }
    let step = 256, count = told.hearsOfObjects ? report.changes.count : 0
    for start in stride(from: 0, to: count, by: step) where isStillThere() {
      let some = report.changes[start..<min(start + step, report.changes.count)]
      var objects: [Int: IndexingIterator<[ManagedObject]>] = [:]
      for (place, changes) in Dictionary(grouping: some, by: { report.part(of: $0) }) {
        objects[place] = children[place].objects(of: changes).makeIterator()
      }
      for change in some where isStillThere() {
        let place = report.part(of: change)
        if let object = objects[place]?.next() {
          told.didChangeObject(object, change, of: children[place], in: self)
        }
      }
    }
    if isStillThere() { told.didChange(self) }
    if isStillThere() { told.didReport(report, in: self) }
  }
}

/// Notified of a composite's changes, in the order of these methods; the ABI layer turns them into C callbacks.
protocol CompositeDelegate: AnyObject {
  func willChange(_ composite: CompositeController)
  func didChangeSection(_ change: SectionChange, of child: ResultsController, in composite: CompositeController)
  /// Called only when `hearsOfObjects`: the objects are read for it.
  func didChangeObject(
    _ object: ManagedObject, _ change: Change, of child: ResultsController, in composite: CompositeController)
  var hearsOfObjects: Bool { get }
  func didChange(_ composite: CompositeController)
  func didReport(_ changes: ChangeSet, in composite: CompositeController)
}

extension CompositeDelegate {
  var hearsOfObjects: Bool { true }
}
