import Glibc
import Testing

@testable import QuireCore

/// Delegates that do what they like in the midst of a bracket.
@Suite("Results controllers: delegates that act")
struct ResultsDelegateTests {
  /// Listens to new ids before the controllers do, so that the probes know them when they are next told something.
  private final class IDWatch: ContextObserver {
    func loseTrack() {}
    func tellRest() {}
    func preparation() -> (any PreparedObserver)? { nil }
    func follows(_ entity: Entity) -> Bool { true }
    var probes: [ControllerProbe] = []
    func contextDidChange(_ batch: ChangeBatch) {}
    func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {
      for probe in probes {
        var ids: [Int64: Int64] = [:]
        let root = probe.controller.query.entity.rootNumber
        for (object, temporary) in objects where object.entity.rootNumber == root { ids[temporary] = object.id }
        probe.renamedInBracket.merge(ids) { $1 }
        probe.rename(ids)
      }
    }
  }

  @Test("Whatever callbacks do, every controller ends up right", arguments: Dice.seeds(3) + [7_610_948_721_810_518_862])
  func actingDelegates(seed: UInt64) throws {
    print("acting delegates: seed \(seed)")
    let shop = try Bookshop(seed: seed)
    let watch = IDWatch()
    shop.context.announcer.add(watch)
    let probes = try ResultsControllerTests.probes(shop)
    watch.probes = probes
    var reactions = 0
    var failure: (any Error)?
    func react(_ moment: ControllerProbe.Moment) {
      guard reactions < 6, shop.dice.chance(1, of: 5) else { return }
      reactions += 1
      do {
        switch shop.dice.roll(10) {
        case 0: try shop.save()
        case 1: try shop.rollback()
        case 2: try shop.obtainPermanentIDs()
        case 3: _ = try shop.context.fetch(FetchRequest(entityName: "Book")).count
        case 4: try shop.context.process()
        case 5: shop.forget()
        case 6:
          let probe = probes[shop.dice.roll(probes.count)]
          // Not within its own bracket.
          if probe.controller.bracket == nil { try probe.changeQuery(shop) }
        default: try shop.change()
        }
      } catch { failure = error }
    }
    for probe in probes { probe.reaction = { react($0) } }
    for round in 0..<150 {
      let moment = "round \(round) of seed \(seed)"
      reactions = 0
      if shop.dice.chance(1, of: 4) { try probes[shop.dice.roll(probes.count)].changeQuery(shop) }
      for _ in 0..<(1 + shop.dice.roll(4)) { try shop.change() }
      switch shop.dice.roll(4) {
      case 0: try shop.save()
      case 1: try shop.rollback()
      default: try shop.context.process()
      }
      let probe = probes[shop.dice.roll(probes.count)]
      if !probe.isSuspended {
        if shop.dice.chance(1, of: 4) { try probe.suspend() }
      } else {
        try probe.resume(telling: shop.dice.chance(3, of: 4))
      }
      reactions = 6
      try shop.context.process()
      if let failure { throw failure }
      for probe in probes {
        probe.renamedInBracket = [:]
        try probe.check(shop, moment)
      }
    }
    for probe in probes { probe.reaction = nil }
  }

  private final class Delegate: ResultsDelegate {
    var log: [String] = []
    var hasIndexTitles = false, hearsOfObjects = true
    var act: ((String, ResultsController) -> Void)?

    private func note(_ what: String, _ results: ResultsController) {
      log.append(what)
      act?(what, results)
    }

    func willChange(_ results: ResultsController) { note("will", results) }
    func didChangeSection(_ change: SectionChange, in results: ResultsController) { note("section", results) }
    func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController) {
      note("object", results)
    }
    func didChange(_ results: ResultsController) { note("did", results) }
    func didReport(_ changes: ChangeSet, in results: ResultsController) { note("report", results) }
    func indexTitle(ofSection name: Text, in results: ResultsController) -> Text? { name.string.isEmpty ? nil : name }
  }

  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
  }

  private func controller(section: String? = nil, queues: Bool = false) throws -> ResultsController {
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["title"])]
    return try ResultsController(context: context, request: request, sectionKeyPath: section, queuesChanges: queues)
  }

  @discardableResult
  private func book(_ title: String) throws -> ManagedObject {
    let book = try context.insert(entityNamed: "Book")
    try book.set(.text(title), for: book.entity.property(named: "title"))
    return book
  }

  @Test(arguments: ["will", "object", "did", "report"])
  func aSaveInTheMidstOfABracketLeavesPermanentIds(moment: String) throws {
    let results = try controller()
    try results.performFetch()
    let delegate = Delegate()
    let context = context
    delegate.act = { what, _ in if what == moment { try? context.save() } }
    results.delegate = delegate
    let first = try book("a"), second = try book("b")
    try context.process()
    #expect(results.ids(in: 0..<9) == [1, 2])
    #expect(try results.indexPath(of: second) == IndexPath(section: 0, row: 1))
    #expect(try results.object(section: 0, row: 0) === first)
    #expect(delegate.log == ["will", "object", "object", "did", "report"])
    #expect(results.index.checkInvariants().isEmpty)
  }

  @Test func whatADelegateChangesComesInABracketOfItsOwn() throws {
    let results = try controller(section: "title")
    try results.performFetch()
    let delegate = Delegate()
    var isFirst = true
    delegate.act = { [self] what, _ in
      if what == "object", isFirst {
        isFirst = false
        _ = try? book("b")
        try? context.process()
        #expect(results.count == 1)
      }
    }
    results.delegate = delegate
    try book("a")
    try context.process()
    #expect(
      delegate.log == ["will", "section", "object", "did", "report", "will", "section", "object", "did", "report"])
    #expect(results.count == 2)
  }

  @Test func aDelegateThatUnsetsItselfIsToldNothingMore() throws {
    for moment in ["will", "object", "did"] {
      let results = try controller()
      try results.performFetch()
      let delegate = Delegate()
      delegate.act = { what, results in if what == moment { results.delegate = nil } }
      results.delegate = delegate
      try book("a")
      try context.process()
      #expect(delegate.log.last == moment)
      #expect(results.count == (try context.count(FetchRequest(entityName: "Book"))))
    }
  }

  @Test func aNewDelegateIsToldOfWholeBracketsOnly() throws {
    let results = try controller()
    try results.performFetch()
    let first = Delegate(), second = Delegate()
    first.act = { what, results in if what == "object" { results.delegate = second } }
    results.delegate = first
    try book("a")
    try context.process()
    #expect(first.log == ["will", "object"] && second.log.isEmpty)
    try book("b")
    try context.process()
    #expect(second.log == ["will", "object", "did", "report"])

    let third = Delegate()
    second.act = { what, results in if what == "will" { results.delegate = third } }
    try book("c")
    try context.process()
    #expect(third.log == ["will", "object", "did", "report"])
  }

  @Test func aControllerMayBeLetGoOfByItsOwnDelegate() throws {
    var results: ResultsController? = try controller()
    weak let released = results
    try results?.performFetch()
    let delegate = Delegate()
    delegate.act = { what, _ in if what == "will" { results = nil } }
    results?.delegate = delegate
    try book("a")
    try context.process()
    #expect(delegate.log == ["will", "object", "did", "report"])
    #expect(released == nil)
    try book("b")
    try context.process()
    #expect(delegate.log.count == 4)
  }

  @Test func aDelegateThatNeverStopsChangingIsStopped() throws {
    let results = try controller()
    try results.performFetch()
    let delegate = Delegate()
    let book = try book("a")
    var count = 0
    delegate.act = { what, _ in
      count += 1
      if what == "did" { try? book.set(.text("\(count)"), for: book.entity.property(named: "title")) }
    }
    results.delegate = delegate
    let stopped = failure(of: { try context.process() })
    #expect(stopped?.kind == .invalidState)
    delegate.act = nil
    try context.process()
    #expect(results.count == 1)
  }

  @Test func anotherRequestIsToldOnceTheOldStateWasShown() throws {
    for title in ["a", "b", "c"] { try book(title) }
    let results = try controller()
    try results.performFetch()
    let delegate = Delegate()
    var counts: [Int] = []
    delegate.act = { [self] what, results in
      counts.append(results.count)
      // What comes meanwhile has a bracket of its own, and is among the new rows.
      if what == "will", counts.count == 1 {
        _ = try? book("bb")
        try? context.save()
      }
    }
    results.delegate = delegate
    let request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse("title BEGINSWITH 'b'")
    try results.setRequest(request, sectionKeyPath: nil)
    #expect(delegate.log == ["will", "object", "object", "did", "report", "will", "object", "did", "report"])
    #expect(counts == [3, 1, 1, 1, 1, 1, 2, 2, 2])
    #expect(failure(of: { try results.setRequest(FetchRequest(entityName: "Person"), sectionKeyPath: nil) }) != nil)
    #expect(results.count == 2)
  }

  @Test func rowsThatNobodyReadAreToldOfWithTheirObjects() throws {
    for number in 0..<600 { try book("\(number)") }
    try context.save()
    let other = Context(store: library.store)
    let request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse("title == 'none'")
    let results = try ResultsController(context: other, request: request, sectionKeyPath: nil, queuesChanges: false)
    try results.performFetch()
    let probe = ObjectNotes()
    results.delegate = probe
    try results.setRequest(FetchRequest(entityName: "Book"), sectionKeyPath: nil)
    #expect(probe.titles == (0..<600).map { "\($0)" })
  }

  @Test("A delegate that hears of no objects has none read", arguments: [true, false])
  func withoutObjects(hearsOfObjects: Bool) throws {
    let results = try controller(), other = Context(store: library.store)
    try results.performFetch()
    let delegate = Delegate()
    delegate.hearsOfObjects = hearsOfObjects
    var known = 0
    delegate.act = { [context] _, _ in known = max(known, context.registeredObjects.count) }
    results.delegate = delegate
    // Worked out beside the context, so that the merge itself needs no objects.
    library.store.fewestRows.store(1, ordering: .relaxed)
    context.mergesAutomatically = true
    context.prepareMerges()
    for _ in 0..<20 { _ = try other.insert(entityNamed: "Book") }
    try other.save()
    let preparation = try #require(context.preparation)
    OtherThread.wait { preparation.isReady }
    try context.merge()
    #expect(delegate.log.contains("did") && delegate.log.contains("report"))
    #expect(delegate.log.contains("object") == hearsOfObjects)
    #expect(known == (hearsOfObjects ? 20 : 0))
  }

  /// Reads the objects that it is told of.
  private final class ObjectNotes: ResultsDelegate {
    var titles: [String] = []
    let hasIndexTitles = false
    func willChange(_ results: ResultsController) {}
    func didChangeSection(_ change: SectionChange, in results: ResultsController) {}
    func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController) {
      if case .text(let title) = try? object.value(forKey: "title") { titles.append(title.string) }
    }
    func didChange(_ results: ResultsController) {}
    func didReport(_ changes: ChangeSet, in results: ResultsController) {}
    func indexTitle(ofSection name: Text, in results: ResultsController) -> Text? { nil }
  }

  @Test func aSuspendedListStaysAsItIsAndIsToldOfAllAtOnce() throws {
    let first = try book("a"), second = try book("b")
    let results = try controller(section: "title", queues: true)
    try results.performFetch()
    let delegate = Delegate()
    results.delegate = delegate
    try results.suspend()
    let generation = results.generation.value
    try context.delete(first)
    try book("c")
    try context.save()
    try second.set(.text("d"), for: second.entity.property(named: "title"))
    try context.process()
    #expect(results.ids(in: 0..<9) == [1, 2] && delegate.log.isEmpty && results.generation.value == generation)
    #expect(try results.object(section: 0, row: 0) === first && results.nextChanges() == nil)
    #expect(failure(of: { try results.suspend() })?.kind == .invalidState)
    #expect(
      failure(of: { try results.setRequest(FetchRequest(entityName: "Book"), sectionKeyPath: nil) })?.kind
        == .invalidState)
    try results.resume(telling: true)
    #expect(results.ids(in: 0..<9) == [3, 2])
    #expect(delegate.log.filter { $0 == "will" }.count == 1)
    #expect(try results.nextChanges()?.changes.map(\.kind) == [.delete, .insert, .move])
    #expect(failure(of: { try results.resume(telling: true) })?.kind == .invalidState)
  }

  @Test func aResumptionMayBeSilent() throws {
    let rows = try ["a", "b", "c"].map { try book($0) }
    let results = try controller(queues: true)
    try results.performFetch()
    let delegate = Delegate()
    results.delegate = delegate
    try results.suspend()
    // As a user has dragged it.
    try rows[0].set(.text("bb"), for: rows[0].entity.property(named: "title"))
    try results.resume(telling: false)
    #expect(results.ids(in: 0..<9) == [2, 1, 3] && delegate.log.isEmpty)
    #expect(try results.nextChanges() == nil)
    try rows[0].set(.text("z"), for: rows[0].entity.property(named: "title"))
    try context.process()
    #expect(results.ids(in: 0..<9) == [2, 3, 1] && delegate.log.count == 4)
  }

  @Test func whatWasUnsavedWhenItWasSuspendedIsThereWithItsNewId() throws {
    let results = try controller()
    try results.performFetch()
    func insert(_ title: String) throws {
      let made = try library.store.withoutReservedIDs { () throws(Failure) in try context.insert(entityNamed: "Book") }
      try made.set(.text(title), for: made.entity.property(named: "title"))
    }
    try insert("b")
    try context.process()
    try results.suspend()
    try insert("a")
    try context.process()
    try context.save()
    #expect(results.ids(in: 0..<9) == [1])
    try results.resume(telling: true)
    #expect(results.ids(in: 0..<9) == [2, 1] && results.index.checkInvariants().isEmpty)
  }

  @Test func whatADelegateFailsWithComesOutWhenAllHaveBeenTold() throws {
    let failing = try controller(), other = try controller()
    try failing.performFetch()
    try other.performFetch()
    let first = Delegate(), second = Delegate()
    first.act = { what, results in
      if what == "object" { try? results.delegateFailed("the view is gone") }
      if what == "did" { try? results.delegateFailed("another reason") }
    }
    failing.delegate = first
    other.delegate = second
    #expect(failure(of: { try failing.delegateFailed("nothing runs") })?.kind == .invalidState)
    try book("a")
    let met = failure(of: { try context.save() })
    #expect(met?.kind == .function && met?.message.string.hasSuffix("the view is gone") == true)
    #expect(first.log == ["will", "object", "did", "report"] && second.log == first.log)
    #expect(failing.count == 1 && context.hasChanges)
    try context.save()
    #expect(!context.hasChanges && other.count == 1)
  }

  @Test func noDelegateMayFetchItsOwnControllerAnew() throws {
    let results = try controller()
    try results.performFetch()
    let delegate = Delegate()
    var kinds: [Failure.Kind] = []
    delegate.act = { _, results in
      if let failure = failure(of: { try results.performFetch() }) { kinds.append(failure.kind) }
    }
    results.delegate = delegate
    try book("a")
    try context.process()
    #expect(kinds == [.invalidState, .invalidState, .invalidState, .invalidState])
    #expect(results.count == 1)
  }

  @Test func sectionsByARelationshipTakeOnThePermanentId() throws {
    let results = try controller(section: "author")
    try results.performFetch()
    let author = try library.store.withoutReservedIDs { () throws(Failure) in
      try context.insert(entityNamed: "Person")
    }
    let first = try book("a")
    try first.set(.object(author.reference), for: first.entity.property(named: "author"))
    try context.process()
    #expect(try results.section(at: 0).name.string == "-1")
    try context.save()
    #expect(try results.section(at: 0).name.string == "1")
    let second = try book("b")
    try second.set(.object(author.reference), for: second.entity.property(named: "author"))
    try context.process()
    #expect(results.sectionCount == 1 && results.count == 2)
  }

  @Test func queuedChangesKnowTheIdsOfTheirObjectsAfterASave() throws {
    let results = try controller(queues: true)
    try results.performFetch()
    try book("a")
    try context.process()
    try context.save()
    #expect(try results.nextChanges()?.changes.map(\.id) == [1])
    #expect(try results.nextChanges() == nil)
  }

  @Test func aRowThatVanishedFromTheStoreLeavesTheListWithTheMerge() throws {
    try book("a")
    let kept = try book("b")
    try context.save()
    let other = Context(store: library.store)
    let request = FetchRequest(entityName: "Book")
    let results = try ResultsController(context: other, request: request, sectionKeyPath: nil, queuesChanges: true)
    try results.performFetch()
    let fault = other.object(try library.reference("Book", 1), entity: try library.entity("Book"))
    _ = try library.sql("DELETE FROM ZBOOK WHERE Z_PK = 1")
    #expect(try fault.value(forKey: "title").isIdentical(to: .text("a")))
    try other.process()
    #expect(results.ids(in: 0..<9) == [1, kept.id])
    try other.merge()
    #expect(fault.isDeleted)
    #expect(results.ids(in: 0..<9) == [kept.id])
  }

  @Test func indexTitlesLeaveOutSectionsWithoutOneAndCountRunsOnce() throws {
    for title in ["", "apple", "avocado", "Bean", "berry"] { try book(title) }
    let results = try controller(section: "title")
    try results.performFetch()
    #expect(results.indexTitles().map(\.title.string) == ["", "B", "A", "B"])
    let delegate = Delegate()
    delegate.hasIndexTitles = true
    results.delegate = delegate
    #expect(results.indexTitles().map(\.title.string) == ["Bean", "apple", "avocado", "berry"])
  }
}
