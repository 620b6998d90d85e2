import Testing

@testable import Quire

@Suite struct PredicateVariableTests {
  private let person: Item = ["name": "Ada", "age": 36, "children": [["age": 3], ["age": 9]]]

  private func substituted(_ format: String, _ values: [String: Value]) throws -> Predicate {
    try Predicate.parse(Text(format)).substituting(values)
  }

  private func holds(_ predicate: Predicate, _ variables: [String: Item] = [:]) throws -> Bool {
    try PredicateEvaluator(predicate).matches(person, variables: variables)
  }

  @Test func `variables become the values that are substituted for them`() throws {
    let forms: [(String, String)] = [
      ("name == $n AND NOT age IN $list", "name == \"Ada\" AND NOT age IN {1, 2}"),
      ("age BETWEEN {$low, $high}", "age BETWEEN {1, 99}"), ("SELF.$key == 36", "SELF.age == 36"),
      ("TERNARY(age > $low, $n, 'x') == 'Ada'", "TERNARY(age > 1, \"Ada\", \"x\") == \"Ada\""),
      ("SUBQUERY(children, $n, $n.age > $low).@count == 2", "SUBQUERY(children, $n, $n.age > 1).@count == 2"),
      ("$list[$low] == 2", "{1, 2}[1] == 2"), ("age + $low == 37", "age + 1 == 37"),
      ("age IN {$low, 36} UNION $list", "age IN {1, 36} UNION {1, 2}"),
    ]
    let values: [String: Value] = [
      "n": .text("Ada"), "low": .integer(1), "high": .integer(99), "list": .list([.integer(1), .integer(2)]),
      "key": .text("age"),
    ]
    for (format, text) in forms {
      let predicate = try substituted(format, values)
      #expect(predicate.text == text)
      #expect(try Predicate.parse(Text(text)) == predicate)
      #expect(try holds(predicate), "\(format)")
    }
  }

  @Test func `every variable needs a value, and more values do no harm`() throws {
    let failure = #expect(throws: Failure.self) { try substituted("a == $a AND b == $b", ["a": .nil, "c": .nil]) }
    #expect(failure?.kind == .invalidPredicate && failure?.message.string.contains("$b") == true)
    #expect(try substituted("name == $a", ["a": .text("x"), "c": .nil]).text == "name == \"x\"")
    #expect(throws: Failure.self) { try substituted("SELF.$key == 1", ["key": .integer(1)]) }
    #expect(throws: Failure.self) { try substituted("SUBQUERY(x, $y, $y == 1).@count == $y", [:]) }
  }

  @Test func `a bound that is not one is an error when it is bound`() throws {
    let predicate = try substituted("age BETWEEN $bounds", ["bounds": .list([.integer(1)])])
    #expect(throws: Failure.self) { try PredicateEvaluator(predicate) }
    #expect(throws: Failure.self) { try PredicateEvaluator(substituted("name MATCHES $x", ["x": .text("(")])) }
  }

  @Test func `variables may be left open until evaluation`() throws {
    let predicate = try Predicate.parse("name == $n AND ANY children.age == $family.youngest AND SELF.$key == 36")
    let variables: [String: Item] = ["n": "Ada", "family": ["youngest": 3], "key": "age"]
    #expect(try holds(predicate, variables))
    for name in variables.keys {
      var fewer = variables
      fewer[name] = nil
      let failure = #expect(throws: Failure.self) { try holds(predicate, fewer) }
      #expect(failure?.message.string.contains("$\(name)") == true)
    }
  }

  @Test func `an assignment gives its variable the value`() throws {
    #expect(try holds(Predicate.parse("($x := age + 1) == 37 AND $x == 37")))
  }

  @Test func `expressions may stand for variables, as deep as the parser allows`() throws {
    let predicate = try Predicate.parse("$who.age > 30 AND $n == 'Ada'")
    let result = try predicate.substituting(expressions: ["who": .selfObject, "n": .keyPath(["name"])])
    #expect(result.text == "SELF.age > 30 AND name == \"Ada\"")
    #expect(try holds(result))
    var deep = Predicate.comparison(Comparison(left: .variable("x"), operator: .equal, right: .variable("x")))
    let failure = #expect(throws: Failure.self) {
      for _ in 0..<1000 { deep = try deep.substituting(expressions: ["x": .function("negate:", [.variable("x")])]) }
    }
    #expect(failure?.message.string.contains("deep") == true)
    #expect(try Predicate.parse(Text(deep.text)) == deep)
    #expect(try PredicateEvaluator(deep).matches(person, variables: ["x": 1]))
  }
}
