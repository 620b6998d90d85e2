import Testing

@testable import QuireCore

@Suite("Reading on from a place of an order")
struct PlaceSQLTests {
  private static let keys = [
    "long", "flag", "real", "exact", "name", "moment", "bytes", "key", "link", "owner", "owner.name", "owner.real",
  ]

  private static func makeModel() throws -> Model {
    let model = Model()
    try model.addEntity(named: "Row", parent: "", isAbstract: false)
    let attributes: [(String, AttributeType)] = [
      ("long", .integer64), ("flag", .boolean), ("real", .double), ("exact", .decimal), ("name", .string),
      ("moment", .date), ("bytes", .binary), ("key", .uuid), ("link", .uri),
    ]
    for (name, type) in attributes { try model.addAttribute(named: name, to: "Row", type: type, isOptional: true) }
    try model.addRelationship(
      { entity in
        Relationship(
          name: "owner", entity: entity, destinationName: "Row", inverseName: "", isToMany: false, isOrdered: false,
          isOptional: true, isTransient: false)
      }, named: "owner", to: "Row")
    return model
  }

  private static func value(_ key: String, _ dice: inout Dice) -> Value {
    if dice.chance(1, of: 4) { return .nil }
    let number = dice.roll(4) - 1
    switch key {
    case "long": return .integer(dice.chance(1, of: 5) ? (number < 1 ? .min : .max) : Int64(number))
    case "flag": return .boolean(number > 0)
    case "real": return .double([-0.5, 0, 2.25, 1e300][number + 1])
    case "exact": return .decimal(Decimal(Int64(number)))
    case "name": return .text(dice.pick(["", "a", "A", "\u{e4}", "b10", "b9", "\u{1F4D6}"]) ?? "")
    case "moment": return .date(Double(number) * 1000)
    case "bytes": return .data(Bytes([UInt8](repeating: 7, count: number + 1)))
    case "key": return .uuid(Bytes([UInt8](repeating: UInt8(number + 1), count: 16)))
    default: return .uri(Text("x:\(number)"))
    }
  }

  @Test("What follows any row is what follows it in the whole", arguments: Dice.seeds(2))
  func everyPlace(seed: UInt64) throws {
    print("places: seed \(seed)")
    var dice = Dice(seed: seed)
    let context = Context(store: try Store.open(path: ":memory:", model: Self.makeModel()))
    var objects: [ManagedObject] = []
    for _ in 0..<60 {
      let object = try context.insert(entityNamed: "Row")
      for key in Self.keys.prefix(9) {
        try object.set(Self.value(key, &dice), for: object.entity.property(named: key))
      }
      if let owner = dice.pick(objects), dice.chance(3, of: 4) {
        try object.set(.object(owner.reference), for: object.entity.property(named: "owner"))
      }
      objects.append(object)
    }
    try context.save()
    for _ in 0..<40 {
      let entity = try context.model.entity(named: "Row")
      var plan = FetchPlan(entity: entity)
      for _ in 0..<dice.roll(4) {
        let key = dice.pick(Self.keys) ?? "long"
        let kinds: [TextOrder.Kind] = [.binary, .caseInsensitive, .localized, .localizedStandard]
        let order = key.hasSuffix("name") ? try TextOrder(dice.pick(kinds) ?? .binary) : .binary
        plan.sort.append(
          BoundSort(
            try ResolvedKeyPath(key.split(separator: ".").map(String.init), of: entity, for: .sort),
            isAscending: dice.chance(1, of: 2), textOrder: order))
      }
      if dice.chance(1, of: 3) { plan.predicate = try Predicate.parse("long != 1 OR name == nil") }
      var rows: [(id: Int64, values: [Value])] = []
      try context.store.newest.scan(plan, paths: plan.sort.map(\.path)) { (row, values) throws(Failure) in
        rows.append((row.id, values))
      }
      for (place, row) in rows.enumerated() {
        var rest = plan
        rest.after = FetchPlan.Place(values: row.values, id: row.id)
        rest.limit = 1 + dice.roll(5)
        let found = try context.store.newest.ids(rest).map(\.id)
        try #require(
          found == rows[(place + 1)...].prefix(rest.limit ?? 0).map(\.id),
          "behind row \(place) of \(rows.map(\.id)) by \(plan.sort), seed \(seed)")
      }
    }
  }

  @Test func theFirstKeyIsLookedUpInItsIndex() throws {
    let model = try LibraryFixture.makeModel()
    let store = try Store.open(path: ":memory:", model: model)
    var plan = FetchPlan(entity: try model.entity(named: "Book"))
    plan.sort = [BoundSort(try ResolvedKeyPath(["title"], of: plan.entity, for: .sort))]
    plan.after = FetchPlan.Place(values: [.text("m")], id: 7)
    plan.limit = 10
    #expect(try store.newest.explain(plan).text.contains("ZTITLE"))
  }
}
