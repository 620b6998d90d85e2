import Testing

@testable import QuireCore

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

  @Test func `the variable of a SUBQUERY does not capture those of what is substituted`() throws {
    func named(_ format: String, _ expressions: [String: String]) throws -> String {
      try Predicate.parse(Text(format)).substituting(
        expressions: expressions.mapValues { (text) throws(Failure) in try Expression.parse(Text(text)) }
      ).text
    }
    let simple = "SUBQUERY(children, $x, $x.age == $age).@count == 1"
    for (format, expressions, text) in [
      (simple, ["age": "9"], "SUBQUERY(children, $x, $x.age == 9).@count == 1"),
      // Neither is it taken for one that has a value.
      (simple, ["age": "9", "x": "5"], "SUBQUERY(children, $x, $x.age == 9).@count == 1"),
      (simple, ["age": "$y"], "SUBQUERY(children, $x, $x.age == $y).@count == 1"),
      (simple, ["age": "$x"], "SUBQUERY(children, $x1, $x1.age == $x).@count == 1"),
      (simple, ["age": "$x + $x1"], "SUBQUERY(children, $x2, $x2.age == $x + $x1).@count == 1"),
      // Only what comes in counts.
      (simple, ["age": "1", "other": "$x"], "SUBQUERY(children, $x, $x.age == 1).@count == 1"),
      (
        "SUBQUERY($x, $x, $x.age == $age).@count == $x", ["age": "$x.b", "x": "$y"],
        "SUBQUERY($y, $x1, $x1.age == $x.b).@count == $y"
      ),
      (
        "SUBQUERY(a, $x, SUBQUERY($x.b, $x, $x.c == $v).@count == $x.d).@count == 1", ["v": "$x"],
        "SUBQUERY(a, $x1, SUBQUERY($x1.b, $x1, $x1.c == $x).@count == $x1.d).@count == 1"
      ),
      (
        "SUBQUERY(a, $x, SUBQUERY($x.b, $x1, $x1.c == $v AND $x.$x1 == $w).@count == 1).@count == 1",
        ["v": "$x", "w": "$x1"],
        "SUBQUERY(a, $x2, SUBQUERY($x2.b, $x11, $x11.c == $x AND $x2.$x11 == $x1).@count == 1).@count == 1"
      ),
      (
        "SUBQUERY(a, $x, SUBQUERY(b, $x, $x == 1).@count == $v).@count == 1", ["v": "SUBQUERY(c, $x, $x == 2).@count"],
        "SUBQUERY(a, $x, SUBQUERY(b, $x, $x == 1).@count == SUBQUERY(c, $x, $x == 2).@count).@count == 1"
      ),
    ] {
      #expect(try named(format, expressions) == text, "\(format)")
      #expect(try Predicate.parse(Text(text)).text == text)
    }
    // What a value for the outer variable gives is the same before and after.
    let predicate = try Predicate.parse(Text(simple)).substituting(expressions: ["age": .variable("x")])
    #expect(try holds(predicate, ["x": 9]))
    #expect(try !holds(predicate, ["x": 8]))
    #expect(try holds(predicate.substituting(["x": .integer(3)])))
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
