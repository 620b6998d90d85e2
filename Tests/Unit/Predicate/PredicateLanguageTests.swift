import Testing

@testable import QuireCore

/// Every part of the language, by the rules for where other implementations differ.
@Suite struct PredicateLanguageTests {
  private let library: Item = [
    "name": "Ada's", "city": nil, "empty": [], "limit": 300, "word": "pages", "prices": [4, 1.5, nil, 2],
    "open": true, "opened": .value(.date(1000)), "matrix": [[1, 2], [3], []],
    "owner": ["name": "Ada", "age": 36],
    "books": [
      [
        "title": "Faust", "pages": 300, "tags": [["label": "drama"], ["label": "German"]], "author": ["name": "Goethe"],
      ],
      ["title": "Emma", "pages": 400, "tags": [], "author": ["name": "Austen"]],
      ["title": "Zadig", "pages": 100, "tags": [["label": "satire"]], "author": nil],
    ],
  ]

  private func holds(_ format: String, _ object: Item? = nil, variables: [String: Item] = [:]) throws -> Bool {
    try PredicateEvaluator(Predicate.parse(Text(format))).matches(object ?? library, variables: variables)
  }

  private func value(_ format: String, _ object: Item? = nil) throws -> Item {
    try ExpressionEvaluator(Expression.parse(Text(format))).value(of: object ?? library)
  }

  private func check(true truths: [String], false lies: [String] = [], _ object: Item? = nil) throws {
    for format in truths { #expect(try holds(format, object), "\(format)") }
    for format in lies { #expect(try !holds(format, object), "\(format)") }
  }

  /// Each expression is what it is beside.
  private func check(values: [(String, Item)], _ object: Item? = nil) throws {
    for (format, expected) in values {
      let found = try value(format, object)
      #expect(try ValueTest([]).areEqual(found, expected), "\(format) gives \(found)")
    }
  }

  private func check(errors formats: [(String, naming: String)], _ object: Item? = nil) {
    for (format, offender) in formats {
      let failure = #expect(throws: Failure.self, "\(format)") {
        if let predicate = try? Predicate.parse(Text(format)) {
          _ = try PredicateEvaluator(predicate).matches(object ?? library)
        } else {
          _ = try value(format, object)
        }
      }
      #expect(failure?.message.string.contains(offender) == true, "\(format): \(failure?.message.string ?? "")")
    }
  }

  // MARK: Collections

  @Test func `quantifiers ask about the elements`() throws {
    try check(
      true: [
        "ANY books.pages > 300", "SOME books.pages == 100", "ALL books.pages >= 100", "NONE books.pages > 400",
        "ANY books.title BEGINSWITH[c] 'z'", "ALL books.title LIKE '*a*'", "ANY books.pages BETWEEN {350, 450}",
        "ANY books.pages IN {1, 100}", "ANY books.author.name == nil", "ANY books.title CONTAINS 'mm'",
        "ANY {1, 2, 3} == 3", "NOT ALL books.pages == 100", "ANY books.pages == limit", "ANY prices == nil",
        "ANY books.title MATCHES 'F.+t'",
      ],
      false: [
        "ANY books.pages > 400", "ALL books.pages > 100", "NONE books.pages == 100", "ANY prices > 4",
        "ANY {nil, nil} CONTAINS nil",
      ])
  }

  @Test func `quantifiers over nothing and over what is not there`() throws {
    try check(
      true: ["ALL empty == 1", "NONE empty == 1", "ALL nowhere.x == 1", "NONE nowhere == 1"],
      false: ["ANY empty == 1", "SOME empty == 1", "ANY nowhere == 1", "ANY empty == nil", "ANY empty != 1"])
    check(errors: [("ANY limit == 1", "limit"), ("ALL owner.name == 'Ada'", "ALL"), ("ANY owner == 1", "a dictionary")])
  }

  @Test func `quantifiers over collections of collections ask about the innermost values`() throws {
    try check(
      true: [
        "ANY books.tags.label == 'satire'", "ANY matrix == 3", "ALL matrix < 4", "NONE books.tags.label == 'prose'",
        "ALL books.tags.label != nil",
      ],
      false: ["ANY books.tags.label == 'prose'", "ALL books.tags.label == 'drama'"])
  }

  @Test func `collection operators`() throws {
    try check(values: [
      ("books.@count", 3), ("books.@sum.pages", 800), ("books.@max.pages", 400), ("books.@min.title", "Emma"),
      ("empty.@count", 0), ("empty.@sum.x", 0), ("empty.@avg.x", nil), ("empty.@min.x", nil), ("empty.@max.x", nil),
      ("prices.@sum.self", 7.5), ("prices.@avg.self", 2.5), ("prices.@count", 4), ("nowhere.@count", nil),
      ("books.tags.@count", 3), ("books.@sum.tags.@count", 3), ("books.@max.tags.@count", 2),
      ("books.@unionOfObjects.title", ["Faust", "Emma", "Zadig"]), ("owner.@count", 2),
      ("books.@distinctUnionOfObjects.author.name", ["Goethe", "Austen", nil]),
      ("books.@unionOfArrays.tags.label", ["drama", "German", "satire"]), ("matrix.@unionOfArrays.self", [1, 2, 3]),
      ("books.@distinctUnionOfArrays.tags.@count", [2, 0, 1]), ("matrix.@sum.self", 6),
    ])
    try check(true: ["books.@avg.pages == 800 / 3.0", "books.@count == {1, 2, 3}.@count"])
    #expect(try holds("@count == 2", [1, 2]))
    check(errors: [
      ("books.@most.pages == 1", "@most"), ("limit.@count == 1", "limit.@count"), ("books.@sum.title == 1", "text"),
      ("books.@min.author == 1", "a dictionary"), ("books.@sum.title.@count == 1", "@count"),
    ])
  }

  @Test func `SUBQUERY keeps the elements for which its predicate holds`() throws {
    try check(
      true: [
        "SUBQUERY(books, $b, $b.pages > 100).@count == 2", "SUBQUERY(books, $b, $b.pages == limit)[0].title == 'Faust'",
        "SUBQUERY(books, $b, $b.pages > limit AND ANY $b.tags.label == 'drama').@count == 0",
        "SUBQUERY(books, $b, SUBQUERY($b.tags, $t, $t.label CONTAINS[c] 'm' AND $b.pages == 300).@count == 2)"
          + ".@count == 1",
        "SUBQUERY(books, $b, ALL $b.tags.label != 'drama')[SIZE] == 2", "SUBQUERY(nowhere, $b, $b == 1).@count == 0",
        "ANY SUBQUERY(books, $b, $b.pages < 200).title == 'Zadig'", "SUBQUERY(matrix, $m, ANY $m == 3)[0] == {3}",
        "SUBQUERY(books, $b, $b.pages == SELF.limit).@count == 1",
      ],
      false: ["SUBQUERY(books, $b, $b.title == name).@count > 0"])
    // The name of an outer variable means the inner one inside, and the outer one again behind it.
    #expect(
      try holds(
        "SUBQUERY(matrix, $x, SUBQUERY($x, $x, $x > 1).@count == 1 AND $x[0] == 1).@count == 1 AND $x == 7",
        variables: ["x": 7]))
    check(errors: [("SUBQUERY(limit, $b, $b == 1).@count == 0", "limit")])
  }

  @Test func `indexes`() throws {
    try check(values: [
      ("books[0].title", "Faust"), ("books[LAST].title", "Zadig"), ("books[FIRST].pages", 300), ("books[SIZE]", 3),
      ("books[limit / 300].title", "Emma"), ("books[3]", nil), ("books[-1]", nil),
      ("books[9223372036854775807]", nil), ("books[1e300]", nil), ("books[1.0].title", "Emma"), ("empty[FIRST]", nil),
      ("empty[LAST]", nil), ("empty[SIZE]", 0), ("owner['name']", "Ada"), ("owner['nothing']", nil),
      ("nowhere[0]", nil), ("{5, 6}[1]", 6), ("(books.title)[0]", "Faust"),
      ("books.tags[0].label", ["drama", nil, "satire"]),
      ("(books.tags)[0].label", ["drama", "German"]), ("books.tags[SIZE]", [2, 0, 1]), ("(books.tags)[SIZE]", 3),
      ("SELF['limit']", 300), ("books[0][word]", 300), ("owner[SIZE]", 2), ("matrix[0][1]", 2),
      ("objectFrom:withIndex:(books, LAST).title", "Zadig"), ("objectFrom:withIndex:(books, 1).title", "Emma"),
    ])
    check(errors: [
      ("name[0] == 'A'", "name[0]"), ("books['title'] == 1", "a list"), ("books[0.5] == 1", "books[0.5]"),
      ("owner[0] == 1", "a dictionary"), ("limit[SIZE] == 1", "limit[SIZE]"),
    ])
  }

  @Test func `lists with keys inside, and what is in them`() throws {
    try check(
      true: [
        "limit IN {1, limit}", "400 IN books.pages", "books.pages CONTAINS 100", "{limit, 2} == {300, 2}",
        "limit BETWEEN {limit, 1000}", "{1, limit} CONTAINS 300", "'Ada' IN owner", "'EMMA' IN[c] books.title",
        "books.title == {'Faust', 'Emma', 'Zadig'}", "books.title ==[c] {'faust', 'EMMA', 'zadig'}",
        "{1, {2, 3}} CONTAINS {2, 3}", "nil IN prices", "owner == books[0] OR owner == owner", "books.title != nil",
      ],
      false: [
        "5 IN books.pages", "books.pages == 300", "books.pages > 1", "limit IN {}", "books == owner", "{1} == 1",
        "'300' IN books.pages", "{1, 2} == {2, 1}", "limit IN nowhere",
      ])
    check(errors: [
      ("limit BETWEEN books.pages", "BETWEEN"), ("limit BETWEEN name", "two bounds"), ("limit IN 5", "IN"),
    ])
  }

  @Test func `UNION, INTERSECT and MINUS`() throws {
    try check(values: [
      ("{1, 2, 2} UNION {3, 1.0}", [1, 2, 3]), ("{1, 2} INTERSECT {2, 3}", [2]), ("{1, 2, 3} MINUS {2}", [1, 3]),
      ("books.pages INTERSECT {100, limit}", [300, 100]), ("empty UNION {'a'}", ["a"]), ("nowhere UNION {1}", nil),
      ("books.title MINUS {'Emma'} UNION {'x'}", ["Faust", "Zadig", "x"]),
    ])
    try check(true: ["2 IN {1} UNION {2}"], false: ["1 IN {1, 2} MINUS {1}"])
    check(errors: [("1 IN {1} MINUS limit", "an integer"), ("{1} UNION 'a'", "text")])
  }

  // MARK: Keys

  @Test func `the object itself may be a text, a number or a list`() throws {
    try check(true: ["SELF == 'ab'", "SELF LIKE 'a?'", "length == 2", "SELF.length == 2", "self.self == 'ab'"], "ab")
    try check(true: ["SELF + 1 == 3", "SELF IN {1, 2}", "self == 2.0"], 2)
    try check(
      true: ["SELF[0] == 1", "ANY SELF > 2", "@sum.self == 6", "SELF.@max.self == 3", "SELF CONTAINS 3"], [1, 2, 3])
    try check(true: ["SELF == nil", "x.y == nil", "x != 1", "SELF <= nil"], Item.nil)
    check(errors: [("x == 1", "'x'"), ("length == 1", "an integer")], 2)
    check(errors: [("name.x == 1", "'x'"), ("books.title.pages > 1", "text")])
  }

  @Test func `nil on the way gives nil, and what maps over a list keeps it`() throws {
    try check(values: [
      ("city.name", nil), ("nowhere.at.all", nil), ("books.author.name", ["Goethe", "Austen", nil]),
      ("city.length", nil), ("name.length", 5),
    ])
  }

  // MARK: Values

  @Test func `arithmetic with keys`() throws {
    try check(values: [
      ("limit + 1", 301), ("limit / 7", 42), ("limit / 7.0", .value(.double(300.0 / 7))), ("-limit", -300),
      ("limit * 2 - 1", 599), ("limit ** 2", 90000), ("limit %% 7", 6), ("limit / 0", nil), ("limit + city", nil),
      ("limit & 4", 4), ("limit | 1", 301), ("limit ^ 300", 0), ("~limit", -301), ("limit << 1", 600),
      ("limit >> 2", 75),
      ("open + open", 2),
    ])
    try check(true: ["9223372036854775807 + limit > 9223372036854775807", "owner.age * 2 == 72", "1 & limit == 0"])
    check(errors: [
      ("limit + name == 1", "limit + name"), ("limit + books == 1", "a list"), ("1.5 & limit == 1", "no integer"),
      ("-owner == 1", "a dictionary"), ("opened + 1 == 1", "a date"),
    ])
  }

  @Test func `functions of many values`() throws {
    try check(values: [
      ("sum(books.pages)", 800), ("sum({})", 0), ("sum({9223372036854775807, 1})", 9223372036854775808.0),
      ("average(books.pages)", .value(.double(800.0 / 3))), ("avg({1, 2})", 1.5), ("average({})", nil),
      ("min(books.pages)", 100), ("max(books.title)", "Zadig"), ("max(3, limit, 7)", 300), ("count(books)", 3),
      ("count({})", 0), ("median({5, 1, 3})", 3), ("median({4, 1, 3, 2})", 2.5), ("median({})", nil),
      ("mode({1, 2, 2, 3, 3})", [2, 3]), ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", 2), ("stddev({})", nil),
      ("sum(nowhere)", nil), ("min({})", nil), ("sum(prices)", 7.5), ("sum(matrix)", 6), ("max({nil, 1})", 1),
    ])
    check(errors: [
      ("sum(limit)", "sum:(limit)"), ("sum(books.title)", "text"), ("max({1, 'a'})", "no order"),
      ("count(limit)", "a collection"), ("median(books)", "a dictionary"),
    ])
  }

  @Test func `functions of one value`() throws {
    try check(values: [
      ("sqrt(16)", 4), ("log(1000)", 3), ("ln(1)", 0), ("exp(0)", 1), ("floor(-1.5)", -2), ("ceiling(1.2)", 2),
      ("trunc(-1.7)", -1), ("abs(-3)", 3), ("abs(-2.5)", 2.5), ("abs(-9223372036854775808)", 9223372036854775808.0),
      ("floor(limit)", 300), ("uppercase('straße')", "STRASSE"), ("lowercase(name)", "ada's"), ("length('né')", 2),
      ("length(name)", 5), ("canonical('Élan')", "elan"), ("noindex(limit)", 300), ("sqrt(city)", nil),
      ("uppercase(city)", nil), ("length(city)", nil), ("add:to:(limit, 1)", 301), ("onesComplement(0)", -1),
      ("raise:toPower:(2, 3)", 8), ("bitwiseXor:with:(6, 3)", 5), ("leftshift:by:(1, 4)", 16),
      ("modulus:by:(limit, 7)", 6), ("divide:by:(7, 2)", 3), ("from:subtract:(5, 3)", 2),
    ])
    try check(
      true: [
        "now() > opened", "now() < CAST(10000000000, 'NSDate')", "random() >= 0", "randomn(3) < 3", "randomn(1) == 0",
        "sqrt(-1) != sqrt(-1)",
      ])
    check(errors: [
      ("sqrt(name)", "sqrt:(name)"), ("sqrt(1, 2)", "takes 1 argument"), ("uppercase(limit)", "text"),
      ("length(limit)", "length:(limit)"), ("floor(books)", "floor:(books)"), ("randomn(0)", "positive"),
      ("distanceToLocation:fromLocation:(name, name)", "distanceToLocation:fromLocation:"),
      ("frobnicate(1)", "frobnicate"),
      ("now(1)", "now"),
    ])
  }

  @Test func `CAST`() throws {
    try check(values: [
      ("CAST(word, 'NSNumber')", nil), ("CAST(name.length, 'NSString')", "5"), ("CAST(opened, 'NSNumber')", 1000),
      ("CAST(limit, 'NSDate')", .value(.date(300))), ("CAST(city, 'NSNumber')", nil),
      ("CAST(CAST(opened, 'NSNumber') + 1, 'NSDate')", .value(.date(1001))), ("CAST(limit, 'NSDecimalNumber')", 300),
      ("castObject:toType:('0x1F', 'NSNumber')", 31), ("CAST('-12', 'NSNumber')", -12),
      ("CAST('1.5e2', 'NSNumber')", 150),
      ("CAST('012', 'NSNumber')", 10), ("CAST('089', 'NSNumber')", 89), ("CAST('12 apples', 'NSNumber')", nil),
      ("CAST('', 'NSNumber')", nil), ("CAST('9223372036854775808', 'NSNumber')", 9223372036854775808.0),
      ("CAST(open, 'NSNumber')", 1), ("CAST(name, 'NSURL')", "Ada's"), ("CAST(1.5, 'NSString')", "1.5"),
    ])
    check(errors: [
      ("CAST(limit, 'NSColor')", "NSColor"), ("CAST(limit, 'NSUUID')", "an integer"),
      ("CAST(books, 'NSNumber')", "a list"),
    ])
  }

  @Test func `TERNARY evaluates the branch that it takes`() throws {
    try check(values: [
      ("TERNARY(limit > 1, 'many', 'few')", "many"), ("TERNARY(city == nil, name, city).length", 5),
      ("TERNARY(ANY books.pages == 1, sqrt(name), 2)", 2), ("TERNARY(open == YES, {1, limit}, 0)", [1, 300]),
    ])
    check(errors: [("TERNARY(open == YES, sqrt(name), 2)", "sqrt:(name)")])
  }

  // MARK: Text

  @Test func `options`() throws {
    try check(
      true: [
        "'é' ==[d] 'e'", "'É' ==[cd] 'e'", "'É' !=[c] 'e'", "'a' IN[c] {'A'}", "5 ==[cd] 5", "'b' >[c] 'A'",
        "'a' <[cd] 'B'", "{'É'} CONTAINS[cd] 'e'", "'A' !=[cn] 'a'", "'É' CONTAINS[d] 'E'", "'ABC' MATCHES[c] 'a.c'",
        "'é' LIKE[d] '?'",
      ],
      false: ["'É' ==[d] 'e'", "'a' CONTAINS[cd] ''", "'' BEGINSWITH ''", "'a' ENDSWITH[c] ''", "'A' ==[n] 'a'"])
  }

  @Test func `text compares by code point, and with l as the locale collates it`() throws {
    try check(
      true: [
        "'B' < 'a'", "'a' <[l] 'B'", "'e\u{301}' ==[l] 'é'", "'É' ==[cdl] 'e'", "'E' ==[cl] 'e'", "'E' !=[dl] 'e'",
        "'É' ==[dl] 'E'", "'xÉTx' CONTAINS[cdl] 'et'", "'État' BEGINSWITH[cdl] 'et'", "'café' ENDSWITH[cdl] 'FE'",
        "'Ñ' IN[cdl] {'n', 'o'}", "'b' BETWEEN[l] {'A', 'C'}", "'É' LIKE[cdl] 'e'", "'É' MATCHES[cdl] '[e]'",
        "'' ==[l] ''", "'é' >[l] 'e'", "'é' <[l] 'f'",
      ],
      false: [
        "'e\u{301}' == 'é'", "'E' ==[l] 'e'", "'a' CONTAINS[l] ''", "'' CONTAINS[l] 'a'", "'État' BEGINSWITH[l] 'et'",
        "'a' CONTAINS[cdl] 'b'", "'cafés' ENDSWITH[cdl] 'fe'",
      ])
    check(errors: [("'a' LIKE[w] 'a'", "[w]")])
  }

  // MARK: What is not there

  @Test func `what nothing evaluates is named`() {
    check(errors: [
      ("FUNCTION(name, 'boolValue') == 1", "boolValue"), ("FETCH(name, name, NO) == 1", "FETCH"),
      ("ANYKEY == 1", "ANYKEY"),
      ("name UTI-CONFORMS-TO 'public.text'", "UTI-CONFORMS-TO"), ("name isKindOfClass: 'x'", "isKindOfClass:"),
      ("name == $x", "$x"), ("owner.$key == 1", "$key"),
    ])
  }
}
