import CSQLite
import Testing

@testable import QuireCore

/// A table of every type of column, filled at random, against which the same predicate is asked in memory and in SQL.
private final class PredicateTable {
  final class Row: PropertySource {
    let values: [String: Value]
    init(values: [String: Value]) { self.values = values }
    var identity: Value { values["SELF"] ?? .nil }
    func hasProperty(of key: Key) -> Bool { false }
    func item(forKey key: Key, asValue: Bool) throws(Failure) -> Item {
      guard let value = values[key.name] else { throw Failure(.notFound, "There is no property \(key.name).") }
      return Item(value)
    }
  }

  static let columns: [(name: String, declaration: String, type: ColumnType)] = [
    ("i", "INTEGER", .integer), ("j", "INTEGER", .integer), ("b", "INTEGER", .boolean), ("d", "FLOAT", .double),
    ("e", "DOUBLE", .double), ("f", "FLOAT", .float), ("m", "DECIMAL", .decimal), ("s", "VARCHAR", .text),
    ("t", "VARCHAR", .text), ("w", "TIMESTAMP", .date), ("v", "TIMESTAMP", .date), ("x", "BLOB", .data),
    ("u", "BLOB", .uuid), ("l", "VARCHAR", .uri), ("o", "INTEGER", .object(root: 1)),
    ("p", "INTEGER", .object(root: 2)),
  ]

  private(set) var handle: OpaquePointer!
  private(set) var rows: [Row] = []
  private var reported: Failure?
  private static let schema: Schema = {
    let sketch = ModelSketch()
    do {
      try sketch.entity("R")
      try sketch.entity("S")
      for column in columns {
        switch column.type {
        case .object(let root): try sketch.toOne("R.\(column.name)", root == 1 ? "R" : "S")
        default:
          try sketch.model.addAttribute(
            named: column.name, to: "R", type: attributeType(column.type), isOptional: true)
        }
      }
      return Schema(model: try sketch.frozen())
    } catch {
      fatalError("\(error)")
    }
  }()

  private static func attributeType(_ type: ColumnType) -> AttributeType {
    switch type {
    case .integer, .object: .integer64
    case .boolean: .boolean
    case .double: .double
    case .float: .float
    case .decimal: .decimal
    case .text: .string
    case .date: .date
    case .data: .binary
    case .uuid: .uuid
    case .uri: .uri
    }
  }

  init(_ random: inout SplitMix, rows count: Int) throws {
    #expect(sqlite3_open(":memory:", &handle) == SQLITE_OK)
    try PredicateFunctions.register(on: handle) { [unowned self] in reported = $0 }
    let definitions = PredicateTable.columns.map { "Z\($0.name.uppercased()) \($0.declaration)" }.joined(
      separator: ", ")
    try run("CREATE TABLE ZR (Z_PK INTEGER PRIMARY KEY, \(definitions))", [])
    for column in PredicateTable.columns { try run("CREATE INDEX n_\(column.name) ON ZR (Z\(column.name))", []) }
    for key in 1...count {
      var values: [String: Value] = ["SELF": .object(ObjectReference(root: 1, id: Int64(key)))]
      for column in PredicateTable.columns { values[column.name] = random.value(column.type) }
      rows.append(Row(values: values))
      let marks = PredicateTable.columns.map { _ in "?" }.joined(separator: ", ")
      try run(
        "INSERT INTO ZR VALUES (\(key), \(marks))",
        PredicateTable.columns.map { .value(stored(values[$0.name] ?? .nil)) })
    }
  }

  deinit { sqlite3_close(handle) }

  /// As the file holds it.
  private func stored(_ value: Value) -> Value {
    switch value {
    case .boolean(let boolean): .integer(boolean ? 1 : 0)
    case .float(let float): .double(Double(float))
    case .decimal(let decimal): .double(decimal.double)
    case .date(let seconds): .double(seconds)
    case .uuid(let bytes): .data(bytes)
    case .uri(let text): .text(text)
    case .object(let box): .integer(box.reference.id)
    default: value
    }
  }

  @discardableResult
  func run(_ sql: String, _ arguments: [SQLArguments.Argument]) throws -> [Int64] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      throw Failure(.database, "\(String(cString: sqlite3_errmsg(handle))) in \(sql.prefix(300))")
    }
    defer { sqlite3_finalize(statement) }
    for (place, argument) in arguments.prefix(Int(sqlite3_bind_parameter_count(statement))).enumerated() {
      let index = Int32(place + 1)
      func bind(_ object: AnyObject, as type: StaticString) {
        let type = UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
        sqlite3_bind_pointer(statement, index, Unmanaged.passUnretained(object).toOpaque(), type, nil)
      }
      switch argument {
      case .program(let program): bind(program, as: ProgramFunctions.pointerType)
      case .matcher(let matcher): bind(matcher, as: PredicateFunctions.matcherType)
      case .part, .outer: continue
      case .value(let value):
        switch value {
        case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
        case .double(let double): sqlite3_bind_double(statement, index, double)
        case .text(let text):
          let start = UnsafeRawPointer(text.bytes.start).assumingMemoryBound(to: CChar.self)
          _ = quire_sqlite_bind_text_copy(statement, index, start, UInt64(text.bytes.count))
        case .data(let data): _ = quire_sqlite_bind_blob_copy(statement, index, data.start, UInt64(data.count))
        case .nil: sqlite3_bind_null(statement, index)
        default: throw Failure(.invalidArgument, "\(value.kindName) is no argument that a predicate may pass.")
        }
      }
    }
    var found: [Int64] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: found.append(sqlite3_column_int64(statement, 0))
      case SQLITE_DONE: return found
      default: throw reported ?? Failure(.database, String(cString: sqlite3_errmsg(handle)))
      }
    }
  }

  /// The WHERE clause and its arguments.
  static func compile(_ predicate: Predicate) throws -> (sql: String, arguments: [SQLArguments.Argument]) {
    let arguments = SQLArguments()
    let compiler = SQLCompiler(schema: schema, textIndexes: nil, arguments: arguments)
    let row = SQLCompiler.mainRow(try schema.model.entity(named: "R"), alias: "r")
    return (try compiler.condition(predicate, SQLScope(subject: row)).sql, arguments.all)
  }

  static func type(_ path: [String]) throws(Failure) -> ColumnType {
    guard let name = path.first else { return .object(root: 1) }
    guard let column = columns.first(where: { $0.name == name }) else {
      throw Failure(.notFound, "There is no property \(path).")
    }
    return column.type
  }

  func inMemory(_ predicate: Predicate) throws -> [Int64] {
    let evaluator = try PredicateEvaluator(predicate)
    var found: [Int64] = []
    for (place, row) in rows.enumerated() where try evaluator.matches(row) { found.append(Int64(place + 1)) }
    return found
  }

  func inSQL(_ predicate: Predicate) throws -> [Int64] {
    let compiled = try PredicateTable.compile(predicate)
    return try run("SELECT Z_PK FROM ZR r WHERE (\(compiled.sql)) ORDER BY Z_PK", compiled.arguments)
  }
}

/// A random source with a seed that a failure can name.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[Int.random(in: 0..<choices.count, using: &self)]
  }
  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }

  private static let texts = [
    "", "a", "A", "ab", "aB", "Ä", "ä", "a\u{308}", "é", "e", "É", "straße", "STRASSE", "strasse", "a*c", "a?c", "abc",
    "a\nb", "\u{0}", "a\u{0}b", "日本", "日", "각", "가", "İ", "i", "I", "ı", "\u{10FFFF}", "\u{D7FF}x", "ﬀ", "ff", "'\"\\",
    "5",
    "Ångström", "angstrom",
  ]
  private static let integers: [Int64] = [
    -1, 0, 1, 2, 5, 7, .min, .max, 9_007_199_254_740_992, 9_007_199_254_740_993, 16_777_217, 16_777_216,
  ]
  private static let reals = [
    -1, -0.0, 0, 0.1, 0.5, 1, 1.5, 2, 5, 7, 1e300, -1e300, 9_007_199_254_740_992, 9_223_372_036_854_775_808, .infinity,
    -.infinity, 16_777_217, 1.7,
  ]

  mutating func value(_ type: ColumnType, orNil: Bool = true) -> Value {
    if orNil, chance(5) { return .nil }
    switch type {
    case .integer: return .integer(pick(SplitMix.integers))
    case .boolean: return .boolean(chance(2))
    case .double: return .double(pick(SplitMix.reals))
    case .float: return .float(Float(pick(SplitMix.reals)))
    case .decimal: return .decimal(pick([Decimal(1), Decimal(5), Decimal("0.1".utf8)!, Decimal("-2.50".utf8)!]))
    case .text: return .text(pick(SplitMix.texts))
    case .date: return .date(pick([-1.5, 0, 1, 700_000_000.25, 700_000_000.125]))
    case .data: return .data(Bytes(pick([[], [0], [1, 2], [1, 2, 3], [255]])))
    case .uuid: return .uuid(Bytes([UInt8](repeating: pick([0, 7, 255]), count: 16)))
    case .uri: return .uri(Text(pick(["http://a", "a", "abc", "HTTP://A"])))
    case .object(let root):
      return .object(ObjectReference(root: root, id: pick([1, 2, 3, 40, -1])))
    }
  }

  /// A constant, most often of the class of `type`, sometimes of any.
  private mutating func constant(_ type: ColumnType) -> Value {
    if chance(12) { return .double(.nan) }
    if chance(6) { return value(pick(PredicateTable.columns).type) }
    switch type {
    case .integer, .boolean, .double, .float, .decimal:
      return value(pick([.integer, .boolean, .double, .float, .decimal]))
    case .text, .uri: return value(pick([.text, .text, .uri]))
    default: return value(type)
    }
  }

  mutating func predicate(depth: Int) -> Predicate {
    switch depth > 0 ? Int.random(in: 0..<8, using: &self) : 7 {
    case 0, 1: return .and((0..<Int.random(in: 2...4, using: &self)).map { _ in predicate(depth: depth - 1) })
    case 2, 3: return .or((0..<Int.random(in: 2...4, using: &self)).map { _ in predicate(depth: depth - 1) })
    case 4, 5: return .not(predicate(depth: depth - 1))
    case 6 where chance(4): return .constant(chance(2))
    default: return .comparison(comparison())
    }
  }

  private mutating func comparison() -> Comparison {
    let column = pick(PredicateTable.columns)
    let key: Expression = chance(15) ? .selfObject : .keyPath([Key(column.name)])
    let type: ColumnType = key == .selfObject ? .object(root: 1) : column.type
    let operators: [Comparison.Operator] = [
      .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .equal, .notEqual, .notEqual, .isIn,
      .isIn,
      .between, .contains, .beginsWith, .endsWith, .like, .matches,
    ]
    let operation = pick(operators)
    var other: Expression = chance(4) ? .keyPath([Key(pick(PredicateTable.columns).name)]) : .constant(constant(type))
    if operation == .between {
      other = .aggregate((0..<2).map { _ in chance(6) ? .keyPath([Key(column.name)]) : .constant(constant(type)) })
    } else if operation == .isIn, !chance(4) {
      let count = pick([0, 1, 2, 5, 60])
      other = .aggregate((0..<count).map { _ in chance(40) ? .keyPath([Key(column.name)]) : .constant(constant(type)) })
    } else if operation == .isIn, let value = other.constantValue, value.comparableText == nil {
      other = .constant(.nil)
    } else if operation == .matches {
      other = .constant(.text(pick(["a.*", "A", "[a-c]+", "^a$.*", "", "é|e", "\\w+", "日.?"])))
    } else if operation == .like, chance(2) {
      other = .constant(.text(pick(["a*", "*", "?", "a?c", "a\\*c", "*b", "é*", "", "*s*e", "日?", "\\"])))
    }
    let isSwapped = chance(4) && operation != .between && operation != .isIn && operation != .matches
    let options = pick(
      [
        [], [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
        [.caseInsensitive, .normalized],
      ] as [Comparison.Options])
    return Comparison(
      left: isSwapped ? other : key, operator: operation, right: isSwapped ? key : other, options: options)
  }
}

@Suite struct PredicateSQLTests {
  @Test func `memory and SQL give the same rows for random predicates`() throws {
    for seed in UInt64(1)...6 {
      var random = SplitMix(seed: seed)
      let table = try PredicateTable(&random, rows: 40)
      var answered = 0, found = 0
      for round in 0..<600 {
        let predicate = random.predicate(depth: round % 4)
        do throws(Failure) {
          try predicate.checkTypes { (path) throws(Failure) in try PredicateTable.type(path.names).comparisonClass }
        } catch {
          #expect(error.kind == .invalidPredicate)
          continue
        }
        let inMemory = try table.inMemory(predicate), inSQL = try table.inSQL(predicate)
        answered += 1
        found += inMemory.count
        if inMemory != inSQL {
          let compiled = try PredicateTable.compile(predicate)
          Issue.record(
            """
            seed \(seed), round \(round): \(predicate.text)
            \(compiled.sql)
            \(compiled.arguments)
            \(inMemory)
            \(inSQL)
            """)
        }
        #expect(try Predicate.parse(Text(predicate.text)) == predicate, "seed \(seed): \(predicate.text)")
      }
      #expect(answered > 300 && found > 1000, "seed \(seed) asked too little: \(answered) predicates, \(found) rows")
    }
  }

  private func compiled(_ format: String) throws -> String {
    let predicate = try Predicate.parse(Text(format))
    try predicate.checkTypes { (path) throws(Failure) in try PredicateTable.type(path.names).comparisonClass }
    return try PredicateTable.compile(predicate).sql
  }

  private func plan(_ table: PredicateTable, _ format: String, _ arguments: [Value] = []) throws -> String {
    let sql = try PredicateTable.compile(Predicate.parse(Text(format), arguments: arguments)).sql
    var statement: OpaquePointer?
    let text = "EXPLAIN QUERY PLAN SELECT Z_PK FROM ZR r WHERE (\(sql))"
    #expect(sqlite3_prepare_v2(table.handle, text, -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    var lines = ""
    while sqlite3_step(statement) == SQLITE_ROW { lines += String(cString: sqlite3_column_text(statement, 3)) + "\n" }
    return lines
  }

  @Test func `comparisons under AND are served by an index`() throws {
    var random = SplitMix(seed: 1)
    let table = try PredicateTable(&random, rows: 3)
    let formats = [
      "i == 5", "i > 5 AND b == YES", "s BEGINSWITH 'ab'", "s LIKE 'ab*c'", "i IN {1, 2}", "i == nil",
      "w BETWEEN {CAST(1, 'NSDate'), CAST(2, 'NSDate')}",
    ]
    for format in formats { #expect(try plan(table, format).contains("SEARCH r USING"), "\(format)") }
    let many = Value.list((0..<5000).map { .integer(Int64($0)) })
    #expect(try plan(table, "i IN %@", [many]).contains("SEARCH r USING"))
  }

  @Test func `a list of any length is one pair of arguments and keeps the types of its values`() throws {
    var random = SplitMix(seed: 3)
    let table = try PredicateTable(&random, rows: 60)
    for column in PredicateTable.columns {
      var values = (0..<40_000).map { _ in random.value(column.type, orNil: false) }
      values.append(.nil)
      let predicate = try Predicate.parse("%K IN %@", arguments: [.text(column.name), .list(values)])
      let sql = try PredicateTable.compile(predicate)
      #expect(sql.arguments.count <= 4)
      #expect(try table.inSQL(predicate) == table.inMemory(predicate), "\(column.name)")
      #expect(try table.inSQL(.not(predicate)) == table.inMemory(.not(predicate)), "\(column.name)")
    }
  }

  @Test func `long chains and deep nests stay within the limits of SQLite`() throws {
    var random = SplitMix(seed: 4)
    let table = try PredicateTable(&random, rows: 20)
    let long = Predicate.or(
      (0..<14_000).map { place in
        .comparison(Comparison(left: .keyPath(["i"]), operator: .notEqual, right: .constant(.integer(Int64(place)))))
      })
    #expect(try table.inSQL(long) == table.inMemory(long))
    var deep = Predicate.comparison(Comparison(left: .keyPath(["i"]), operator: .equal, right: .constant(.integer(5))))
    for level in 0..<38 {
      let leaf = Predicate.comparison(
        Comparison(left: .keyPath(["s"]), operator: .lessThan, right: .constant(.text("b"))))
      deep = level % 3 == 0 ? .and([leaf, deep, leaf]) : level % 3 == 1 ? .or([leaf, leaf, deep]) : .not(deep)
    }
    #expect(try table.inSQL(deep) == table.inMemory(deep))
    for _ in 0..<5 { deep = .not(deep) }
    #expect(try table.inSQL(deep) == table.inMemory(deep))
  }

  @Test func `what no fetch can answer it refuses`() throws {
    let formats = [
      "s UTI-EQUALS 'a'", "s LIKE[w] 'a'", "FUNCTION(s, 'boolValue') == 1", "ANYKEY == 1", "o isKindOfClass: 'x'",
      "FETCH(i, j, k) == 1", "($x := i) == 1",
    ]
    for format in formats {
      let failure = #expect(throws: Failure.self, "\(format)") { try compiled(format) }
      #expect(failure?.kind == .unsupported, "\(format)")
    }
    for format in ["ANY i == 1", "i == $x", "i.length == 1", "i.@most > 1"] {
      #expect(throws: Failure.self, "\(format)") { try compiled(format) }
    }
  }

  @Test func `ordering text and a number is an error when the types are declared`() throws {
    for format in ["s < 5", "5 >= s", "i BETWEEN {'a', 'b'}", "o < o", "w > 5", "i < s"] {
      let failure = #expect(throws: Failure.self, "\(format)") { try compiled(format) }
      #expect(failure?.kind == .invalidPredicate)
    }
    #expect(try compiled("s == 5") == "0")
    #expect(try compiled("s != 5") == "1")
  }

  @Test func `an error inside an SQL function reaches the caller`() throws {
    var random = SplitMix(seed: 6)
    let table = try PredicateTable(&random, rows: 1)
    try table.run("UPDATE ZR SET ZS = ?", [.value(.text(String(repeating: "a", count: 60) + "!"))])
    let predicate = try Predicate.parse("s MATCHES '(a+)+b'")
    let failure = #expect(throws: Failure.self) { try table.inSQL(predicate) }
    #expect(failure?.kind == .invalidPredicate)
    #expect(failure?.message.string.contains("takes too long") == true)
  }

  @Test func `the end of a prefix range skips what no text can be`() {
    #expect(ComparisonSQL.firstText(after: "ab") == "ac")
    #expect(ComparisonSQL.firstText(after: "a\u{10FFFF}") == "b")
    #expect(ComparisonSQL.firstText(after: "\u{10FFFF}") == nil)
    #expect(ComparisonSQL.firstText(after: "\u{D7FF}") == "\u{E000}")
  }
}
