import Glibc
import Testing

@testable import QuireCore

@Suite struct TextIndexTests {
  static let formats: [(TextMatcher.Operation, String)] = [
    (.contains, "CONTAINS"), (.beginsWith, "BEGINSWITH"), (.endsWith, "ENDSWITH"), (.like, "LIKE"),
    (.matches, "MATCHES"), (.equal, "=="),
  ]
  static let options: [(TextFolding, String)] = [
    ([], ""), (.ignoreCase, "[c]"), (.ignoreDiacritics, "[d]"), ([.ignoreCase, .ignoreDiacritics], "[cd]"), ([], "[n]"),
  ]

  /// What a plain program reads, put to the operator row by row.
  private func expected(
    _ program: ForeignProgram, _ column: String, _ operation: TextMatcher.Operation, _ folding: TextFolding,
    _ pattern: Text
  ) throws -> [Int64] {
    let matcher = try TextMatcher(operation, folding, pattern: pattern)
    return try program.texts("SELECT Z_PK, \(column) FROM ZNOTE ORDER BY Z_PK").filter { _, bytes in
      guard let bytes else { return false }
      return (try? matcher.matches(bytes.buffer)) == true
    }.map(\.0)
  }

  private func foreignStep(_ program: ForeignProgram, _ dice: inout Dice) throws {
    func title(_ dice: inout Dice) -> Value {
      dice.chance(1, of: 8) ? .nil : .text(Text(SearchTextTests.text(&dice, upTo: 9)))
    }
    let key = Value.integer(Int64(dice.roll(60) + 1))
    let way = dice.pick(["", " OR REPLACE", " OR IGNORE", " OR FAIL", " OR ROLLBACK"]) ?? ""
    switch dice.roll(10) {
    case 0, 1:
      // Without a way with conflicts this may fail for the key alone.
      _ = try? program.run(
        "INSERT\(way) INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZLINK) VALUES (?, 1, 1, ?, ?)",
        [key, title(&dice), title(&dice)])
    case 2:
      try program.run("INSERT INTO ZNOTE (Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, ?)", [title(&dice)])
    case 3: try program.run("DELETE FROM ZNOTE WHERE Z_PK = ?", [key])
    case 4: try program.run("UPDATE ZNOTE SET ZLINK = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", [title(&dice), key])
    case 5:
      _ = try? program.run(
        "UPDATE\(way) ZNOTE SET rowid = ? WHERE Z_PK = ?", [.integer(Int64(dice.roll(60) + 1)), key])
    case 6:
      try program.run(
        "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (?, 1, 1, ?) "
          + "ON CONFLICT (Z_PK) DO UPDATE SET ZTITLE = excluded.ZTITLE", [key, title(&dice)])
    case 7:
      try program.run("BEGIN")
      try program.run("UPDATE ZNOTE SET ZTITLE = ZTITLE || 'x' WHERE Z_PK > ?", [key])
      try program.run(dice.chance(1, of: 2) ? "COMMIT" : "ROLLBACK")
    case 8:
      // Bytes that are no UTF-8, and data where text belongs.
      let bad = dice.pick(["CAST(x'616263ff646566' AS TEXT)", "x'616263'", "'abc' || char(0) || 'def'"]) ?? "1"
      try program.run("UPDATE ZNOTE SET ZTITLE = \(bad) WHERE Z_PK = ?", [key])
    default: try program.run("UPDATE\(way) ZNOTE SET ZTITLE = ? WHERE Z_PK = ?", [title(&dice), key])
    }
  }

  private func ownStep(_ notes: NotesFixture, _ dice: inout Dice) throws {
    let entity = try notes.store.model.entity(named: "Note")
    let slot = try entity.property(named: "title").slot
    var request = SaveRequest()
    for _ in 0..<(1 + dice.roll(4)) {
      var values = ContiguousArray<Value>(repeating: .nil, count: entity.properties.count)
      values[slot] = .text(Text(SearchTextTests.text(&dice, upTo: 9)))
      request.inserts.append(SaveRequest.Insert(entity: entity, id: -1 - Int64(request.inserts.count), values: values))
    }
    let rows = try notes.store.newest.rows(root: entity, ids: [Int64(dice.roll(60) + 1), Int64(dice.roll(60) + 61)])
    if let row = rows.first {
      request.updates.append(
        SaveRequest.Update(
          entity: entity, id: row.id, expectedVersion: row.version,
          changes: [(slot, .text(Text(SearchTextTests.text(&dice, upTo: 9))))]))
    }
    if rows.count > 1 {
      request.deletes.append(SaveRequest.Delete(entity: entity, id: rows[1].id, expectedVersion: rows[1].version))
    }
    _ = try notes.store.save(request)
  }

  @Test(arguments: Dice.seeds(3)) func whoeverWritesAndHoweverTheIndexFindsWhatTheOperatorFinds(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    let notes = try NotesFixture()
    let program = try ForeignProgram(notes.path)
    var withIndex = 0, found = 0
    for step in 0..<300 {
      if notes.store.isReadOnly, dice.chance(1, of: 4) { try notes.reopen() }
      for _ in 0..<dice.roll(4) { try foreignStep(program, &dice) }
      if !notes.store.isReadOnly, dice.chance(1, of: 2) {
        // A row that holds data where text belongs cannot be read into an object.
        try program.run(
          "UPDATE ZNOTE SET ZTITLE = 'was bad' "
            + "WHERE typeof(ZTITLE) = 'blob' OR hex(ZTITLE) LIKE '616263FF646566%'")
        try ownStep(notes, &dice)
      }
      if !notes.store.isReadOnly, dice.chance(1, of: 8) {
        let textIndexes = notes.store.textIndexes
        try notes.store.withConnection { connection throws(Failure) in
          try connection.transaction { () throws(Failure) in
            for index in textIndexes.all { try textIndexes.mend(index, on: connection) }
          }
        }
      }
      if dice.chance(1, of: 40) { try notes.reopen(readOnly: dice.chance(1, of: 2)) }
      let rows = try program.texts("SELECT Z_PK, ZTITLE FROM ZNOTE").compactMap(\.1)
      let text = dice.pick(rows).flatMap { Text(validating: $0.buffer) } ?? "abc"
      let (operation, name) = dice.pick(Self.formats) ?? (.contains, "CONTAINS")
      let (folding, option) = dice.pick(Self.options) ?? ([], "")
      let pattern = SearchTextTests.pattern(&dice, of: text, operation)
      guard (try? TextMatcher(operation, folding, pattern: pattern)) != nil else { continue }
      let key = dice.chance(3, of: 4) ? "title" : "link"
      let comparison = try Predicate.parse(Text("\(key) \(name)\(option) %@"), arguments: [.text(pattern)])
      let where_ = dice.chance(1, of: 4) ? Predicate.not(comparison) : comparison
      var ids: [Int64]
      do { ids = try notes.store.newest.ids(try notes.plan(where: where_)).map(\.id) } catch {
        // A regular expression refuses what is no UTF-8.
        #expect(operation == .matches, "\(error)")
        continue
      }
      if case .not = where_ {
        let all = Set(try program.texts("SELECT Z_PK, NULL FROM ZNOTE").map { $0.0 })
        ids = all.subtracting(ids).sorted()
      }
      let wanted = try expected(program, "Z" + Names.upper(key), operation, folding, pattern)
      #expect(ids == wanted, "seed \(seed), step \(step): \(comparison) finds \(ids) and should \(wanted)")
      found += ids.count
      let steps = try notes.store.newest.explain(try notes.plan(where: comparison)).steps
      if steps.contains(where: { $0.contains("VIRTUAL TABLE") }) { withIndex += 1 }
    }
    #expect(withIndex > 40 && found > 100, "seed \(seed): \(withIndex) queries with the index, \(found) rows")
    #expect(try program.run("PRAGMA integrity_check") == ["ok"])
    for index in notes.store.textIndexes.all {
      try program.run("INSERT INTO \(index.name) (\(index.name)) VALUES ('integrity-check')")
    }
  }

  @Test func mendedRowsAreFoundInTheIndexAloneAndNoOthersAre() throws {
    let notes = try NotesFixture()
    try notes.insert((0..<300).map { "Title \($0)" })
    let program = try ForeignProgram(notes.path)
    let index = try #require(notes.store.textIndexes.all.first)
    #expect(try program.run("SELECT count(*) FROM \(index.pending) WHERE Z_PK > 0") == ["0"], "a large save mends")
    func indexed(_ word: String) throws -> [String] {
      try program.run("SELECT rowid FROM \(index.name) WHERE \(index.name) MATCH '\(word)'")
    }
    #expect(try indexed("299") == ["300"])
    try program.run("UPDATE ZNOTE SET ZTITLE = 'another' WHERE Z_PK > 10")
    #expect(try program.run("SELECT count(*) FROM \(index.pending) WHERE Z_PK > 0") == ["290"])
    #expect(try notes.ids("title CONTAINS 'ano'").count == 290, "what is pending is a candidate")
    try notes.insert(["third"])
    #expect(try program.run("SELECT count(*) FROM \(index.pending) WHERE Z_PK > 0") == ["0"])
    #expect(try indexed("299") == [])
    #expect(try indexed("oth").count == 290)
    try program.run("DELETE FROM ZNOTE")
    try program.run("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (400, 1, 1, 'another')")
    try notes.reopen()
    #expect(
      try program.run("SELECT count(*) FROM \(index.pending) WHERE Z_PK > 0") == ["0"],
      "so does opening, when there is much")
    #expect(try indexed("oth") == ["400"])
    #expect(try notes.ids("title CONTAINS 'oth'") == [400])
  }

  @Test func aQueryMendsWhatAnotherProgramLeftInGreatNumbersUnlessItIsWriting() throws {
    let notes = try NotesFixture()
    let program = try ForeignProgram(notes.path)
    let rows = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
    try program.run(rows + "INSERT INTO ZNOTE (Z_ENT, Z_OPT, ZTITLE) SELECT 1, 1, 'row ' || i FROM n")
    let index = try #require(notes.store.textIndexes.all.first)
    try program.run("BEGIN IMMEDIATE")
    #expect(try notes.ids("title CONTAINS 'w 4321'") == [4321])
    #expect(try program.run("SELECT count(*) FROM \(index.pending) WHERE Z_PK > 0") == ["5000"])
    try program.run("COMMIT")
    #expect(try notes.ids("title CONTAINS 'w 4321'") == [4321])
    #expect(try program.run("SELECT count(*) FROM \(index.pending) WHERE Z_PK > 0") == ["0"])
    #expect(try notes.usesIndex("title CONTAINS 'w 4321'"))
    #expect(try !notes.usesIndex("title CONTAINS 'row'"), "nearly all rows have it")
  }

  @Test func everyWayToAskUsesTheIndexExceptThoseItCannotServe() throws {
    let notes = try NotesFixture()
    try notes.insert(["Stra\u{DF}e", "other", nil])
    for format in [
      "title CONTAINS 'tra'", "title CONTAINS[c] 'STRASSE'", "title CONTAINS[cd] 'tr\u{E4}'", "title BEGINSWITH 'Str'",
      "title ENDSWITH[d] 'a\u{DF}e'", "title LIKE 'Str*e'", "title LIKE[cd] '*TRA*'", "title MATCHES '.*tra.*'",
      "title MATCHES[c] 'stra(x|.*)'", "title ==[c] 'strasse'", "link CONTAINS 'note:'", "NOT title CONTAINS 'tra'",
      "title CONTAINS 'tra' OR code == 1", "title CONTAINS[n] 'tra'", "title CONTAINS[cd] 'xyz'",
      "title IN[c] {'STRASSE', 'x y z', 5, nil}", (0..<20).map { "title ==[c] 'OTHE\($0)'" }.joined(separator: " OR "),
    ] {
      #expect(try notes.usesIndex(format), "\(format)")
    }
    for format in [
      "title CONTAINS 'tr'", "title LIKE '*tr*ss*'", "title MATCHES '(tra|oth).*'",
      "title MATCHES '.*'", "title == 'other'", "title CONTAINS 'r\u{301}'", "title CONTAINS link", "title != 'other'",
      "noindex(title) CONTAINS 'tra'", "title IN[c] {'STRASSE', 'xy'}", "title IN {'other', 'strasse'}",
      "title IN[c] {\((0..<60).map { "'title \($0)'" }.joined(separator: ", "))}",
    ] {
      #expect(try !notes.usesIndex(format), "\(format)")
    }
    #expect(try notes.ids("title ==[c] 'STRASSE'") == [1])
    #expect(try notes.ids("title IN[c] {'STRASSE', 'x y z', 5}") == [1])
    #expect(try notes.ids("title IN[c] {'Other', 'strasse', nil}") == [1, 2, 3])
    #expect(try notes.ids("NOT title IN[c] {'Other', 'x y z'}") == [1, 3])
    #expect(try notes.ids("NOT title CONTAINS 'tra'") == [2, 3])
    let shelf = try notes.plan("Shelf", where: try Predicate.parse("note.title CONTAINS 'tra'"))
    #expect(try notes.store.newest.explain(shelf).steps.contains { $0.contains("VIRTUAL TABLE") })
    #expect(try notes.store.newest.ids(shelf).isEmpty)
  }

  @Test func aStoreOpenForReadingFindsWhatIsPendingAndDoesNotUseAnIndexThatLostItsTriggers() throws {
    let notes = try NotesFixture()
    try notes.insert(["first title", "second title"])
    let program = try ForeignProgram(notes.path)
    try notes.reopen(readOnly: true)
    try program.run("UPDATE ZNOTE SET ZTITLE = 'changed' WHERE Z_PK = 2")
    #expect(try notes.usesIndex("title CONTAINS 'changed'"))
    #expect(try notes.ids("title CONTAINS 'changed'") == [2])
    #expect(try notes.ids("title CONTAINS 'title'") == [1])
    let trigger = try #require(notes.store.textIndexes.all.first?.statements.last?.name)
    try program.run("DROP TRIGGER \(trigger)")
    #expect(try !notes.usesIndex("title CONTAINS 'changed'"), "seen while open")
    try notes.reopen(readOnly: true)
    #expect(try !notes.usesIndex("title CONTAINS 'changed'"))
    try program.run("UPDATE ZNOTE SET ZTITLE = 'changed again'")
    try notes.reopen()
    #expect(try notes.usesIndex("title CONTAINS 'again'"), "made anew")
    #expect(try notes.ids("title CONTAINS 'again'") == [1, 2])
  }

  @Test func aTableThatWasReplacedIsIndexedAnewEvenWhenItsTriggersCameBack() throws {
    let notes = try NotesFixture()
    try notes.insert(["first title"])
    let program = try ForeignProgram(notes.path)
    let triggers = try program.run("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
    #expect(triggers.count == 6)
    try notes.store.close()
    let names = try program.run("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    for name in names { try program.run("DROP TRIGGER \(name)") }
    try program.run("UPDATE ZNOTE SET ZTITLE = 'migrated'")
    for trigger in triggers { try program.run(trigger) }
    try notes.reopen()
    #expect(try notes.usesIndex("title CONTAINS 'migrated'"))
    #expect(try notes.ids("title CONTAINS 'migrated'") == [1])
    try program.run("VACUUM")
    try notes.reopen()
    #expect(try notes.ids("title CONTAINS 'migrated'") == [1])
  }

  @Test func anIndexThatIsDamagedIsMadeAgain() throws {
    let notes = try NotesFixture()
    try notes.insert((0..<300).map { "Title \($0)" })
    let program = try ForeignProgram(notes.path)
    let index = try #require(notes.store.textIndexes.all.first)
    try program.run("UPDATE \(index.name)_data SET block = x'0000000000' WHERE id = 10")
    try program.run("UPDATE \(index.name)_data SET block = x'ff' WHERE id = 1")
    try program.run("UPDATE ZNOTE SET ZTITLE = 'mended ' || Z_PK")
    try notes.insert(["after"])
    #expect(try notes.usesIndex("title CONTAINS 'mended 123'"))
    #expect(try notes.ids("title CONTAINS 'mended 123'") == [123])
    #expect(try program.run("SELECT count(*) FROM \(index.pending) WHERE Z_PK > 0") == ["0"])
  }

  @Test func aSaveThatFailsLeavesTheIndexTrue() throws {
    let notes = try NotesFixture()
    try notes.insert(["first title"], code: 7)
    try notes.insert((0..<10).map { "row \($0)" })
    let broken = failure { try notes.insert((0..<400).map { "broken \($0)" }, code: 7) }
    #expect(broken?.kind == .constraint)
    #expect(try notes.ids("title CONTAINS 'broken'") == [])
    #expect(try notes.ids("title CONTAINS 'first'") == [1])
    let program = try ForeignProgram(notes.path)
    let index = try #require(notes.store.textIndexes.all.first)
    #expect(try program.run("SELECT count(*) FROM \(index.name) WHERE \(index.name) MATCH 'bro'") == ["0"])
  }

  @Test func aFileGetsItsIndexWhenItIsDeclaredAndLosesItWhenItIsNot() throws {
    let notes = try NotesFixture()
    try notes.insert(["first title"])
    let program = try ForeignProgram(notes.path)
    func ours() throws -> [String] {
      try program.run("SELECT name FROM sqlite_master WHERE name LIKE 'QUIRE\\_TEXT%' ESCAPE '\\'")
    }
    #expect(try ours().count > 6)
    try notes.reopen(readOnly: true, searchable: false)
    #expect(try ours().count > 6, "reading changes nothing")
    try notes.reopen(searchable: false)
    #expect(try ours() == [])
    #expect(try !notes.usesIndex("title CONTAINS 'first'"))
    try program.run("UPDATE ZNOTE SET ZTITLE = 'plain title'")
    try notes.reopen(readOnly: true)
    #expect(try !notes.usesIndex("title CONTAINS 'plain'"))
    #expect(try notes.ids("title CONTAINS 'plain'") == [1])
    try notes.reopen()
    #expect(try notes.usesIndex("title CONTAINS 'plain'"))
    #expect(try notes.ids("title CONTAINS 'plain'") == [1])
  }

  @Test func openingDoesNotWaitForeverForAnIndexAndDoesWithoutIt() throws {
    let notes = try NotesFixture()
    try notes.insert(["first title"])
    try notes.reopen(searchable: false)
    try notes.store.close()
    let program = try ForeignProgram(notes.path)
    try program.run("BEGIN IMMEDIATE")
    let store = try Store.open(
      path: Text(notes.path), model: try NotesFixture.model(), options: .init(busyTimeoutMilliseconds: 10))
    let plan = FetchPlan(
      entity: try store.model.entity(named: "Note"), predicate: try Predicate.parse("title CONTAINS 'first'"))
    #expect(try store.newest.ids(plan).map(\.id) == [1])
    try program.run("COMMIT")
    try store.close()
  }

  @Test func namesThatMeetGetANumber() throws {
    let model = Model()
    try model.addEntity(named: "A")
    for name in ["b", "b_data", "b_zc", "b_insert"] {
      try model.addAttribute(named: name, to: "A", type: .string, isOptional: true, isSearchable: true)
    }
    try model.addEntity(named: "A_ZB")
    try model.addAttribute(named: "c", to: "A_ZB", type: .string, isOptional: true, isSearchable: true)
    let store = try Store.open(path: ":memory:", model: model)
    let names = store.textIndexes.all.map(\.name)
    #expect(Set(names).count == 5 && names.contains("QUIRE_TEXT_ZA_ZB") && names.contains("QUIRE_TEXT_ZA_ZB_ZC_1"))
    let entity = try model.entity(named: "A")
    var values = ContiguousArray<Value>(repeating: .nil, count: entity.properties.count)
    for slot in values.indices { values[slot] = .text(Text("text \(slot)")) }
    _ = try store.save(SaveRequest(inserts: [SaveRequest.Insert(entity: entity, id: -1, values: values)]))
    for (slot, name) in entity.properties.map(\.name).enumerated() {
      let plan = FetchPlan(entity: entity, predicate: try Predicate.parse(Text("\(name) CONTAINS 'xt \(slot)'")))
      #expect(try store.newest.explain(plan).steps.contains { $0.contains("VIRTUAL TABLE") })
      #expect(try store.newest.ids(plan).count == 1)
    }
  }

  @Test func onlyStoredTextIsSearchableAndTheVersionHashDoesNotKnow() throws {
    let model = Model()
    try model.addEntity(named: "Note")
    let wrong = failure { try model.addAttribute(named: "n", to: "Note", type: .date, isSearchable: true) }
    #expect(wrong?.kind == .invalidModel)
    let unstored = failure {
      try model.addAttribute(named: "n", to: "Note", type: .string, isTransient: true, isSearchable: true)
    }
    #expect(unstored?.kind == .invalidModel)
    let plain = try NotesFixture.model(searchable: false), searchable = try NotesFixture.model()
    try plain.freeze()
    try searchable.freeze()
    #expect(try plain.versionHash(ofEntityNamed: "Note") == searchable.versionHash(ofEntityNamed: "Note"))
  }
}
