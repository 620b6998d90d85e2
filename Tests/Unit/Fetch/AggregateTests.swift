import Testing

@testable import QuireCore

/// What the store calculates of many rows is what memory calculates of a list of their values.
@Suite struct AggregateTests {
  /// Books of these prices, and a column for each expression.
  private func row(_ prices: [Double?], _ formats: [String]) throws -> [Value] {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    for price in prices {
      let book = try context.insert(entityNamed: "Book")
      try book.set(price.map { .double($0) } ?? .nil, for: book.entity.property(named: "price"))
    }
    try context.save()
    var projection = Projection()
    for (place, format) in formats.enumerated() {
      projection.columns.append(
        Projection.Column(name: "c\(place)", expression: try Expression.parse(Text(format))))
    }
    let columns = try library.store.newest.columns(FetchPlan(entity: try library.entity("Book")), projection)
    return try columns.map { column in
      try #require(column.values.count == 1)
      return column.values[0]
    }
  }

  private func areSame(_ found: [Value], _ expected: [Value]) -> Bool {
    found.count == expected.count && zip(found, expected).allSatisfy { Value.areSame($0, $1) }
  }

  @Test func `nil does not count, whether a key gives it or an expression`() throws {
    let found = try row(
      [1, nil, 2, nil, nil],
      [
        "count:(price)", "count:(price + 1)", "count:(price * price)", "count:(SELF)",
        "count:(price) + count:(price - 1)",
      ])
    let expected: [Value] = [.integer(2), .integer(2), .integer(2), .integer(5), .integer(4)]
    #expect(areSame(found, expected), "\(found)")
  }

  @Test func `a sum that is no number is one in the store neither`() throws {
    let found = try row(
      [.infinity, -.infinity, 1], ["sum:(price)", "average:(price)", "max:(price) / sum:(price)", "sum:(price) * 0"])
    for value in found {
      guard case .double(let double) = value else {
        Issue.record("\(value)")
        continue
      }
      #expect(double.isNaN)
    }
  }

  @Test func `a median of what is no number is none, in whatever order it comes`() throws {
    for numbers in [[0, 2.5, .nan], [.nan, 2.5, 0], [2.5, .nan, 0], [.nan]] as [[Double]] {
      let median = try Expression.parse("median:(%@)", arguments: [.list(numbers.map { .double($0) })])
      let found = try ExpressionEvaluator(median).value(of: .nil).scalar
      guard case .double(let double)? = found else {
        Issue.record("\(numbers)")
        continue
      }
      #expect(double.isNaN, "\(numbers)")
    }
  }

  @Test func `a sum of decimals is no integer, though the file holds one as such`() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let sample = try context.insert(entityNamed: "Sample")
    try sample.set(.decimal(Decimal(3)), for: sample.entity.property(named: "exact"))
    try context.save()
    var projection = Projection()
    projection.columns.append(
      Projection.Column(name: "share", expression: try Expression.parse("count:(SELF) / sum:(exact)")))
    let columns = try library.store.newest.columns(FetchPlan(entity: try library.entity("Sample")), projection)
    #expect(areSame(columns[0].values, [.double(1.0 / 3)]), "\(columns)")
  }

  @Test func `a function of a list that each row has is no aggregate`() throws {
    let found = try row([7], ["max:({1, 2} UNION {3})", "count:({1} UNION tags.books)", "min:({4, 5} MINUS {4})"])
    #expect(areSame(found, [.integer(3), .integer(1), .integer(5)]), "\(found)")
  }
}
