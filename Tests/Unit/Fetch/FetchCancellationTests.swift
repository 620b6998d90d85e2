import Testing

@testable import QuireCore

@Suite("Cancelling a fetch")
struct FetchCancellationTests {
  private static let rowCount = 5000

  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
    _ = try context.insert(entityNamed: "Tag", keys: ["word"], rowCount: FetchCancellationTests.rowCount) { (_, row) in
      .text(Text("word \(row)"))
    }
    try context.save()
  }

  /// Told of each look that SQLite takes.
  private func request(_ report: @escaping (UInt64) -> Bool) throws -> FetchRequest {
    let request = FetchRequest(entityName: "Tag")
    request.predicate = try Predicate.parse("word MATCHES '.*[0-9]'")
    request.progress = FetchMonitor.Progress(nanoseconds: 0, report: report)
    return request
  }

  private func checkIsUsable() throws {
    #expect(try context.fetch(FetchRequest(entityName: "Tag")).count == FetchCancellationTests.rowCount)
    _ = try context.insert(entityNamed: "Tag")
    try context.save()
    try context.delete(context.fetch(FetchRequest(entityName: "Tag")).object(at: 5000))
    try context.save()
  }

  @Test func whatIsCancelledBeforehandDoesNotBegin() throws {
    let request = FetchRequest(entityName: "Tag")
    let cancellation = Cancellation()
    request.cancellation = cancellation
    #expect(try context.fetch(request).count == FetchCancellationTests.rowCount)
    cancellation.cancel()
    let before = try context.statementCount()
    for type in [FetchRequest.ResultType.objects, .ids, .dictionaries, .count] {
      request.resultType = type
      #expect(failure { _ = try context.fetch(request) }?.kind == .cancelled)
    }
    #expect(failure { _ = try context.count(request) }?.kind == .cancelled)
    request.resultType = .objects
    let results = try ResultsController(context: context, request: request, sectionKeyPath: nil, queuesChanges: false)
    #expect(failure { try results.performFetch() }?.kind == .cancelled)
    #expect(!results.isFetched)
    #expect(try context.statementCount() == before)
    #expect(failure { _ = try context.delete(request, merges: true) }?.kind == .cancelled)
    #expect(failure { _ = try context.update(request, [("word", .nil)], merges: true) }?.kind == .cancelled)
    try checkIsUsable()
  }

  @Test func progressIsToldAndEndsTheFetch() throws {
    var told: [UInt64] = []
    let all = try request { rows in
      told.append(rows)
      return true
    }
    #expect(try context.fetch(all).count == FetchCancellationTests.rowCount)
    #expect(told.count > 10 && told == told.sorted() && told.last ?? 0 > 4000)
    let count = told.count
    let some = try request { rows in
      told.append(rows)
      return rows < 1000
    }
    let failure = try #require(failure { _ = try context.fetch(some) })
    #expect(failure.kind == .cancelled && failure.message.string.contains("rows had been read"))
    let last = told[count...].filter { $0 >= 1000 }
    #expect(last.count == 1)
    try checkIsUsable()
  }

  @Test func pendingObjectsAreCancelledToo() throws {
    for row in 0..<100 {
      let tag = try context.insert(entityNamed: "Tag")
      try tag.set(.text(Text("pending \(row)")), for: tag.entity.property(named: "word"))
    }
    let cancellation = Cancellation()
    // Only the pending ones match, so that the store is done when they are looked at.
    let some = try request { _ in true }
    some.predicate = try Predicate.parse("FALSEPREDICATE OR word BEGINSWITH 'pending'")
    some.cancellation = cancellation
    #expect(try context.fetch(some).count == 100)
    var looks = 0
    some.progress = FetchMonitor.Progress(nanoseconds: 0) { _ in
      looks += 1
      if looks == 50 { cancellation.cancel() }
      return true
    }
    #expect(failure { _ = try context.fetch(some) }?.kind == .cancelled)
    #expect(looks == 50)
    #expect(context.pending.inserted.count == 100)
  }

  @Test func theStoreIsNotToBeUsedFromTheProgressFunction() throws {
    let other = Context(store: library.store)
    var kinds = Set<Failure.Kind?>()
    let all = try request { [context, store = library.store] _ in
      let refused = [
        failure { _ = try other.fetch(FetchRequest(entityName: "Tag")) },
        failure { _ = try other.insert(entityNamed: "Tag") },
        failure { try store.close() },
        failure { try context.confinement.enter() },
      ]
      for each in refused { kinds.insert(each?.kind) }
      return true
    }
    try context.confinement.enter()
    #expect(try context.fetch(all).count == FetchCancellationTests.rowCount)
    context.confinement.leave()
    #expect(kinds == [.invalidState])
    try checkIsUsable()
  }
}
