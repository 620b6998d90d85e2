import Testing

@testable import QuireCore

/// Predicates that need more of SQLite's parser than it has in one statement.
@Suite struct DeepPredicateTests {
  private func fetched(_ predicate: Predicate, _ entity: String, in context: Context) throws -> [Int64] {
    let request = FetchRequest(entityName: entity)
    request.predicate = predicate
    request.resultType = .ids
    let list = try context.fetch(request)
    let ids = (0..<list.count).map { list.id(at: $0) }
    #expect(try context.count(request) == ids.count)
    return ids
  }

  private func evaluated(_ predicate: Predicate, _ entity: String, in context: Context) throws -> [Int64] {
    let list = try context.fetch(FetchRequest(entityName: entity))
    return try (0..<list.count).map { try list.object(at: $0) }.filter { try $0.fulfils(predicate) }.map(\.id)
  }

  /// A condition on a person or a book called `name`, of `depth` subqueries one in the other.
  private func nest(_ depth: Int, of name: String, isPerson: Bool, _ dice: inout Dice) -> String {
    let rows = isPerson ? "\(name).books" : dice.chance(1, of: 2) ? "\(name).author.books" : "\(name).tags.books"
    if depth == 0 { return isPerson ? "\(name).age > 0" : "\(name).price > 0" }
    let variable = "$v\(depth)"
    // Seldom two in one: memory takes its time for what is below.
    let inner = nest(depth - 1, of: variable, isPerson: false, &dice)
    let condition = [inner, "NOT (\(inner))", "\(variable).title != nil AND \(inner)", "\(inner) OR \(name) == nil"]
    let query = "SUBQUERY(\(rows), \(variable), \(dice.pick(condition) ?? inner))"
    let tests = [
      "\(query).@count > 0", "\(query)[SIZE] == 1", "\(query).@sum.price >= 0", "\(query).@max.price > 0",
      "ANY \(query).title == 'a'", "ALL \(query).price > 0", "NONE \(query).tags.word == 'x'",
      "ALL \(query).title == \(name).title", "\(query)[0].title != nil", "\(name) IN \(query)",
      "count(\(query)) < 2", "(\(query) UNION \(rows)).@count > 1", "average(\(query).price) > 0",
    ]
    return dice.pick(tests.filter { !isPerson || !$0.hasSuffix("\(name).title") }) ?? ""
  }

  @Test(arguments: Dice.seeds(3)) func `subqueries may be nested deep`(_ seed: UInt64) throws {
    var shop = try PeopleAndBooks(seed: seed)
    var dice = Dice(seed: seed)
    for _ in 0..<40 { try shop.change() }
    try shop.context.save()
    let context = Context(store: shop.library.store)
    for round in 0..<40 {
      let format = nest(3 + round % 5, of: "SELF", isPerson: true, &dice)
      let predicate = try Predicate.parse(Text(format))
      let found = Result { try fetched(predicate, "Person", in: context) }
      let expected = try evaluated(predicate, "Person", in: context)
      #expect((try? found.get()) == expected, "seed \(seed): \(format): \(found)")
    }
  }

  /// A line of nodes, each the parent of the next, called 1, 2 and so on.
  private func line(_ count: Int) throws -> Context {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    var last: ManagedObject?
    for number in 1...count {
      let node = try context.insert(entityNamed: "Node")
      try node.set(.text("\(number)"), for: node.entity.property(named: "title"))
      if let last { try node.set(.object(last.reference), for: node.entity.property(named: "parent")) }
      last = node
    }
    try context.save()
    return context
  }

  @Test func `a nest as deep as the parser reads is answered`() throws {
    let context = try line(40)
    for (kind, below) in [("ANY", "title == '34'"), ("ALL", "title != '34'"), ("NONE", "title == '34'")] {
      var format = "\(kind) $v32.children.\(below)"
      for level in (1...32).reversed() {
        let rows = level == 1 ? "children" : "$v\(level - 1).children"
        format = "SUBQUERY(\(rows), $v\(level), \(format)).@count == 1"
      }
      let predicate = try Predicate.parse(Text(format))
      let found = try fetched(predicate, "Node", in: context)
      #expect(try found == evaluated(predicate, "Node", in: context), "\(kind)")
      #expect(!found.isEmpty, "\(kind)")
    }
  }

  @Test func `a path may go through more tables than SQLite joins`() throws {
    let context = try line(120)
    for hops in [47, 48, 49, 63, 64, 65, 110] {
      let path = Array(repeating: "parent", count: hops).joined(separator: ".")
      let predicate = try Predicate.parse(Text("\(path).title == '2'"))
      #expect(try fetched(predicate, "Node", in: context) == [Int64(hops + 2)], "\(hops) hops")
    }
  }

  @Test func `an order may go through more tables than SQLite joins`() throws {
    let context = try line(140)
    for hops in [47, 48, 60, 127] {
      let path = Array(repeating: "parent", count: hops) + ["title"]
      let other = Array(repeating: "children", count: 1) + ["title"]
      let request = FetchRequest(entityName: "Node")
      request.predicate = try Predicate.parse(Text("ANY \(other.joined(separator: ".")) != nil"))
      request.sort = [SortDescriptor(keyPath: path, isAscending: false), SortDescriptor(keyPath: ["title"])]
      let list = try context.fetch(request)
      let found = (0..<list.count).map { list.id(at: $0) }
      // Texts compare by code point; those whose path ends in nil come last, by their own titles.
      let wanted = (1...139).sorted { left, right in
        let one = left > hops ? "\(left - hops)" : "", another = right > hops ? "\(right - hops)" : ""
        return one == another ? "\(left)" < "\(right)" : one > another
      }
      #expect(found == wanted.map(Int64.init), "\(hops) hops")
      let results = try ResultsController(context: context, request: request, sectionKeyPath: nil, queuesChanges: false)
      try results.performFetch()
      #expect(results.count == 139)
    }
  }

  @Test func `paths have as many keys as can be followed`() throws {
    let context = try line(3)
    func path(_ count: Int) -> String { Array(repeating: "parent", count: count).joined(separator: ".") }
    #expect(try fetched(Predicate.parse(Text("\(path(128)) == nil")), "Node", in: context) == [1, 2, 3])
    let long = Text(path(129))
    for format in ["\(path(129)) == nil", "SELF.\(path(129)) == nil", "(\(path(100)))[0].\(path(29)) == nil"] {
      let failure = #expect(throws: Failure.self) { try Predicate.parse(Text(format)) }
      #expect(failure?.kind == .invalidPredicate && failure?.message.string.contains("at most 128") == true)
    }
    #expect(throws: Failure.self) { try Predicate.parse("%K == nil", arguments: [.text(long)]) }
    let open = try Predicate.parse(Text("$x.\(path(100)) == nil"))
    let keys = [Key](repeating: "parent", count: 29)
    let failure = #expect(throws: Failure.self) { try open.substituting(expressions: ["x": .keyPath(keys)]) }
    #expect(failure?.message.string.contains("129 keys") == true)
    let request = FetchRequest(entityName: "Node")
    request.sort = [SortDescriptor(keyPath: Array(repeating: "parent", count: 128) + ["title"])]
    let refused = #expect(throws: Failure.self) { try context.fetch(request) }
    #expect(refused?.kind == .invalidArgument && refused?.message.string.contains("at most 128") == true)
  }

  @Test func `chains of deep conditions may be long`() throws {
    let context = try line(60)
    for count in [2, 31, 32, 33, 40, 300] {
      func chain(_ word: String, _ format: String) -> String {
        (0..<count).map { number in
          format.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "\(number * 2)")
        }.joined(separator: " \(word) ")
      }
      for format in [
        chain("OR", "ANY children.children.title == '#'"), chain("AND", "NONE children.children.title == '#'"),
        chain("OR", "SUBQUERY(children, $x, ANY $x.children.title == '#').@count == 1"),
        chain("OR", "parent.children[0].parent.title == '#'"),
        "NOT (\(chain("OR", "children.children[0].title == '#'")))",
        chain("OR", "(ANY children.children.title == '#' AND NONE children.title == '7')"),
      ] {
        let predicate = try Predicate.parse(Text(format))
        #expect(try fetched(predicate, "Node", in: context) == evaluated(predicate, "Node", in: context), "\(format)")
      }
    }
  }

  @Test func `what looks up too many values at once is named`() throws {
    let context = try line(2)
    let keys = (0..<127).map { Array(repeating: "parent.", count: $0).joined() + "title" }.joined(separator: ", ")
    let predicate = try Predicate.parse(Text("title != nil AND {\(keys)} == {1}"))
    let failure = #expect(throws: Failure.self) { try fetched(predicate, "Node", in: context) }
    #expect(failure?.kind == .unsupported)
    let message = failure?.message.string ?? ""
    #expect(
      message.hasPrefix("{title, parent.title")
        && message.hasSuffix("divide it into several conditions with OR or AND."))
  }

  @Test func `a deep part is explained with the statement that it is`() throws {
    let context = try line(3)
    var format = "title == '2'"
    for level in 1...14 { format = "SUBQUERY(children, $v\(level), \(format)).@max.title == '2'" }
    let request = FetchRequest(entityName: "Node")
    request.predicate = try Predicate.parse(Text(format))
    let text = try context.explain(request)
    #expect(text.contains("= a statement of its own: SELECT"))
    #expect(text.contains("plan: STATEMENT ?"))
  }

  // MARK: How deep a piece of SQL is

  /// How many parentheses SQLite reads around `sql` in a condition; nil when there is no end to it.
  private func room(_ sql: String, _ source: String, _ connection: Connection) -> Int? {
    func fits(_ count: Int) -> Bool {
      let open = String(repeating: "(", count: count), close = String(repeating: ")", count: count)
      return (try? connection.statement("SELECT 1\(source) WHERE \(open)\(sql)\(close)")) != nil
    }
    if !fits(0) { return -1 }
    var (least, most) = (0, 200)
    if fits(most) { return nil }
    while most - least > 1 {
      let middle = (least + most) / 2
      if fits(middle) { least = middle } else { most = middle }
    }
    return least
  }

  @Test func `no piece of SQL takes more of the parser than it is said to`() throws {
    let library = try LibraryFixture()
    let store = library.store
    guard let all = try store.withConnection({ room("1", " FROM ZBOOK t0", $0) }) else { return }
    var dice = Dice(seed: 1)
    var cases = PredicateFetchTests.personFormats.map { ($0, "Person") }
    cases += PredicateFetchTests.bookFormats.map { ($0, "Book") }
    cases += (0..<300).map { (nest(1 + $0 % 4, of: "SELF", isPerson: true, &dice), "Person") }
    var surplus = 0, worst = ""
    for (format, name) in cases {
      let arguments = SQLArguments()
      let compiler = SQLCompiler(schema: store.schema, textIndexes: nil, arguments: arguments)
      let row = SQLCompiler.mainRow(try library.entity(name), alias: "t0")
      let condition = try compiler.condition(Predicate.parse(Text(format)), SQLScope(subject: row))
      var source = SQLWriter()
      source.put([.named(store.schema.table(of: row.entity), "t0")] + (row.joins?.tables ?? []))
      let left = try store.withConnection { room(condition.sql, source.text, $0) } ?? 0
      if left < 0 {
        #expect(condition.stack > SQLParting.most, "\(format) is said to take \(condition.stack): \(condition.sql)")
        continue
      }
      let taken = all - left + 1
      #expect(taken <= condition.stack, "\(format) takes \(taken), not \(condition.stack): \(condition.sql)")
      if condition.stack - taken > surplus {
        surplus = condition.stack - taken
        worst = "\(condition.stack) for \(format): \(condition.sql)"
      }
    }
    #expect(surplus < 16, "\(worst)")
  }
}
