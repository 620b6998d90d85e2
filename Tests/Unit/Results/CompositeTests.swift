import Testing

@testable import QuireCore

/// A composite of controllers whose delegates write down what they are told, beside the lists that it must show.
private final class CompositeProbe: CompositeDelegate {
  let composite: CompositeController
  let children: [ControllerProbe]
  /// As a list on screen that applies the reports would show.
  private var shown: [[Int64]]
  private(set) var problems: [String] = []
  private(set) var brackets = 0
  private var told: [Change] = []
  private var toldSections: [SectionChange] = []
  private var isOpen = false

  init(_ context: Context, _ children: [ControllerProbe]) throws {
    self.children = children
    composite = try CompositeController(context: context, queuesChanges: true)
    for child in children { try composite.add(child.controller) }
    try composite.performFetch()
    shown = children.flatMap { ControllerProbe.lists($0.controller) }
    composite.delegate = self
  }

  func rename(_ ids: [[Int64: Int64]]) {
    var first = 0
    for (child, ids) in zip(children, ids) {
      for section in first..<first + child.controller.sectionCount {
        shown[section] = shown[section].map { ids[$0] ?? $0 }
      }
      first += child.controller.sectionCount
    }
  }

  private func note(_ isRight: Bool, _ problem: String) { if !isRight { problems.append(problem) } }

  func willChange(_ composite: CompositeController) {
    note(!isOpen, "a bracket opened inside another")
    (isOpen, told, toldSections) = (true, [], [])
    brackets += 1
    note(children.flatMap { ControllerProbe.lists($0.controller) } == shown, "willChange shows another state")
  }

  func didChangeSection(_ change: SectionChange, of child: ResultsController, in composite: CompositeController) {
    note(isOpen && told.isEmpty, "a section out of place")
    toldSections.append(change)
  }

  func didChangeObject(
    _ object: ManagedObject, _ change: Change, of child: ResultsController, in composite: CompositeController
  ) {
    note(object.entity.rootNumber == child.query.entity.rootNumber, "an object of another child")
    if change.newSection >= 0 {
      let found = try? composite.child(ofSection: change.newSection)
      note(found.map { composite.children[$0.place] === child } == true, "a change of another child")
    }
    told.append(change)
  }

  func didChange(_ composite: CompositeController) { note(isOpen, "a bracket closed that was not open") }

  func didReport(_ report: ChangeSet, in composite: CompositeController) {
    isOpen = false
    // It is empty where only aggregates of children changed.
    note(report.changes == told && report.sectionChanges == toldSections, "the report differs")
    let classic = Replay.classic(report, on: shown), linear = Replay.linear(report.steps, on: shown)
    note(classic != nil && classic == linear, "replays differ: \(String(describing: classic)) from \(shown)")
    if let classic, let problem = PlanReplay.problem(report, from: shown, to: classic) { problems.append(problem) }
    note(Self.isOrdered(report), "changes out of order")
    for change in report.changes where change.kind == .move {
      note(
        report.parts.count { $0.oldSection <= change.oldSection }
          == report.parts.count { $0.newSection <= change.newSection }, "a move from child to child")
    }
    for place in 0..<report.oldCount where report.mapPosition(oldFlat: place) != nil {
      let new = report.mapPosition(oldFlat: place) ?? -1
      note(classic.map { Array($0.joined())[new] } == Array(shown.joined())[place], "a position mapped elsewhere")
    }
    shown = classic ?? []
  }

  private static func isOrdered(_ report: ChangeSet) -> Bool {
    let groups: [[Int]] = [
      report.changes.filter { $0.kind == .delete }.map { -$0.oldFlat },
      report.changes.filter { $0.kind == .insert }.map(\.newFlat),
      report.changes.filter { $0.kind == .move }.map(\.newFlat),
      report.changes.filter { $0.kind == .update }.map(\.newFlat),
      report.sectionChanges.filter { $0.kind == .delete }.map { -$0.index },
      report.sectionChanges.filter { $0.kind == .insert }.map(\.index),
    ]
    return groups.allSatisfy { zip($0, $0.dropFirst()).allSatisfy(<) }
  }

  func check(_ shop: Bookshop, _ moment: String) throws {
    for child in children { try child.check(shop, moment) }
    try #require(problems.isEmpty, "\(problems.first ?? ""), \(moment)")
    let wanted = children.flatMap { ControllerProbe.lists($0.controller) }
    try #require(shown == wanted, "as replayed, \(moment)")
    try #require(composite.sectionCount == wanted.count)
    try #require(composite.ids(in: 0..<composite.count) == Array(wanted.joined()))
    var flat = 0
    for (place, ids) in wanted.enumerated() {
      let info = try composite.section(at: place)
      try #require(info.start == flat && info.count == ids.count, "\(moment)")
      for (row, id) in ids.enumerated() {
        let object = try composite.object(section: place, row: row)
        try #require(object.id == id && composite.sectionIndex(containingFlat: flat + row) == place, "\(moment)")
        let path = try composite.indexPath(of: object)
        try #require(path <= IndexPath(section: place, row: row) && wanted[path.section][path.row] == id, "\(moment)")
      }
      flat += ids.count
    }
    try #require(composite.count == flat && composite.sectionIndex(containingFlat: flat) == nil)
  }
}

@Suite("Composites")
struct CompositeTests {
  @Test("A composite shows its children one behind the other, and what it reports replays", arguments: Dice.seeds(3))
  func histories(seed: UInt64) throws {
    print("composite history: seed \(seed)")
    let shop = try Bookshop(seed: seed)
    let alone = try ResultsControllerTests.probes(shop)
    let chosen = shop.dice.shuffled(try ResultsControllerTests.probes(shop))
    let probe = try CompositeProbe(shop.context, Array(chosen.prefix(6)))
    for round in 0..<100 {
      let moment = "round \(round) of seed \(seed)"
      for _ in 0..<(1 + shop.dice.roll(5)) { try shop.change() }
      let before = probe.brackets
      switch shop.dice.roll(8) {
      case 0, 1:
        let roots = probe.children.map { $0.controller.query.entity.rootNumber }
        let watch = IDWatch(shop.context, roots, probe.rename)
        try ResultsControllerTests.assigningIDs(shop, alone + probe.children) { try shop.save() }
        withExtendedLifetime(watch) {}
      case 2: try shop.rollback()
      default:
        try shop.context.process()
        try #require(probe.brackets <= before + 1, "one processing, one bracket, \(moment)")
      }
      try probe.check(shop, moment)
      for child in probe.children {
        if child.isSuspended {
          if shop.dice.chance(1, of: 3) { try child.resume(telling: true) }
        } else if shop.dice.chance(1, of: 20) {
          try child.suspend()
        } else if shop.dice.chance(1, of: 10) {
          try child.changeQuery(shop)
        }
      }
      try probe.check(shop, "\(moment), with other requests")
      if shop.dice.chance(1, of: 8) { shop.forget() }
    }
    // What was queued, by the ids that the objects have now, is what happened.
    while let report = try probe.composite.nextChanges() {
      try #require(report.parts.count == probe.children.count && !report.isEmpty)
    }
    for child in alone { try child.check(shop, "beside the composite") }
  }

  /// Tells of new ids, child by child.
  private final class IDWatch: ContextObserver {
    private let heard: ([[Int64: Int64]]) -> Void
    private let roots: [Int]

    init(_ context: Context, _ roots: [Int], _ heard: @escaping ([[Int64: Int64]]) -> Void) {
      self.heard = heard
      self.roots = roots
      context.announcer.add(self)
    }

    func loseTrack() {}
    func tellRest() {}
    func preparation() -> (any PreparedObserver)? { nil }
    func follows(_ entity: Entity) -> Bool { false }
    func contextDidChange(_ batch: ChangeBatch) {}
    func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {
      heard(
        roots.map { root in
          Dictionary(
            objects.filter { $0.object.entity.rootNumber == root }.map { ($0.temporary, $0.object.id) }
          ) { $1 }
        })
    }
  }

  private final class Log: CompositeDelegate, ResultsDelegate {
    var lines: [String] = []
    var act: ((String) -> Void)?
    let hasIndexTitles = false, hearsOfObjects = true
    func indexTitle(ofSection name: Text, in results: ResultsController) -> Text? { nil }
    private func add(_ line: String) {
      lines.append(line)
      act?(line)
    }
    func willChange(_ results: ResultsController) { add("child \(results.query.entity.name) was \(results.count)") }
    func didChangeSection(_ change: SectionChange, in results: ResultsController) {}
    func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController) {
      add("child \(results.query.entity.name) \(change.kind)")
    }
    func didChange(_ results: ResultsController) { add("child \(results.query.entity.name) is \(results.count)") }
    func didReport(_ changes: ChangeSet, in results: ResultsController) {}
    func willChange(_ composite: CompositeController) { add("was \(composite.count)") }
    func didChangeSection(
      _ change: SectionChange, of child: ResultsController, in composite: CompositeController
    ) {}
    func didChangeObject(
      _ object: ManagedObject, _ change: Change, of child: ResultsController, in composite: CompositeController
    ) {
      add("\(change.kind) \(change.oldSection) to \(change.newSection)")
    }
    func didChange(_ composite: CompositeController) { add("is \(composite.count)") }
    func didReport(_ changes: ChangeSet, in composite: CompositeController) {}
  }

  private func list(_ entity: String, _ format: String, in context: Context) throws -> ResultsController {
    let request = FetchRequest(entityName: entity)
    request.predicate = try Predicate.parse(Text(format))
    return try ResultsController(context: context, request: request, sectionKeyPath: nil, queuesChanges: true)
  }

  @Test func allAnnounceThenAllChangeThenAllTell() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let children = [
      try list("Book", "TRUEPREDICATE", in: context), try list("Tag", "TRUEPREDICATE", in: context),
      try list("Book", "price > 0", in: context),
    ]
    let composite = try CompositeController(context: context, queuesChanges: false)
    for child in children { try composite.add(child) }
    try composite.performFetch()
    let log = Log()
    for child in children.prefix(2) { child.delegate = log }
    composite.delegate = log
    // Each callback sees all of the old state, or all of the new one.
    log.act = { line in
      let counts = children.map(\.count)
      if line.hasSuffix("was 0") { #expect(counts == [0, 0, 0]) }
      if line.hasSuffix("insert") { #expect(counts == [1, 1, 0]) }
      // Neither the composite nor a child can be fetched from there, nor one be suspended that did not change.
      for body: () throws -> Void in [
        { try composite.performFetch() }, { try children[2].suspend() }, { try children[0].performFetch() },
      ] {
        #expect(failure(of: body)?.kind == .invalidState)
      }
    }
    let book = try context.insert(entityNamed: "Book")
    _ = try context.insert(entityNamed: "Tag")
    try context.process()
    #expect(
      log.lines == [
        "was 0", "child Book was 0", "child Tag was 0", "child Book insert", "child Book is 1", "child Tag insert",
        "child Tag is 1", "insert -1 to 0", "insert -1 to 1", "is 2",
      ])
    log.lines = []
    // A row that enters another child is one more there.
    children[0].delegate = nil
    try book.set(.double(1), for: book.entity.property(named: "price"))
    try context.process()
    #expect(log.lines == ["was 2", "insert -1 to 2", "update 0 to 0", "is 3"])
    log.act = nil
  }

  @Test func aRowThatLeavesOneChildForAnotherIsADeleteAndAnInsert() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let book = try context.insert(entityNamed: "Book")
    let composite = try CompositeController(context: context, queuesChanges: true)
    for format in ["price == nil", "price > 0"] { try composite.add(list("Book", format, in: context)) }
    try composite.performFetch()
    try book.set(.double(1), for: book.entity.property(named: "price"))
    try context.process()
    let report = try #require(try composite.nextChanges())
    #expect(report.changes.map(\.kind) == [.delete, .insert] && report.changes.allSatisfy { $0.id == book.id })
    #expect(report.steps.map(\.kind) == [.deleteRow, .insertRow])
    #expect(try composite.indexPath(of: book) == IndexPath(section: 1, row: 0))
  }

  @Test func aCompositeTakesListsOfItsContextOnceAndBeforeItIsFetched() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let first = try list("Book", "TRUEPREDICATE", in: context), second = try list("Tag", "TRUEPREDICATE", in: context)
    let stranger = try list("Book", "TRUEPREDICATE", in: Context(store: library.store))
    var composite: CompositeController? = try CompositeController(context: context, queuesChanges: false)
    #expect(failure { try composite?.performFetch() }?.kind == .invalidState)
    #expect(failure { try composite?.add(stranger) }?.kind == .invalidArgument)
    try composite?.add(first)
    #expect(failure { try composite?.add(first) }?.kind == .invalidArgument)
    #expect(composite?.count == 0 && failure { _ = try composite?.section(at: 0) }?.kind == .invalidState)
    // Until then a child is on its own.
    try first.performFetch()
    _ = try context.insert(entityNamed: "Book")
    try context.process()
    #expect(first.count == 1 && composite?.count == 0)
    try composite?.performFetch()
    #expect(composite?.count == 1)
    #expect(failure { try composite?.add(second) }?.kind == .invalidState)
    #expect(failure { try first.performFetch() }?.kind == .invalidState)
    #expect(failure { _ = try composite?.nextChanges() }?.kind == .invalidState)
    // And again when the composite is gone.
    composite = nil
    _ = try first.nextChanges()
    _ = try context.insert(entityNamed: "Book")
    try context.process()
    #expect(try first.nextChanges()?.changes.count == 1)
    try first.performFetch()
  }
}
