import Testing

@testable import QuireCore

@Suite("Validation rules")
struct ValidationRuleTests {
  private let store: Store
  private let context: Context

  init() throws {
    store = try Store.open(path: ":memory:", model: ValidationRuleTests.makeModel())
    context = Context(store: store)
  }

  /// An item has one attribute for each kind of rule; a crate is an item with a rule more.
  private static func makeModel(isRuled: Bool = true) throws -> Model {
    let model = Model()
    func attribute(
      _ name: String, _ type: AttributeType, isTransient: Bool = false, _ rules: AttributeRules = AttributeRules()
    ) throws {
      try model.addAttribute(
        named: name, to: "Item", type: type, isOptional: true, isTransient: isTransient,
        rules: isRuled ? rules : AttributeRules())
    }
    try model.addEntity(named: "Item")
    try model.addEntity(named: "Crate", parent: "Item")
    try attribute("count", .integer32, AttributeRules(minimum: .integer(-2), maximum: .integer(3)))
    try attribute("price", .decimal, AttributeRules(minimum: .double(0.5)))
    try attribute("made", .date, AttributeRules(minimum: .date(10), maximum: .date(20)))
    try attribute("code", .string, AttributeRules(minimumLength: 2, maximumLength: 4, pattern: Text("[a-c\u{e9}]+")))
    try attribute("blob", .binary, AttributeRules(maximumLength: 3))
    try attribute("scratch", .double, isTransient: true, AttributeRules(maximum: .double(1)))
    try attribute("first", .integer16)
    try attribute("last", .integer16)
    try model.addAttribute(
      named: "name", to: "Item", type: .string, defaultValue: .text("unnamed"),
      rules: isRuled ? AttributeRules(minimumLength: 1) : AttributeRules())
    if !isRuled { return model }
    try rule(model, "Item", "", "first == nil OR last == nil OR first <= last", "The first comes before the last.")
    try rule(model, "Item", "code", "SELF != 'abba'", "abba is taken.")
    try rule(model, "Crate", "name", "SELF.length < 5", "The name of a crate is short.")
    return model
  }

  private static func rule(
    _ model: Model, _ entity: String, _ key: String, _ format: String, _ message: String
  ) throws {
    try model.addValidationRule(
      to: entity, key: key, PredicateCondition(Predicate.parse(Text(format))), message: Text(message))
  }

  private func insert(_ entity: String = "Item", _ values: [String: Value] = [:]) throws -> ManagedObject {
    let object = try context.insert(entityNamed: entity)
    for (key, value) in values { try object.set(value, for: object.entity.property(named: key)) }
    return object
  }

  /// The broken rules of a failure, as `key rule`, in order.
  private func broken(_ failure: Failure?) -> [String] {
    guard let failure else { return [] }
    return (failure.details.isEmpty ? [failure] : failure.details).map {
      "\($0.offender?.key.string ?? "?") \($0.broken.map { "\($0.rule)" } ?? "?")"
    }.sorted()
  }

  @Test(arguments: Dice.seeds(1)) func aSaveReportsExactlyTheRulesThatPlainComparisonsFindBroken(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    for _ in 0..<300 {
      let count = dice.pick([nil, -3, -2, 0, 3, 4] as [Int64?]) ?? nil
      let cents = dice.pick([nil, 49, 50, 51] as [Int64?]) ?? nil
      let made = dice.pick([nil, 9.999, 10, 20, 20.001] as [Double?]) ?? nil
      let code =
        dice.pick([nil, "", "a", "ab", "\u{e9}\u{e9}", "abc", "abba", "abcab", "xyz", "ab\n"] as [String?]) ?? nil
      let blob = dice.pick([nil, 0, 3, 4] as [Int?]) ?? nil
      let first = dice.pick([nil, 1, 2] as [Int64?]) ?? nil, last = dice.pick([nil, 1, 2] as [Int64?]) ?? nil

      var expected: [String] = []
      if let count, count < -2 { expected.append("count tooSmall") }
      if let count, count > 3 { expected.append("count tooLarge") }
      if let cents, cents < 50 { expected.append("price tooSmall") }
      if let made, made < 10 { expected.append("made tooSmall") }
      if let made, made > 20 { expected.append("made tooLarge") }
      if let code {
        if code.unicodeScalars.count < 2 { expected.append("code tooShort") }
        if code.unicodeScalars.count > 4 { expected.append("code tooLong") }
        if code.isEmpty || !code.allSatisfy({ "abc\u{e9}".contains($0) }) { expected.append("code pattern") }
        if code == "abba" { expected.append("code condition") }
      }
      if let blob, blob > 3 { expected.append("blob tooLong") }
      if let first, let last, first > last { expected.append(" condition") }

      var values: [String: Value] = [:]
      values["count"] = count.map { .integer($0) }
      values["price"] = try cents.map { .decimal(try #require(Decimal(Double($0) / 100))) }
      values["made"] = made.map { .date($0) }
      values["code"] = code.map { .text($0) }
      values["blob"] = blob.map { .data(Bytes([UInt8](repeating: 7, count: $0))) }
      values["first"] = first.map { .integer($0) }
      values["last"] = last.map { .integer($0) }
      let object = try insert("Item", values)
      #expect(broken(failure { try Validation.check(object) }) == expected.sorted(), "seed \(seed): \(values)")
      let failed = failure { try context.save() }
      #expect(broken(failed) == expected.sorted(), "seed \(seed): \(values)")
      #expect((failed == nil) == !context.hasChanges)
      for detail in failed.map({ $0.details.isEmpty ? [$0] : $0.details }) ?? [] {
        let rule = try #require(detail.broken), offender = try #require(detail.offender)
        #expect(offender.object?.reference == object.reference && offender.entityName == Text("Item"))
        if let written = values[offender.key.string] { #expect(Value.areSame(rule.value, written)) }
      }
      try context.rollback()
    }
  }

  @Test func theFailureOfACustomRuleHasItsMessageAndPredicate() throws {
    _ = try insert("Item", ["first": .integer(2), "last": .integer(1)])
    let failed = try #require(failure { try context.save() })
    #expect(failed.details.isEmpty && failed.message.string == "The first comes before the last.")
    #expect(failed.broken?.condition.string == "first == nil OR last == nil OR first <= last")
  }

  @Test func aDefaultSatisfiesOptionalityBeforeValidation() throws {
    let object = try insert()
    #expect(failure { try context.save() } == nil)
    #expect(try object.value(forKey: "name").comparableText == Text("unnamed"))
  }

  @Test func nilPassesEveryRuleButOptionality() throws {
    let object = try insert()
    for property in object.entity.properties where property.isOptional { try object.set(.nil, for: property) }
    try object.set(.nil, for: object.entity.property(named: "name"))
    #expect(broken(failure { try context.save() }) == ["name mandatory"])
  }

  @Test func heirsHaveTheRulesOfTheirParentAndTheirOwn() throws {
    _ = try insert("Crate", ["count": .integer(9)])
    #expect(broken(failure { try context.save() }) == ["count tooLarge", "name condition"])
    try context.rollback()
    _ = try insert("Item", ["name": .text("a name of many letters")])
    #expect(failure { try context.save() } == nil)
  }

  @Test func notANumberIsWithinNoBounds() throws {
    _ = try insert("Item", ["scratch": .double(.nan)])
    #expect(broken(failure { try context.save() }) == ["scratch tooLarge"])
  }

  @Test func onlyWhatChangedIsCheckedAtASaveAndEverythingOnDemand() throws {
    let folder = try TemporaryFolder()
    let path = Text(folder.file("a.sqlite"))
    do {
      let old = Context(store: try Store.open(path: path, model: try ValidationRuleTests.makeModel(isRuled: false)))
      let item = try old.insert(entityNamed: "Item")
      try item.set(.integer(99), for: item.entity.property(named: "count"))
      try old.save()
      try old.storeOnSQLite.close()
    }
    // The same version hash: rules are no part of it.
    let ruled = Context(store: try Store.open(path: path, model: try ValidationRuleTests.makeModel()))
    let item = try ruled.existingObject(entityNamed: "Item", id: 1)
    try item.set(.text("ab"), for: item.entity.property(named: "code"))
    #expect(broken(failure { try Validation.check(item) }) == ["count tooLarge"])
    #expect(failure { try ruled.save() } == nil)
    try item.set(.integer(98), for: item.entity.property(named: "count"))
    #expect(broken(failure { try ruled.save() }) == ["count tooLarge"])
  }

  @Test func aValueIsCoercedAndCheckedWithoutBeingSet() throws {
    let object = try insert()
    let price = try object.entity.property(named: "price"), count = try object.entity.property(named: "count")
    #expect(failure { try Validation.check(.integer(7), for: price, of: object) } == nil)
    #expect(broken(failure { try Validation.check(.integer(0), for: price, of: object) }) == ["price tooSmall"])
    #expect(failure { try Validation.check(.text("7"), for: count, of: object) }?.kind == .invalidArgument)
    #expect(
      broken(failure { try Validation.check(.nil, for: object.entity.property(named: "name"), of: object) })
        == ["name mandatory"])
    #expect(try object.value(of: price).isNil)
  }

  @Test func batchRequestsObeyTheRulesOfAttributes() throws {
    let inserted = failure {
      _ = try context.insertIntoStore(entityNamed: "Item", keys: ["count"], rowCount: 2, merges: false) { _, row in
        .integer(row == 0 ? 3 : 4)
      }
    }
    #expect(broken(inserted) == ["count tooLarge"])
    #expect(inserted?.message.string.utf8.isEmpty == false && inserted?.offender?.object == nil)
    _ = try insert("Item")
    _ = try insert("Crate", ["name": .text("box")])
    try context.save()
    func update(_ entity: String, _ key: String, _ value: FormatArgument) -> [String] {
      broken(
        failure { _ = try context.update(FetchRequest(entityName: entity), [(key, value)], merges: true) })
    }
    #expect(update("Item", "code", .value(.text("abba"))) == ["code condition"])
    #expect(update("Item", "count", .expression(try Expression.parse("5 + 5"))) == ["count tooLarge"])
    // Crates are among the items.
    #expect(update("Item", "name", .value(.text("something long"))) == ["name condition"])
    #expect(update("Item", "count", .value(.integer(2))) == [])
    #expect(try Context(store: store).count(FetchRequest(entityName: "Item")) == 2)
  }

  @Test func aRuleThatCannotApplyIsAnErrorThatNamesItsAttribute() throws {
    let cases: [(AttributeType, AttributeRules)] = [
      (.string, AttributeRules(minimum: .integer(1))), (.boolean, AttributeRules(maximum: .integer(1))),
      (.integer16, AttributeRules(minimum: .integer(70000))), (.integer32, AttributeRules(maximum: .text("3"))),
      (.integer32, AttributeRules(minimum: .integer(3), maximum: .integer(2))),
      (.double, AttributeRules(minimum: .double(.nan))), (.integer32, AttributeRules(minimumLength: 1)),
      (.string, AttributeRules(minimumLength: 3, maximumLength: 2)), (.date, AttributeRules(maximumLength: 2)),
      (.integer32, AttributeRules(pattern: Text("1*"))), (.string, AttributeRules(pattern: Text("(a"))),
    ]
    for (type, rules) in cases {
      let model = Model()
      try model.addEntity(named: "Item")
      let failed = failure { try model.addAttribute(named: "code", to: "Item", type: type, rules: rules) }
      #expect(failed?.kind == .invalidModel, "\(type) \(rules)")
      #expect(failed?.message.string.hasPrefix("Attribute 'Item.code' ") == true)
    }
  }

  @Test func keysThatARuleAsksForInVainAreFoundWhenTheModelIsFrozen() throws {
    for (key, format) in [
      ("", "nothing == 1"), ("", "code.first == 1"), ("", "ANY first.last == 2"), ("code", "other == 1"),
      ("count", "length < 3"), ("nothing", "SELF == 1"),
    ] {
      let model = try ValidationRuleTests.makeModel(isRuled: false)
      try ValidationRuleTests.rule(model, "Item", key, format, "A message.")
      let failed = failure { try model.freeze() }
      #expect(failed?.kind == .invalidModel, "\(key): \(format)")
      #expect(failed?.message.string.hasPrefix("The rule \"A message.\" of 'Item") == true)
    }
    #expect(failure { _ = try PredicateCondition(Predicate.parse("first == $x")) }?.kind == .invalidPredicate)
  }

  @Test func aRuleThatGivesNoAnswerFailsTheSaveAndSaysWhich() throws {
    let model = try ValidationRuleTests.makeModel(isRuled: false)
    try ValidationRuleTests.rule(model, "Item", "count", "uppercase(SELF) == 'A'", "It has an a.")
    let context = Context(store: try Store.open(path: ":memory:", model: model))
    let item = try context.insert(entityNamed: "Item")
    try item.set(.integer(1), for: item.entity.property(named: "count"))
    let failed = try #require(failure { try context.save() })
    #expect(failed.kind == .invalidPredicate && failed.message.string.hasPrefix("The rule \"It has an a.\""))
    #expect(context.hasChanges)
  }
}
