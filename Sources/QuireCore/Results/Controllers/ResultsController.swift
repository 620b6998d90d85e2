/// A query kept up to date, gathered in sections, that reports its exact changes.
final class ResultsController: LiveList {
  static let kindName = "results controller"

  let context: Context
  let number: Int64
  /// The contents that it shows.
  var contents: ListContents
  /// The contents that it is about to show, while it reports them: they must take over new ids, too.
  var incoming: ListContents?
  private(set) var isFetched = false
  /// Whether its first fetch is done in the background.
  var isFirstFetchAsked = false
  /// The request that is being fetched in the background, to be shown in the place of the present one.
  var awaited: AwaitedRequest?
  /// The rows of that, which the next notice is to show.
  var preparedRequest: RequestPreparation?
  /// The number of the request that the list shows; 0 for the one that the controller was created with.
  var requestNumber: Int64 = 0
  var lastRequest: Int64 = 0
  /// `ContextClock.change` at the fetch, which has seen everything up to there.
  private(set) var fetchTime: UInt64 = 0
  /// Where the list is in its history.
  private var moment = ListMoment()
  /// The changes of rows while delivery is suspended; nil when it is not.
  var withheld: WithheldChanges?
  /// Whether it is to be fetched anew when delivery is resumed.
  var isAdrift = false
  /// What the next notice is to tell, worked out beside the context.
  var prepared: ListPreparation?
  private weak var lastSnapshot: ListSnapshot?
  /// The objects of the bracket that is being reported: until it has been applied, a row may show a deleted one.
  var bracket: [Int64: ManagedObject]?
  /// While a bracket's changes are worked out but not applied: the objects that got permanent ids, by temporary id.
  var assignedMeanwhile: [Int64: ManagedObject]?
  let generation = Counter()
  /// The program's pointer that is attached to it.
  var userData: AnyObject?
  /// The objects that were read ahead.
  var ahead = ReadAhead()
  /// The keys that it follows beyond its rows.
  var watch: ListWatch

  var delegate: (any ResultsDelegate)? { didSet { forgetTitles() } }
  /// The list in which it stands among others.
  weak var composite: CompositeController?
  let queuesChanges: Bool
  /// The name of the file that fetches come from, or go to.
  let cacheName: Text?
  var queue = ChangeQueue()

  // Made when asked for, forgotten with the next change.
  private var titles: [(title: Text, section: Int)]?
  private var lentSections: [Int: SectionInfo] = [:]

  /// Copies what it needs from `request`.
  init(
    context: Context, request: FetchRequest, sections: Listing.Sectioning, queuesChanges: Bool, spareRows: Int = 256,
    cacheName: Text? = nil
  ) throws(Failure) {
    try context.store.checkOpen()
    let listing = try Listing(request, sections, spareRows: spareRows, in: context)
    self.context = context
    self.queuesChanges = queuesChanges
    self.cacheName = cacheName
    contents = ListContents(listing)
    watch = try ListWatch(listing.query, displaying: [], of: context.store)
    number = context.queuedLists.takeNumber()
    context.announcer.add(self)
  }

  deinit { awaited?.withdraw() }

  var listing: Listing { contents.listing }
  var query: BoundQuery { contents.listing.query }
  var index: SectionedIndex { contents.index }

  /// The composite that has it follow changes together with others.
  var gatherer: CompositeController? { composite?.isFetched == true ? composite : nil }

  /// Fetches anew, without telling the delegate.
  func performFetch() throws(Failure) {
    try prepareToFetch()
    if gatherer != nil {
      throw Failure(
        .invalidState, "The results controller is shown in a composite; fetch that, which fetches all of its lists.")
    }
    let time = context.clock.change
    show(try listing.contents(in: context, cache: cacheName), since: time)
  }

  /// Shows what was fetched at that time of the context.
  func show(_ fresh: ListContents, since time: UInt64) {
    contents = fresh
    isFetched = true
    isFirstFetchAsked = false
    fetchTime = time
    queue = ChangeQueue()
    if withheld != nil { withheld = WithheldChanges() }
    isAdrift = false
    prepared = nil
    context.prepareMerges()
    // The former values of objects cannot be compared with those read now.
    moment = ListMoment()
    noteChange()
  }

  /// Makes changes at these key paths updates of the rows that show them.
  func display(_ keyPaths: [[String]]) throws(Failure) {
    let next = try awaited.map { (awaited) throws(Failure) in
      try ListWatch(awaited.listing.query, displaying: keyPaths, of: context.store)
    }
    watch = try ListWatch(query, displaying: keyPaths, of: context.store)
    if let next { awaited?.watch = next }
  }

  /// Has something calculated of the rows of each section and of the whole list, from the first fetch on.
  func calculate(_ name: String, _ expression: Expression) throws(Failure) {
    try context.store.checkOpen()
    if isFetched {
      throw Failure(
        .invalidState, "The results were fetched already; name what they calculate before the first fetch.")
    }
    var plan = listing.aggregates
    try plan.add(name, expression)
    let listing = try listing.calculating(plan, in: context)
    watch = try ListWatch(listing.query, displaying: watch.displayed, of: context.store)
    contents = ListContents(listing)
  }

  func prepareToFetch() throws(Failure) {
    try checkNotTelling("be fetched again")
    try context.beginFetching()
    var source: Context? = context
    while let some = source {
      some.announcer.settleNews()
      source = some.parent
    }
  }

  /// For what changes what the list shows: pending changes are reported first.
  func prepareToChange(_ what: String) throws(Failure) {
    try checkNotTelling(what)
    try context.process()
  }

  func checkNotTelling(_ what: String) throws(Failure) {
    try context.store.checkOpen()
    if isTelling || gatherer?.isTelling == true {
      throw Failure(
        .invalidState,
        "A results controller cannot \(what) from within its own delegate, or that of its composite. Do it when that "
          + "has returned.")
    }
  }

  // MARK: Reading

  var count: Int { isFetched ? index.count : 0 }
  var sectionCount: Int { isFetched ? index.sectionCount : 0 }
  var isTelling: Bool { bracket != nil }

  func checkFetched() throws(Failure) {
    if !isFetched {
      throw Failure(.invalidState, "The results were not fetched yet, so there is nothing in them; fetch them first.")
    }
  }

  func section(at place: Int) throws(Failure) -> SectionInfo {
    try checkFetched()
    if let lent = lentSections[place] { return lent }
    guard let (key, start, count) = index.section(at: place) else {
      throw Failure(.notFound, "The results have \(sectionCount) sections; there is none at \(place).")
    }
    let info = SectionInfo(
      name: key.name, value: key.value, indexTitle: indexTitle(of: key), start: start, count: count)
    lentSections[place] = info
    return info
  }

  /// What is called so of a section, or of the whole list, and the text of a decimal; both until the next change.
  func aggregate(_ name: String, of section: Int?) throws(Failure) -> (value: Value, text: Text) {
    try checkFetched()
    guard let aggregates = contents.aggregates else {
      throw Failure(.notFound, "The results calculate nothing; name what they should before the first fetch.")
    }
    guard let section else { return try aggregates.value(of: name, in: nil) }
    let handle = index.sectionOrder.node(at: section, in: index.sectionRoot)
    if handle < 0 {
      throw Failure(.notFound, "The results have \(sectionCount) sections; there is none at \(section).")
    }
    return try aggregates.value(of: name, in: handle)
  }

  func indexPath(of object: ManagedObject) throws(Failure) -> IndexPath {
    try checkFetched()
    guard object.context === context, object.entity.rootNumber == query.entity.rootNumber,
      let (path, _) = index.path(of: object.id)
    else { throw Failure(.notFound, "\(object.summary) is not in the results.") }
    return path
  }

  /// The rows and sections as they are now, for good.
  func snapshot() throws(Failure) -> ListSnapshot {
    try checkFetched()
    if let last = lastSnapshot, last.generation == generation.value { return last }
    let made = ListSnapshot(index, at: moment, generation: generation.value)
    lastSnapshot = made
    return made
  }

  func ids(in window: Range<Int>) -> [Int64] { index.ids(in: window) }

  func sectionIndex(containingFlat flat: Int) -> Int? {
    (0..<count).contains(flat) ? index.sectionIndex(containingFlat: flat) : nil
  }

  /// The place of an id counted over all sections; nil when it is not in the list.
  func place(of id: Int64) -> Int? { isFetched ? index.path(of: id)?.flat : nil }

  func sectionsPage(nulSeparated: Bool) throws(Failure) -> Page {
    try ResultsController.sectionsPage([self], nulSeparated: nulSeparated)
  }

  /// All sections of lists that follow each other as columns.
  static func sectionsPage(_ lists: [ResultsController], nulSeparated: Bool) throws(Failure) -> Page {
    let count = lists.reduce(0) { $0 + $1.sectionCount }
    var names = ColumnBuilder(name: "name", kind: .text, capacity: count)
    var titles = ColumnBuilder(name: "indexTitle", kind: .text, capacity: count)
    var keys: [SectionKey] = []
    var starts = ColumnBuilder(name: "start", kind: .integer, capacity: count)
    var counts = ColumnBuilder(name: "count", kind: .integer, capacity: count)
    var first = 0
    for list in lists {
      for place in 0..<list.sectionCount {
        guard let section = list.index.section(at: place) else { continue }
        names.append(.text(section.key.name))
        titles.append(list.indexTitle(of: section.key).map { .text($0) } ?? .nil)
        keys.append(section.key)
        starts.append(.integer(Int64(first + section.start)))
        counts.append(.integer(Int64(section.count)))
      }
      first += list.count
    }
    let values = ColumnBuilder(sectionValues: keys)
    let columns = try [names, titles, starts, counts, values].map { (column) throws(Failure) in
      try column.column(nulSeparated: nulSeparated)
    }
    return Page(rowCount: keys.count, columns: columns)
  }

  func indexTitlesPage(nulSeparated: Bool) throws(Failure) -> Page {
    let found = indexTitles()
    var titles = ColumnBuilder(name: "indexTitle", kind: .text, capacity: found.count)
    for (title, _) in found { titles.append(.text(title)) }
    return Page(rowCount: found.count, columns: [try titles.column(nulSeparated: nulSeparated)])
  }

  // MARK: Index titles

  /// Titles of all sections: those without one are left out, and a run of equal ones counts once.
  func indexTitles() -> [(title: Text, section: Int)] {
    if let titles { return titles }
    var found: [(title: Text, section: Int)] = []
    for section in 0..<sectionCount {
      guard let key = index.section(at: section)?.key, let title = indexTitle(of: key) else { continue }
      if found.last?.title != title { found.append((title, section)) }
    }
    titles = found
    return found
  }

  /// Without a say of the delegate, that of the section rule, or the first letter in upper case; "" for an empty name.
  func indexTitle(of section: SectionKey) -> Text? {
    if let delegate, delegate.hasIndexTitles { return delegate.indexTitle(ofSection: section.name, in: self) }
    return section.indexTitle ?? Text(section.name.string.prefix(1).uppercased())
  }

  private func forgetTitles() {
    titles = nil
    lentSections = [:]
  }

  /// Notes what happened for the sake of snapshots.
  func note(_ report: ChangeSet) {
    noteChange()
    addMoment { $0.after(changed: report.changes.map(\.id), contentsMayDiffer: report.contentsMayDiffer) }
  }

  func note(renamed: [Int64: Int64]) {
    generation.increment()
    addMoment { $0.after(changed: [], renamed: renamed) }
  }

  /// A moment without a snapshot is never asked for later changes.
  private func addMoment(_ next: (ListMoment) -> ListMoment) {
    if !isKnownUniquelyReferenced(&moment) { moment = next(moment) }
  }

  private func noteChange() {
    forgetTitles()
    generation.increment()
  }
}
