import Testing

@testable import QuireCore

/// An object of a test: its properties, and what it refers to.
private final class Thing: PropertySource {
  let properties: [String: Value]
  let others: [String: Thing]
  var asked = 0

  init(_ properties: [String: Value], _ others: [String: Thing] = [:]) {
    self.properties = properties
    self.others = others
  }

  var identity: Value { .object(ObjectReference(root: 1, id: 7)) }

  func hasProperty(of key: Key) -> Bool { false }
  func item(forKey key: Key, asValue: Bool) throws(Failure) -> Item {
    asked += 1
    if let other = others[key.name] { return .subject(other) }
    if key.name == "father" { return .nil }
    guard let value = properties[key.name] else { throw Failure(.notFound, "There is no property \(key.name).") }
    return Item(value)
  }
}

@Suite struct PredicateEvaluationTests {
  private func holds(_ format: String, _ subject: Thing, _ arguments: Value...) throws -> Bool {
    try Predicate.parse(Text(format), arguments: arguments).matches(subject)
  }

  private let ada = Thing(
    ["name": .text("Ada"), "age": .integer(36), "gone": .nil, "height": .float(1.7), "isLeft": .boolean(true)],
    ["mother": Thing(["name": .text("Anne"), "born": .date(-6_600_000_000)])])

  @Test func `nil is a value of its own`() throws {
    let truths = [
      "gone == nil", "gone != 'x'", "NOT gone == 'x'", "gone <= nil", "gone >= nil", "nil == gone", "gone IN {1, nil}",
      "NOT gone IN {1}", "father.name == nil",
    ]
    let lies = [
      "gone < 1", "gone > 1", "gone < nil", "gone <= 1", "gone LIKE '*'", "gone CONTAINS ''", "gone BETWEEN {nil, 2}",
      "age BETWEEN {nil, 99}",
      "gone MATCHES '.*'", "name CONTAINS nil", "name IN nil", "gone != nil", "gone IN {}", "gone BEGINSWITH 'a'",
    ]
    for format in truths { #expect(try holds(format, ada), "\(format)") }
    for format in lies { #expect(try !holds(format, ada), "\(format)") }
  }

  @Test func `numbers compare by value and text never equals a number`() throws {
    let truths = [
      "isLeft == 1", "isLeft == YES", "age == 36.0", "age < 36.5", "age IN {1, 36.0}", "'36' != age", "NOT age == '36'",
      "height == 1.7",
      "height IN {1.7}", "1 == 1.0", "9007199254740993 != 9007199254740992.0", "age BETWEEN {36, 36}", "name == 'Ada'",
      "{1, 2} == {1.0, 2}",
      "SELF == %@", "{36, 'x'} CONTAINS age", "'d' IN name", "mother.name BEGINSWITH 'An'", "age > -5",
    ]
    for format in truths {
      let reference = Value.object(ObjectReference(root: 1, id: 7))
      #expect(try format.contains("%@") ? holds(format, ada, reference) : holds(format, ada), "\(format)")
    }
    let lies = [
      "age < 'x'", "age > 'x'", "age == '36'", "age IN {'36'}", "5 IN name", "name LIKE 5", "age CONTAINS '3'",
    ]
    for format in lies { #expect(try !holds(format, ada), "\(format)") }
    #expect(try !holds("SELF == %@", ada, .object(ObjectReference(root: 2, id: 7))))
    #expect(try !holds("SELF IN %@", ada, .list([.object(ObjectReference(root: 1, id: -7))])))
    #expect(try holds("age == %@", ada, .decimal(Decimal(36))))
    #expect(try holds("mother.born < %@", ada, .date(0)))
  }

  @Test func `NaN equals nothing and has no order`() throws {
    let nothing = Thing(["x": .double(.nan)])
    for format in ["x == x", "x < 1", "x >= 1", "x IN {1}", "x BETWEEN {0, 1}", "x == %@"] {
      #expect(try format.contains("%@") ? !holds(format, nothing, .double(.nan)) : !holds(format, nothing), "\(format)")
    }
    #expect(try holds("x != x", nothing))
  }

  @Test func `constants are calculated once, by the rules of the format`() throws {
    let truths = [
      "1 + 2 * 3 == 7", "7 / 2 == 3", "-7 / 2 == -3", "7 / 2.0 == 3.5", "1 / 0 == nil", "nil + 1 == nil",
      "2 ** 10 == 1024", "7 %% 4 == 3",
      "9223372036854775807 + 1 == 9223372036854775808", "1 << 3 > 1", "~0 == -1", "6 & 3 == 2", "6 | 3 == 7",
      "6 ^ 3 == 5", "2 ** -1 == 0.5",
      "1 << 64 == 0", "-9223372036854775808 / -1 == 9223372036854775808", "-9223372036854775808 %% -1 == 0",
      "age IN {30 + 6}", "3 ** 100 > 1e47",
      "YES + YES == 2",
    ]
    for format in truths { #expect(try holds(format, ada), "\(format)") }
    for format in ["1 + 'x' == 2", "1.5 & 1 == 1"] {
      #expect(throws: Failure.self, "\(format)") { try holds(format, ada) }
    }
  }

  @Test func `a list, a pair of bounds or a pattern that makes no sense is an error before any object is asked`() throws
  {
    for (format, argument) in [
      ("age BETWEEN %@", Value.list([.integer(1)])), ("age IN %@", .integer(5)), ("name MATCHES %@", .text("(")),
    ] {
      let failure = #expect(throws: Failure.self, "\(format)") {
        try PredicateEvaluator(Predicate.parse(Text(format), arguments: [argument]))
      }
      #expect(failure?.kind == .invalidPredicate)
    }
  }

  @Test func `AND and OR stop at the part that decides`() throws {
    let thing = Thing(["a": .integer(1)])
    #expect(try holds("a == 1 OR nowhere == 1", thing))
    #expect(try !holds("a == 2 AND nowhere == 1", thing))
    #expect(thing.asked == 2)
    #expect(throws: Failure.self) { try holds("a == 1 AND nowhere == 1", thing) }
    #expect(try holds("TRUEPREDICATE AND NOT FALSEPREDICATE", thing))
  }

  @Test func `a pattern may come from another property and change with every object`() throws {
    let evaluator = try PredicateEvaluator(Predicate.parse("name CONTAINS[c] part"))
    for (name, part, holds) in [("Ada", "DA", true), ("Ada", "x", false), ("Bob", "bo", true), ("Bob", "", false)] {
      let thing = Thing(["name": .text(name), "part": .text(part)])
      #expect(try evaluator.matches(thing) == holds, "\(name) \(part)")
    }
  }
}
