import Testing

@testable import QuireCore

@Suite("What a predicate is for objects of several stores")
struct EvaluatorTableTests {
  private let library: LibraryFixture
  private let predicate: Predicate

  init() throws {
    library = try LibraryFixture()
    predicate = try Predicate.parse(Text("name == 'a' OR TRUEPREDICATE"))
  }

  /// How often the predicate is bound when it is asked about entities of stores in turn.
  private func count(_ uses: [(entity: Entity, store: Text)], in table: inout EvaluatorTable) throws -> Int {
    var count = 0
    for use in uses {
      _ = try table.evaluator(for: use.entity, of: use.store) { () throws(Failure) in
        count += 1
        return try BoundPredicate(predicate, to: use.entity, of: use.store)
      }
    }
    return count
  }

  private func stores(_ numbers: some Sequence<Int>) -> [Text] { numbers.map { Text("store \($0)") } }

  @Test("It is bound once for each entity of two stores that take turns")
  func turns() throws {
    let entities = try ["Person", "Author", "Company"].map(library.entity)
    let uses = stores(0..<2).flatMap { store in entities.map { ($0, store) } }
    var table = EvaluatorTable()
    #expect(try count((0..<10).flatMap { _ in uses }, in: &table) == 6)
  }

  @Test("A store of another model has evaluators of its own")
  func models() throws {
    let other = try LibraryFixture()
    var table = EvaluatorTable()
    let uses = [library, other, library, other].map { ($0, $0.store.uuid) }
    var found: [PredicateEvaluator] = []
    for (fixture, store) in uses {
      let person = try fixture.entity("Person")
      found.append(
        try table.evaluator(for: person, of: store) { () throws(Failure) in
          try BoundPredicate(predicate, to: person, of: store)
        })
    }
    #expect(found[0] === found[2] && found[1] === found[3] && found[0] !== found[1])
  }

  @Test("Four stores are remembered, and the one that was used longest ago goes")
  func most() throws {
    let person = try library.entity("Person")
    func uses(_ numbers: [Int]) -> [(Entity, Text)] { stores(numbers).map { (person, $0) } }
    var table = EvaluatorTable()
    #expect(try count(uses([0, 1, 2, 3, 0, 1, 2, 3, 0]), in: &table) == 4)
    #expect(try count(uses([4, 0, 2, 3, 4]), in: &table) == 1)
    #expect(try count(uses([1]), in: &table) == 1)
  }

  @Test("What is held of a store goes when other stores have taken its place")
  func release() throws {
    var table = EvaluatorTable()
    weak var former: PredicateEvaluator?
    let person = try library.entity("Person")
    do {
      former = try table.evaluator(for: person, of: library.store.uuid) { () throws(Failure) in
        try BoundPredicate(predicate, to: person, of: library.store.uuid)
      }
    }
    #expect(former != nil)
    #expect(try count(stores(0..<4).map { (person, $0) }, in: &table) == 4)
    #expect(former == nil)
  }

  @Test("A failure to bind is a failure each time")
  func failures() throws {
    let book = try library.entity("Book")
    var table = EvaluatorTable()
    for _ in 0..<2 {
      #expect(throws: Failure.self) {
        _ = try table.evaluator(for: book, of: library.store.uuid) { () throws(Failure) in
          try BoundPredicate(Predicate.parse(Text("nothing == 1")), to: book, of: library.store.uuid)
        }
      }
    }
  }
}
