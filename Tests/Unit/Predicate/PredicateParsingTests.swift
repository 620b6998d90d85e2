import Testing

@testable import QuireCore

@Suite struct PredicateParsingTests {
  private func parse(_ format: String, _ arguments: Value...) throws -> Predicate {
    try Predicate.parse(Text(format), arguments: arguments)
  }

  private func comparison(_ format: String, _ arguments: Value...) throws -> Comparison {
    guard case .comparison(let comparison) = try Predicate.parse(Text(format), arguments: arguments) else {
      throw Failure(.invalidPredicate, "\(format) is no comparison.")
    }
    return comparison
  }

  private func failure(_ format: String, _ arguments: Value...) -> Failure? {
    #expect(throws: Failure.self, "\(format)") {
      _ = try Predicate.parse(Text(format), arguments: arguments)
    }
  }

  @Test func `AND binds tighter than OR and NOT tighter than both`() throws {
    let a = try parse("a == 1"), b = try parse("b == 2"), c = try parse("c == 3")
    #expect(try parse("a == 1 OR b == 2 AND c == 3") == .or([a, .and([b, c])]))
    #expect(try parse("a == 1 AND b == 2 OR c == 3") == .or([.and([a, b]), c]))
    #expect(try parse("NOT a == 1 && b == 2") == .and([.not(a), b]))
    #expect(try parse("!(a == 1 || b == 2)") == .not(.or([a, b])))
    #expect(try parse("a == 1 and b == 2 AND c == 3") == .and([a, b, c]))
    #expect(try parse("(a == 1 AND b == 2) AND c == 3") == .and([.and([a, b]), c]))
  }

  @Test func `arithmetic has the precedence of other languages and comparison is looser than bits`() throws {
    #expect(try Expression.parse("a + b * c ** -d").text == "a + (b * (c ** (-d)))")
    #expect(try Expression.parse("a - b - c").text == "(a - b) - c")
    #expect(try Expression.parse("a ** b ** c").text == "a ** (b ** c)")
    #expect(try Expression.parse("a | b ^ c & d << e + f").text == "a | (b ^ (c & (d << (e + f))))")
    #expect(try comparison("1 & 0 == 0").left == Expression.parse("1 & 0"))
    #expect(try Expression.parse("a %% 2") == .function("modulus:by:", [.keyPath(["a"]), .constant(.integer(2))]))
  }

  @Test func `every spelling of an operator gives its number`() throws {
    let numbers: [(String, UInt32)] = [
      ("a < 1", 0), ("a <= 1", 1), ("a =< 1", 1), ("a > 1", 2), ("a >= 1", 3), ("a => 1", 3), ("a = 1", 4),
      ("a == 1", 4),
      ("a != 1", 5), ("a <> 1", 5), ("a MATCHES 'x'", 6), ("a like 'x'", 7), ("a BeginsWith 'x'", 8),
      ("a ENDSWITH 'x'", 9), ("a IN b", 10), ("a UTI-CONFORMS-TO 'x'", 11), ("a isKindOfClass: b", 11),
      ("a CONTAINS 'x'", 99), ("a BETWEEN b", 100),
    ]
    for (format, number) in numbers { #expect(try comparison(format).operator.rawValue == number, "\(format)") }
    #expect(try comparison("a <[cd] 'x'").options.rawValue == 3)
    #expect(try comparison("a CONTAINS[ndlc]'x'").options.rawValue == 15)
    #expect(try comparison("SOME a.b == 1").modifier == .any)
    #expect(try comparison("ALL a.b == 1").modifier == .all)
    #expect(try parse("NONE a.b == 1") == .not(parse("ANY a.b == 1")))
  }

  @Test func `numbers are read in every form`() throws {
    let forms: [(String, Value)] = [
      ("12", .integer(12)), ("0x1F", .integer(31)), ("0o17", .integer(15)), ("0b1011", .integer(11)),
      ("1.5", .double(1.5)),
      (".5", .double(0.5)), ("2e3", .double(2000)), ("1.5E-2", .double(0.015)), ("-7", .integer(-7)),
      ("--7", .integer(7)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("0xFFFFFFFFFFFFFFFFFF", .double(0x1p72)),
    ]
    for (form, value) in forms {
      let constant = try #require(try Expression.parse(Text(form)).constantValue, "\(form)")
      #expect(Value.areSame(constant, value) && constant.kindName == value.kindName, "\(form)")
    }
    for form in ["12abc", "0x", "1e", "0b12", "x.0"] { #expect(failure("a == \(form)") != nil) }
  }

  @Test func `escapes in text are decoded and an unknown one is kept for patterns`() throws {
    let forms: [(String, String)] = [
      (#"'a\n\t\r\\\"\''"#, "a\n\t\r\\\"'"), (#""\x41\101\u00e9\ud83d\ude00""#, "AA\u{e9}\u{1F600}"),
      (#"'\w+\.'"#, #"\w+\."#),
      (#"'\a\b\f\v\0'"#, "\u{7}\u{8}\u{C}\u{B}\u{0}"), ("'$x %@ %%'", "$x %@ %%"),
    ]
    for (form, text) in forms {
      guard case .text(let read)? = try Expression.parse(Text(form)).constantValue else {
        Issue.record("\(form) is no text")
        continue
      }
      #expect(read.string.unicodeScalars.elementsEqual(text.unicodeScalars), "\(form)")
    }
    for form in [#"'\xZ1'"#, #"'\ud800'"#, #"'\ud800\u0041'"#, #"'\u12'"#, "'open", #"'open\'"#] {
      #expect(failure("a == \(form)") != nil, "\(form)")
    }
  }

  @Test func `each placeholder takes an argument of its kind`() throws {
    #expect(try parse("%K == %@", .text("a.b"), .nil) == parse("a.b == nil"))
    #expect(try parse("%K > 1", .text("like")) == parse("#like > 1"))
    #expect(try comparison("%K == 1", .text("$x")).left == .keyPath(["$x"]))
    #expect(
      try parse("a == %d OR a == %lld OR a == %lu OR a == %x", .integer(1), .integer(2), .integer(3), .integer(4))
        == parse("a == 1 OR a == 2 OR a == 3 OR a == 4"))
    #expect(try parse("a > %f AND a < %g", .double(1.5), .integer(2)) == parse("a > 1.5 AND a < 2.0"))
    #expect(try parse("a == %s AND b == %c", .text("x"), .integer(65)) == parse("a == 'x' AND b == 65"))
    #expect(try parse("a BETWEEN {%@, %@}", .integer(1), .integer(3)) == parse("a BETWEEN {1, 3}"))
    #expect(try parse("a LIKE '%@'", .text("unused")) == parse("a LIKE '%@'"))
    let kinds = Placeholder.list(in: "%K == %lld AND a == '%@' AND b == %@ AND c > %f").map(\.kind)
    #expect(kinds == [.keyPath, .integer, .value, .real])
  }

  @Test func `an argument that is missing, left over or of the wrong kind is an error at its specifier`() {
    #expect(failure("a == %@ AND b == %@", .integer(1))?.offset == 17)
    #expect(failure("a == %@", .integer(1), .integer(2))?.offset == 7)
    #expect(failure("a == %d", .text("1"))?.offset == 5)
    #expect(failure("%K == 1", .integer(1))?.offset == 0)
    #expect(failure("%K == 1", .text("a..b"))?.offset == 0)
    #expect(failure("a > %f", .text("x"))?.message.string.contains("a floating number") == true)
    #expect(failure("%k like %@", .text("a"), .text("b"))?.offset == 0)
  }

  @Test func `the message shows the line and a caret under the place, counted in characters`() {
    #expect(failure("näme == ")?.message.string.hasSuffix("\nnäme == \n        ^") == true)
    #expect(failure("näme == ")?.offset == 9)
    let lines = failure("a == 1 AND\n  b === 2 OR\n c == 3")
    #expect(lines?.message.string.hasSuffix("\n  b === 2 OR\n      ^") == true)
    #expect(lines?.offset == 17)
    let long = "aaaa == 1 AND " + String(repeating: "b == 2 AND ", count: 500)
    let tail = failure(long + "?")?.message.string.split(separator: "\n")
    #expect(tail?.count == 3)
    #expect((tail?[1].count ?? 999) <= 80 && tail?[1].hasPrefix("…") == true)
    #expect(tail.map { $0[1].count } == tail.map { $0[2].count })
    #expect(failure("\u{1F469}\u{200D}\u{1F4BB} == 1")?.offset == 0)
  }

  @Test func `what is no predicate says so`() {
    let formats = [
      "", " ", "YES", "TRUE", "1", "a", "a * 25", ",", "?", "? == 1", "a === 1", "()", "() == 1", "a NOT IN {1}",
      "a IN", "0 || 1",
      "a == 1 // c", "a == 1 /* c */", "a CONATINS 0", "(ANY .id == 1)", "a == b == c", "a == 1 b == 2",
      "a BETWEEN {1}",
      "a BETWEEN {1, 2, 3}", "a BETWEEN 5", "a ==[x] 1", "a ==[c 1", "a[1 == 2", "a. == 1", "FUNCTION(a, b) == 1",
      "NOT", "a AND b == 1",
      "SUBQUERY(a, x, x == 1).@count > 0", "CAST(a, b) == 1", "like == 1", "“a” == 1", "{1, == a", "%", "a == %y",
      "$ == 1", "@ == 1",
      "1 + (a == 2) == 3", "modulus:by:(a) == 1",
    ]
    for format in formats {
      let failure = failure(format)
      #expect(failure?.kind == .invalidPredicate, "\(format)")
      #expect((0...format.utf8.count).contains(failure?.offset ?? -1), "\(format)")
    }
    #expect(failure("a NOT IN {1}")?.message.string.contains("NOT (x IN y)") == true)
    #expect(failure("“a” == 1")?.message.string.contains("Quote text") == true)
    #expect(failure("like == 1")?.message.string.contains("#like") == true)
  }

  @Test func `a nest or a chain that is too deep is an error and not an overflow`() {
    let many = 300_000
    let formats = [
      String(repeating: "(", count: many), String(repeating: "NOT ", count: many), String(repeating: "!", count: many),
      String(repeating: "-", count: many), String(repeating: "{", count: many), String(repeating: "f(", count: many),
      "a" + String(repeating: "+a", count: many), "a" + String(repeating: "**a", count: many),
      "a" + String(repeating: "[0]", count: many),
      "a" + String(repeating: ".$b", count: many), String(repeating: "a[", count: many),
      String(repeating: "TERNARY(", count: many), String(repeating: "(a == 1 AND ", count: many),
      String(repeating: "SUBQUERY(a, $x, ", count: many), "a == " + String(repeating: "~", count: many),
    ]
    for format in formats { #expect(failure(format)?.message.string.contains("deep") == true, "\(format.prefix(20))") }
  }

  @Test func `a list is as deep as an argument as it is written out`() throws {
    let list = Value.list([.list([.list([.integer(1)]), .list([])])])
    var depths: Set<Int> = []
    for count in 115...130 {
      let start = String(repeating: "NOT ", count: count)
      guard let given = try? Predicate.parse(Text("\(start)a == -%@"), arguments: [list]) else { continue }
      depths.insert(count)
      #expect(try Predicate.parse(Text(given.text)) == given, "\(count)")
    }
    #expect(depths.contains(115) && !depths.contains(130))
  }

  @Test func `a chain of any length is flat`() throws {
    guard case .or(let parts) = try parse(Array(repeating: "a == 1", count: 100_000).joined(separator: " OR ")) else {
      Issue.record("no OR")
      return
    }
    #expect(parts.count == 100_000)
  }

  @Test func `random words give a tree or an error with a place`() {
    let words = [
      "a", "b.c", "#like", "SELF", "==", "<", "IN", "LIKE[c]", "BETWEEN", "(", ")", "{", "}", "[", "]", ",", ".", "NOT",
      "AND", "OR", "ANY", "1", "-", "2.5", "'x'", "\"", "+", "**", "$v", "@count", "SUBQUERY(", "CAST(", "TERNARY(",
      "sum(",
      "NULL", "YES", "UNION", "%%", ":=", "~", "modulus:by:(", "SIZE", "FIRST", "FETCH(", "FUNCTION(", "TRUEPREDICATE",
      "é", "\\", "%@", "!", "|", "0x1", "\n", "#'", "uti-equals",
    ]
    for seed in UInt64(1)...8 {
      var random = SplitMix(seed: seed)
      for _ in 0..<3000 {
        let length = Int.random(in: 1...9, using: &random)
        let separator = random.chance(3) ? "" : " "
        let format = (0..<length).map { _ in random.pick(words) }.joined(separator: separator)
        do throws(Failure) {
          let predicate = try Predicate.parse(Text(format))
          #expect((try? Predicate.parse(Text(predicate.text))) == predicate, "seed \(seed): \(format)")
        } catch {
          #expect((0...format.utf8.count).contains(error.offset), "seed \(seed): \(format)")
        }
      }
    }
  }

  @Test func `random formats of the whole grammar print as formats of the same tree`() throws {
    for seed in UInt64(1)...8 {
      var writer = FormatWriter(random: SplitMix(seed: seed))
      for round in 0..<1000 {
        let format = writer.predicate(depth: round % 5)
        let predicate = try Predicate.parse(Text(format))
        let text = predicate.text
        let again = try? Predicate.parse(Text(text))
        #expect(again == predicate, "seed \(seed): \(format) prints \(text)")
        #expect(again?.text == text, "seed \(seed): \(format)")
      }
    }
  }
}

/// Writes random formats that parse, with every form of the grammar.
private struct FormatWriter {
  var random: SplitMix

  mutating func predicate(depth: Int) -> String {
    if depth == 0 { return comparison(depth: 0) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      return "\(predicate(depth: depth - 1)) \(random.pick(["AND", "&&", "or", "||"])) \(predicate(depth: depth - 1))"
    case 2: return "(\(predicate(depth: depth - 1)))"
    case 3: return "\(random.pick(["NOT ", "!"]))(\(predicate(depth: depth - 1)))"
    case 4: return random.pick(["TRUEPREDICATE", "falsepredicate"])
    case 5: return "NOT \(predicate(depth: depth - 1))"
    default: return comparison(depth: depth - 1)
    }
  }

  private mutating func comparison(depth: Int) -> String {
    let quantifier = random.pick(["", "", "", "ANY ", "all ", "NONE ", "SOME "])
    if random.chance(6) {
      return "\(quantifier)\(expression(depth)) BETWEEN {\(expression(depth)), \(expression(depth))}"
    }
    let operation = random.pick([
      "==", "!=", "<", ">=", "=<", "IN", "CONTAINS", "LIKE", "MATCHES", "BEGINSWITH", "ENDSWITH", "UTI-EQUALS",
      "isKind:of:",
    ])
    let options = random.pick(["", "", "[c]", "[cd]", "[ln]", "[w]"])
    return "\(quantifier)\(expression(depth)) \(operation)\(options) \(expression(depth))"
  }

  private mutating func expression(_ depth: Int) -> String {
    if depth <= 0 {
      return random.pick([
        "a", "b.c", "SELF", "SELF.x", "#in", "#'k k'.y", "$v", "$v.x", "1", "-2", "2.5", "'t'", "nil", "YES", "{}",
        "{1, 'x'}", "@count",
        "ANYKEY", "a.@sum.b", "a.$k", "now()", "-0.0", "0x10", "CAST(3, 'NSDate')", "size", "a.$k.z",
        "-9223372036854775808",
      ])
    }
    let inner = depth - 1
    switch Int.random(in: 0..<18, using: &random) {
    case 0, 1, 2:
      let sign = random.pick(["+", "-", "*", "/", "**", "%%", "&", "|", "^", "<<", ">>", "UNION", "minus"])
      return "\(expression(inner)) \(sign) \(expression(inner))"
    case 3: return "(\(expression(inner)))"
    case 4: return "-\(expression(inner))"
    case 5: return "~(\(expression(inner)))"
    case 6: return "(\(expression(inner)))[\(random.pick(["FIRST", "LAST", "SIZE", "0", "#size", expression(inner)]))]"
    case 7: return "a.b[\(expression(inner))]"
    case 8: return "(\(expression(inner))).\(random.pick(["x", "@max.y", "$z", "like"]))"
    case 9: return "{\(expression(inner)), \(expression(inner))}"
    case 10: return "SUBQUERY(\(expression(inner)), $q, \(predicate(depth: inner))).@count"
    case 11: return "TERNARY(\(predicate(depth: inner)), \(expression(inner)), \(expression(inner)))"
    case 12: return "CAST(\(expression(inner)), 'NSNumber')"
    case 13: return "FUNCTION(\(expression(inner)), 'm:', \(expression(inner)))"
    case 14:
      return "\(random.pick(["sum", "modulus:by:", "mine"]))(\(expression(inner)), \(expression(inner)))".replacingSum
    case 15: return "FETCH(\(expression(inner)), $c, NO)"
    case 16: return "($v := \(expression(inner)))"
    default: return expression(0)
    }
  }
}

extension String {
  /// `sum` takes one list.
  fileprivate var replacingSum: String { hasPrefix("sum(") ? "sum({\(dropFirst(4).dropLast())})" : self }
}
