import Testing

@testable import QuireCore

/// A controller with a delegate that writes down what it is told, beside the plain lists that it must show.
final class ControllerProbe: ResultsDelegate {
  enum Moment: String, CaseIterable { case will, section, object, did, report }

  private(set) var query: BookshopQuery
  private(set) var sectionKey: String?
  /// In place of a key.
  private(set) var sketch: SectionSketch?
  let controller: ResultsController
  /// As a list on screen that applies the callbacks would show.
  private(set) var shown: [[Int64]] = []
  /// As told.
  private var aggregates = AggregateMirror()
  private(set) var reports: [ChangeSet] = []
  private var sections: [SectionChange] = []
  private var changes: [Change] = []
  private var aggregateChanges = 0
  private var isOpen = false
  private var isChanging = false
  private(set) var isSuspended = false
  private var isResuming = false
  private(set) var problems: [String] = []
  /// Run in each callback, after it was written down.
  var reaction: ((Moment) -> Void)?

  init(_ shop: Bookshop, _ query: BookshopQuery, section: String? = nil, sketch: SectionSketch? = nil) throws {
    self.query = query
    sectionKey = section
    self.sketch = sketch
    controller = try ResultsController(
      context: shop.context, request: query.request(), sections: Self.sectioning(section, sketch),
      queuesChanges: true,
      // Few, so that windows are refilled and cut.
      spareRows: 1 + shop.dice.roll(4))
    for sketch in AggregateSketch.all(query.entity) {
      try controller.calculate(sketch.format, Expression.parse(Text(sketch.format)))
    }
    try controller.performFetch()
    shown = Self.lists(controller)
    aggregates = AggregateMirror(controller)
    controller.delegate = self
  }

  /// Another query of the same tree of entities; what a failure leaves is the query from before. Not while that is
  /// going on: which of the two holds then is nothing that a probe could tell.
  func change(to query: BookshopQuery, section: String?, sketch: SectionSketch? = nil) throws {
    if isChanging || isSuspended { return }
    isChanging = true
    defer { isChanging = false }
    try controller.setRequest(query.request(), sections: Self.sectioning(section, sketch))
    self.query = query
    sectionKey = section
    self.sketch = sketch
  }

  /// A random one.
  func changeQuery(_ shop: Bookshop) throws {
    var next = BookshopQuery(&shop.dice)
    while (next.entity == "Book") != (query.entity == "Book") { next = BookshopQuery(&shop.dice) }
    let keys = next.entity == "Book" ? BookshopQuery.bookKeys : BookshopQuery.personKeys
    if shop.dice.chance(1, of: 2) { next.limit = shop.dice.roll(9) }
    if shop.dice.chance(1, of: 3) { next.offset = shop.dice.roll(6) }
    let section = shop.dice.chance(2, of: 3) ? shop.dice.pick(next.entity == "Party" ? ["name"] : keys) : nil
    let sketches = SectionSketch.all.filter { $0.entity == next.entity }
    if shop.dice.chance(1, of: 2), let sketch = shop.dice.pick(sketches) {
      try change(to: next, section: nil, sketch: sketch)
    } else {
      try change(to: next, section: section)
    }
  }

  private static func sectioning(_ key: String?, _ sketch: SectionSketch?) throws -> Listing.Sectioning {
    try sketch.map { .rule(try $0.rule()) } ?? key.map { .keyPath($0) } ?? .none
  }

  static func lists(_ controller: ResultsController) -> [[Int64]] {
    (0..<controller.sectionCount).map { place in
      guard let section = controller.index.section(at: place) else { return [] }
      return controller.ids(in: section.start..<section.start + section.count)
    }
  }

  /// Objects that got their permanent ids take those on without a report.
  func rename(_ ids: [Int64: Int64]) { shown = shown.map { $0.map { ids[$0] ?? $0 } } }

  /// The controller leaves its list as it is.
  func suspend() throws {
    try controller.suspend()
    isSuspended = true
  }

  /// As a whole, or with a list that shows the same already.
  func resume(telling: Bool) throws {
    isResuming = true
    defer { isResuming = false }
    if !telling { controller.delegate = nil }
    try controller.resume(telling: telling)
    isSuspended = false
    if telling { return }
    shown = Self.lists(controller)
    aggregates = AggregateMirror(controller)
    controller.delegate = self
  }

  func forgetReports() { reports = [] }

  // MARK: Delegate

  let hasIndexTitles = false
  func indexTitle(ofSection name: Text, in results: ResultsController) -> Text? { nil }

  func willChange(_ results: ResultsController) {
    if isOpen { problems.append("a bracket opened inside another") }
    if isSuspended, !isResuming { problems.append("a bracket while it was suspended") }
    isOpen = true
    sections = []
    changes = []
    aggregateChanges = 0
    if Self.lists(results) != shown { problems.append("willChange shows \(Self.lists(results)) instead of \(shown)") }
    if !aggregates.isSame(as: AggregateMirror(results)) { problems.append("willChange shows other aggregates") }
    reaction?(.will)
  }

  func didChangeSection(_ change: SectionChange, in results: ResultsController) {
    if !isOpen || !changes.isEmpty { problems.append("a section out of place") }
    sections.append(change)
    reaction?(.section)
  }

  func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController) {
    if !isOpen { problems.append("an object outside a bracket") }
    if object.context !== results.context { problems.append("a stranger") }
    changes.append(change)
    reaction?(.object)
  }

  func didChangeAggregates(_ changes: [AggregateChange], in results: ResultsController) {
    if !isOpen { problems.append("aggregates outside a bracket") }
    aggregateChanges = changes.count
  }

  func didChange(_ results: ResultsController) {
    if !isOpen { problems.append("a bracket closed that was not open") }
    reaction?(.did)
  }

  func didReport(_ report: ChangeSet, in results: ResultsController) {
    isOpen = false
    if report.isEmpty { problems.append("an empty report") }
    if report.changes != changes || report.sectionChanges != sections
      || report.aggregateChanges.count != aggregateChanges
    {
      problems.append("the report differs from the calls")
    }
    replay(report)
    reports.append(report)
    reaction?(.report)
  }

  /// Ids may have become permanent in the midst of the bracket, so that places decide.
  private func replay(_ report: ChangeSet) {
    let report = report.renaming(renamedInBracket)
    let old = shown.map { $0.map { renamedInBracket[$0] ?? $0 } }
    let classic = Replay.classic(report, on: old), linear = Replay.linear(report.steps, on: old)
    if classic == nil || classic != linear {
      problems.append("replays differ: \(String(describing: classic)), \(String(describing: linear)) from \(old)")
    }
    if let classic, let problem = PlanReplay.problem(report, from: old, to: classic) { problems.append(problem) }
    shown = (classic ?? []).map { $0.map { renamedInBracket[$0] ?? $0 } }
    let names = controller.listing.aggregates.formulas.map(\.name)
    if let problem = aggregates.apply(report, names) { problems.append(problem) }
  }

  /// Filled by a test whose delegates save in the midst of a bracket.
  var renamedInBracket: [Int64: Int64] = [:]

  // MARK: Expectations

  /// The ids in their sections, worked out in plain Swift.
  func wanted(_ shop: Bookshop) -> [(name: String, ids: [Int64])] {
    if let sketch { return wanted(shop, sketch) }
    guard let sectionKey else { return [("", query.window(shop.now, shop).map(shop.id))] }
    var sorted = query
    if sorted.sort.first?.key != sectionKey { sorted.sort.insert((sectionKey, true), at: 0) }
    var sections: [(name: String, ids: [Int64])] = []
    for number in sorted.window(shop.now, shop) {
      let name =
        switch query.cell(sectionKey, of: number, in: shop.now, shop) {
        case .none: ""
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .object(let isTemporary, let id): "\(isTemporary ? "-" : "")\(id)"
        case .number(let number): sectionKey == "price" ? "\(number)" : "\(Int64(number))"
        }
      if sections.last.map({ Array($0.name.utf8) == Array(name.utf8) }) == true {
        sections[sections.count - 1].ids.append(shop.id(number))
      } else {
        sections.append((name, [shop.id(number)]))
      }
    }
    return sections
  }

  private func wanted(_ shop: Bookshop, _ sketch: SectionSketch) -> [(name: String, ids: [Int64])] {
    let whole = sketch.sections(query.result(shop.now, shop), shop.now)
    let rest = whole.flatMap(\.numbers).dropFirst(query.offset)
    let shown = Set(rest.prefix(query.limit ?? rest.count))
    return whole.enumerated().compactMap { place, section in
      let ids = section.numbers.filter(shown.contains).map(shop.id)
      return ids.isEmpty && place >= sketch.fixed.count ? nil : (section.name, ids)
    }
  }

  func check(_ shop: Bookshop, _ moment: String) throws {
    let what =
      "\(query.entity) where \(query.format) by \(query.sort) in "
      + "\(sketch?.format ?? sectionKey ?? "one section"), "
      + "\(query.limit.map(String.init) ?? "all") from \(query.offset), \(moment)"
    try #require(problems.isEmpty, "\(problems.first ?? ""), \(what)")
    if isSuspended {
      try #require(shown == Self.lists(controller), "suspended, \(what)")
      let invariants = controller.contents.checkInvariants()
      return try #require(invariants.isEmpty, "\(invariants), suspended, \(what)")
    }
    let wanted = wanted(shop)
    let found = Self.lists(controller)
    // nil and "" share a section, but rows without a value come before those with an empty one.
    try #require(found == wanted.map(\.ids), "\(what)")
    try #require(shown == found, "as replayed, \(what)")
    let invariants = controller.contents.checkInvariants()
    try #require(invariants.isEmpty, "\(invariants), \(what)")
    for (place, section) in wanted.enumerated() {
      let info = try controller.section(at: place)
      try #require(info.name.string == section.name && info.count == section.ids.count, "\(what)")
      for (row, id) in section.ids.enumerated() {
        let object = try controller.object(section: place, row: row)
        try #require(object.id == id, "\(what)")
        try #require(try controller.indexPath(of: object) == IndexPath(section: place, row: row), "\(what)")
      }
    }
    try #require(controller.count == wanted.reduce(0) { $0 + $1.ids.count })
    try checkAggregates(shop, wanted.map(\.ids), what)
  }

  private func checkAggregates(_ shop: Bookshop, _ sections: [[Int64]], _ what: String) throws {
    var numbers: [Int64: Int] = [:]
    let own = query.entity == "Book" ? Array(shop.now.books.keys) : Array(shop.now.persons.keys)
    for number in own { numbers[shop.id(number)] = number }
    let rows = sections.map { $0.compactMap { numbers[$0] } }
    for sketch in AggregateSketch.all(query.entity) {
      let places = [(nil, rows.flatMap(\.self))] + rows.enumerated().map { (Optional($0), $1) }
      for (section, rows) in places {
        let found = try controller.aggregate(sketch.format, of: section).value
        let wanted = sketch.value(shop.now, rows)
        let isSame = Value.areSame(found, wanted)
        try #require(isSame, "\(sketch.format) of \(section ?? -1) is \(found), not \(wanted), \(what)")
      }
    }
    try #require(aggregates.isSame(as: AggregateMirror(controller)), "as told, \(what)")
  }
}
