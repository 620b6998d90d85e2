import Testing

@testable import QuireCore

/// What suites of other implementations assert, Apple's among them, evaluated in memory.
@Suite(.enabled(if: SharedData.isThere)) struct PredicateCaseTests {
  /// The cases of each file, for the line that says how many are skipped.
  static let counts = ["eval.json": 678, "parse.json": 252]

  /// Cases that are not met, and why.
  static let unmet: [String: String] = {
    var unmet = ["eval-0171": "isKindOfClass: is an operator of Objective-C's own."]
    let calls = [
      "eval-0300", "eval-0302", "eval-0303", "eval-0304", "eval-0305", "eval-0306", "eval-0309", "eval-0311",
      "eval-0312", "eval-0383", "eval-0750", "eval-0751",
    ]
    for id in calls { unmet[id] = "FUNCTION calls what is not registered here; the tests of Python register it." }
    return unmet
  }()

  @Test func `every case holds that is not listed with a reason`() throws {
    var met = 0
    for entry in try SharedData.cases("eval.json") {
      let id = entry["id"]?.text ?? ""
      let problem = PredicateCase(entry).problem
      if let problem {
        #expect(PredicateCaseTests.unmet[id] != nil, "\(id): \(problem)")
      } else {
        met += 1
        #expect(PredicateCaseTests.unmet[id] == nil, "\(id) holds now.")
      }
    }
    print("\(met) cases of eval.json are met, \(PredicateCaseTests.unmet.count) are not")
  }

  @Test(arguments: ["eval.json", "parse.json"])
  func `what prints parses back to the same tree`(_ file: String) throws {
    let entries = try SharedData.cases(file)
    #expect(entries.count == PredicateCaseTests.counts[file])
    for entry in entries {
      guard let format = entry["format"]?.text else { continue }
      var arguments: [Value] = []
      for argument in entry["args"]?.array ?? [] {
        guard let value = argument.item.argument else { continue }
        arguments.append(value)
      }
      if let predicate = try? Predicate.parse(Text(format), arguments: arguments) {
        #expect(try Predicate.parse(Text(predicate.text)) == predicate, "\(format) -> \(predicate.text)")
      } else if let expression = try? Expression.parse(Text(format), arguments: arguments) {
        #expect(try Expression.parse(Text(expression.text)) == expression, "\(format) -> \(expression.text)")
      }
    }
  }
}

/// One case of eval.json.
private struct PredicateCase {
  let entry: [String: JSON]

  init(_ entry: [String: JSON]) { self.entry = entry }

  /// What is wrong, or nil when the case holds.
  var problem: String? {
    let mayThrow: Bool
    if case .boolean(true)? = entry["throws"] { mayThrow = true } else { mayThrow = false }
    do {
      let difference = try difference()
      return mayThrow ? "should be an error" : difference
    } catch {
      return mayThrow ? nil : "\(error)"
    }
  }

  private func difference() throws -> String? {
    switch entry["kind"]?.text {
    case "expression", "keypath":
      let item = try value()
      if case .boolean(true)? = entry["throws"] { return nil }
      let expected = entry["expected"] ?? .null
      return try PredicateCase.isSame(item, expected) ? nil : "gives \(item), not \(expected)"
    default:
      let predicate = try predicate()
      if let problem = try difference(predicate, entry["expected"]) { return problem }
      guard let negation = entry["negation_expected"] else { return nil }
      return try difference(.not(predicate), negation).map { "NOT: \($0)" }
    }
  }

  // MARK: Predicates

  private func predicate() throws -> Predicate {
    guard let compound = entry["compound"]?.text else {
      let predicate = try Predicate.parse(Text(entry["format"]?.text ?? ""), arguments: arguments())
      return try expressions().map { try predicate.substituting(expressions: $0) } ?? predicate
    }
    let parts = try (entry["subpredicates"]?.array ?? []).map { try Predicate.parse(Text($0.text ?? "")) }
    return compound == "not" ? .not(parts[0]) : compound == "or" ? .or(parts) : .and(parts)
  }

  private func difference(_ predicate: Predicate, _ expected: JSON?) throws -> String? {
    let evaluator = try PredicateEvaluator(predicate)
    let variables = variables
    guard let objects = entry["objects"]?.array else {
      let holds = try evaluator.matches((entry["object"] ?? .null).item, variables: variables)
      guard case .boolean(let expected)? = expected else { return nil }
      return holds == expected ? nil : "is \(holds)"
    }
    var found: [Int64] = []
    for (place, object) in objects.enumerated() where try evaluator.matches(object.item, variables: variables) {
      found.append(Int64(place))
    }
    if case .integer(let count)? = entry["expected_count"] {
      return found.count == Int(count) ? nil : "holds for \(found), not for \(count)"
    }
    let places = (expected?.array ?? []).compactMap { if case .integer(let place) = $0 { place } else { nil } }
    return found == places ? nil : "holds for \(found), not for \(places)"
  }

  // MARK: Values

  private func value() throws -> Item {
    var variables = variables
    var expression: Expression
    if let path = entry["keypath"]?.text {
      expression = .keyPath(path.split(separator: ".").map { Key(String($0)) })
    } else if let operation = entry["set_expression"]?.text?.uppercased() {
      variables = ["left": (entry["left"] ?? .null).item, "right": (entry["right"] ?? .null).item]
      let set = try #require(Expression.SetOperation(rawValue: operation))
      expression = .set(set, .variable("left"), .variable("right"))
    } else if let name = entry["function"]?.text {
      var parts: [Expression] = []
      for (place, argument) in (entry["arguments"]?.array ?? []).enumerated() {
        if let symbol = argument.object?["$symbol"]?.text {
          parts.append(.keyPath([Key(symbol)]))
        } else {
          variables["\(place)"] = argument.item
          parts.append(.variable("\(place)"))
        }
      }
      expression = .function(Function.canonicalName(name), parts)
    } else {
      expression = try Expression.parse(Text(entry["format"]?.text ?? ""), arguments: arguments())
    }
    if let expressions = try expressions() { expression = try expression.substituting(expressions: expressions) }
    return try ExpressionEvaluator(expression).value(of: (entry["object"] ?? .null).item, variables: variables)
  }

  private static func isSame(_ item: Item, _ expected: JSON) throws -> Bool {
    let isSet = expected.object?["$set"] != nil
    if isSet, let found = item.elements, let wanted = expected.item.elements {
      let set = try ItemSet(found)
      return try found.count == wanted.count && wanted.allSatisfy { try set.contains($0) }
    }
    if let found = item.scalar?.number?.double, let wanted = expected.item.scalar?.number?.double {
      return abs(found - wanted) <= 1e-12 * max(1, abs(wanted))
    }
    return try ValueTest([]).areEqual(item, expected.item)
  }

  // MARK: Arguments

  private func arguments() throws -> [Value] {
    try (entry["args"]?.array ?? []).map { try #require($0.item.argument) }
  }

  private var substitution: [String: JSON] { entry["substitution"]?.object ?? [:] }

  /// What is substituted before evaluation; nil when some value can only be given as a variable.
  private func expressions() throws -> [String: Expression]? {
    if substitution.isEmpty { return nil }
    var expressions: [String: Expression] = [:]
    for (name, json) in substitution {
      if let format = json.object?["$expr"]?.text {
        expressions[name] = try Expression.parse(Text(format))
      } else {
        guard let value = json.item.argument else { return nil }
        expressions[name] = .constant(value)
      }
    }
    return expressions
  }

  private var variables: [String: Item] { substitution.mapValues(\.item) }
}
