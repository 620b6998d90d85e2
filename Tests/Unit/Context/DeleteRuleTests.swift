import Testing

@testable import QuireCore

@Suite("Delete rules")
struct DeleteRuleTests {
  /// Teams with players, under the given rules.
  private struct League {
    let store: Store
    let context: Context

    init(_ rule: DeleteRule, back: DeleteRule = .nullify, hasInverse: Bool = true, isOrdered: Bool = false) throws {
      let model = Model()
      for name in ["Team", "Player"] {
        try model.addEntity(named: name)
        try model.addAttribute(named: "name", to: name, type: .string, isOptional: true)
      }
      try model.addRelationship(
        {
          Relationship(
            name: "players", entity: $0, destinationName: "Player", inverseName: hasInverse ? "team" : "",
            isToMany: true,
            isOrdered: isOrdered, isOptional: true, deleteRule: rule)
        }, named: "players", to: "Team")
      try model.addRelationship(
        {
          Relationship(
            name: "team", entity: $0, destinationName: "Team", inverseName: hasInverse ? "players" : "",
            isOptional: true, deleteRule: back)
        }, named: "team", to: "Player")
      store = try Store.open(path: ":memory:", model: model)
      context = Context(store: store)
    }

    func relationship(_ entity: String, _ name: String) throws -> Relationship {
      try #require(try store.model.entity(named: entity).property(named: name) as? Relationship)
    }

    func team(_ players: ManagedObject...) throws -> ManagedObject {
      let team = try context.insert(entityNamed: "Team")
      try team.set(players, for: relationship("Team", "players"))
      return team
    }

    func player() throws -> ManagedObject { try context.insert(entityNamed: "Player") }
    func players(_ team: ManagedObject) throws -> [ManagedObject] {
      try team.objects(of: relationship("Team", "players"))
    }
    func team(of player: ManagedObject) throws -> ManagedObject? {
      try player.object(of: relationship("Player", "team"))
    }

    func move(_ player: ManagedObject, to team: ManagedObject?) throws {
      try player.set(team.map { .object($0.reference) } ?? .nil, for: relationship("Player", "team"))
    }

    func count(_ entity: String, in other: Context? = nil) throws -> Int {
      try (other ?? context).count(FetchRequest(entityName: entity))
    }

    /// The same object as another context has it, unread.
    func twin(_ object: ManagedObject, in other: Context) throws -> ManagedObject {
      try other.existingObject(entityNamed: object.entity.name, id: object.id)
    }

    func remove(_ object: ManagedObject) throws {
      let table = store.schema.table(of: object.entity)
      try store.withConnection { connection throws(Failure) in
        try connection.statement("DELETE FROM \(table) WHERE Z_PK = \(object.id)").run()
      }
    }
  }

  @Test(arguments: [true, false])
  func cascadingTakesWhatTheOwnerHolds(isOrdered: Bool) throws {
    let league = try League(.cascade, isOrdered: isOrdered)
    let team = try league.team(league.player(), league.player())
    let free = try league.player()
    try league.context.save()
    let other = Context(store: league.store)
    try other.delete(league.twin(team, in: other))
    #expect(try league.count("Player", in: other) == 1)
    try other.save()
    #expect(try league.count("Player", in: Context(store: league.store)) == 1)
    #expect(try league.twin(free, in: other).isLive)
  }

  @Test
  func cascadingTakesNoMoreStatementsForManyThanForFew() throws {
    func statements(_ count: Int) throws -> Int {
      let league = try League(.cascade)
      let team = try league.team()
      for _ in 0..<count { try league.move(league.player(), to: team) }
      try league.context.save()
      let other = Context(store: league.store)
      let mine = try league.twin(team, in: other)
      let before = try other.statementCount()
      try other.delete(mine)
      try other.save()
      let after = try other.statementCount()
      #expect(try league.count("Player", in: Context(store: league.store)) == 0)
      return after - before
    }
    #expect(try statements(200) == statements(5))
  }

  @Test func aMergeCascadesToWhatOthersHavePutInMeanwhile() throws {
    let league = try League(.cascade)
    let team = try league.team()
    try league.context.save()
    let other = Context(store: league.store), request = FetchRequest(entityName: "Player")
    request.sort = [SortDescriptor(keyPath: ["team", "name"])]
    let list = try ResultsController(context: other, request: request, sectionKeyPath: nil, queuesChanges: false)
    try list.performFetch()
    let mine = try league.twin(team, in: other)
    #expect(try league.players(mine).isEmpty)
    try league.move(league.player(), to: team)
    try league.context.save()
    try other.delete(mine)
    try other.process()
    #expect(try list.count == 0 && league.count("Player", in: other) == 0)
    try other.merge()
    #expect(try league.count("Player", in: other) == 0)
    #expect(other.pending.deleted.map(\.entity.name).sorted() == ["Player", "Team"])
    #expect(list.count == 0)
  }

  @Test(arguments: [true, false])
  func cascadingSparesWhatWasGivenToAnotherOwner(isRead: Bool) throws {
    let league = try League(.cascade)
    let player = try league.player()
    let team = try league.team(player), refuge = try league.team()
    try league.context.save()
    let other = Context(store: league.store)
    let mine = try league.twin(team, in: other), moved = try league.twin(player, in: other)
    if isRead { _ = try league.players(mine) }
    try other.delete(mine)
    try league.move(moved, to: league.twin(refuge, in: other))
    try other.save()
    #expect(moved.isLive)
    #expect(try league.count("Player", in: Context(store: league.store)) == 1)
  }

  @Test(arguments: [true, false])
  func denyingHoldsUntilTheLastIsMovedAway(isRead: Bool) throws {
    let league = try League(.deny)
    let first = try league.player(), second = try league.player()
    let team = try league.team(first, second), refuge = try league.team()
    try league.context.save()
    let other = Context(store: league.store)
    let mine = try league.twin(team, in: other)
    let moved = try league.twin(first, in: other), deleted = try league.twin(second, in: other)
    if isRead { _ = try league.players(mine) }
    try other.delete(mine)
    #expect(failure(of: { try other.save() })?.kind == .validation)
    try league.move(moved, to: league.twin(refuge, in: other))
    #expect(failure(of: { try other.save() })?.kind == .validation)
    try other.delete(deleted)
    try other.save()
    #expect(try league.count("Team", in: Context(store: league.store)) == 1)
    #expect(try league.players(league.twin(refuge, in: other)).count == 1)
  }

  @Test func bothEndsOfACascadeMayPointAtEachOther() throws {
    let league = try League(.cascade, back: .cascade)
    let first = try league.player(), second = try league.player()
    _ = try league.team(first, second)
    try league.context.save()
    try league.context.delete(first)
    try league.context.save()
    #expect(try league.count("Player") == 0 && league.count("Team") == 0)
  }

  @Test(arguments: [true, false])
  func nullifyingComesBackWithARollback(isOrdered: Bool) throws {
    let league = try League(.nullify, isOrdered: isOrdered)
    let first = try league.player(), second = try league.player(), third = try league.player()
    let team = try league.team(third, first, second), other = try league.team()
    try league.context.save()
    let before = try league.players(team)
    try league.context.delete(first)
    try league.context.process()
    try league.context.delete(team)
    // What the deleted one held is taken by another before its rules are applied.
    try other.add(third, to: league.relationship("Team", "players"))
    #expect(try league.team(of: second) == nil)
    try league.context.process()
    #expect(try league.team(of: third) === other)
    try league.context.rollback()
    #expect(try league.players(team).elementsEqual(before, by: ===))
    #expect(try league.team(of: first) === team && league.team(of: third) === team)
    #expect(try league.players(other).isEmpty && !league.context.hasChanges)
  }

  @Test func aDeletedHolderThatIsRobbedGetsBackWhatItHeld() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let first = try context.insert(entityNamed: "Person"), second = try context.insert(entityNamed: "Person")
    let passport = try context.insert(entityNamed: "Passport")
    let holds = try library.relationship("Person", "passport"), holder = try library.relationship("Passport", "holder")
    try first.set(.object(passport.reference), for: holds)
    try context.save()
    try context.delete(first)
    try second.set(.object(passport.reference), for: holds)
    try context.process()
    #expect(try passport.object(of: holder) === second)
    try context.rollback()
    #expect(try first.object(of: holds) === passport)
    #expect(try second.object(of: holds) == nil)
    #expect(try passport.object(of: holder) === first)
  }

  @Test func noActionLeavesAReferenceButNoGhost() throws {
    let league = try League(.noAction, back: .noAction)
    let player = try league.player(), orphan = try league.player()
    let team = try league.team(player), lost = try league.team(orphan)
    try league.context.save()
    #expect(try league.players(team).count == 1)
    try league.context.delete(player)
    try league.context.delete(lost)
    try league.context.save()
    #expect(try league.players(team).isEmpty)
    // The dangling reference can be cleared.
    let other = Context(store: league.store)
    let mine = try league.twin(orphan, in: other)
    #expect(try mine.value(forKey: "team").isNil == false)
    #expect(try mine.value(atKeyPath: ["team", "name"]).isNil)
    try league.move(mine, to: nil)
    try other.save()
    #expect(try league.twin(orphan, in: Context(store: league.store)).value(forKey: "team").isNil)
  }

  @Test(arguments: [true, false])
  func withoutInverseWhatIsPendingLetsGoOfADeletedObject(wasSaved: Bool) throws {
    let league = try League(.nullify, hasInverse: false, isOrdered: true)
    let player = try league.player(), kept = try league.player()
    let team = try league.team()
    if wasSaved { try league.context.save() }
    let players = try league.relationship("Team", "players")
    try team.set([player, kept], for: players)
    try league.move(kept, to: team)
    try league.context.delete(player)
    #expect(try league.players(team).elementsEqual([kept], by: ===))
    try league.context.save()
    #expect(try league.players(team).elementsEqual([kept], by: ===))
    let other = try league.team()
    try league.move(kept, to: other)
    try league.context.delete(other)
    try league.context.save()
    #expect(try league.team(of: kept) == nil)
    #expect(try league.twin(kept, in: Context(store: league.store)).value(forKey: "team").isNil)
  }

  @Test func withoutInverseMembersThatWereReadLoseADeletedObject() throws {
    let league = try League(.nullify, hasInverse: false)
    var player: ManagedObject? = try league.player()
    let team = try league.team(try #require(player))
    try league.context.save()
    #expect(try league.players(team).count == 1)
    try league.context.delete(try #require(player))
    #expect(try league.players(team).isEmpty)
    try league.context.rollback()
    #expect(try league.players(team).count == 1)
    try league.context.delete(try #require(player))
    player = nil
    try league.context.save()
    #expect(try league.players(team).isEmpty)
  }

  @Test func membersThatWereReadWhileOneWasDeletedLoseItWithTheSave() throws {
    let league = try League(.nullify)
    let player = try league.player()
    let team = try league.team(player)
    try league.context.save()
    let other = Context(store: league.store)
    let mine = try league.twin(team, in: other)
    try other.delete(league.twin(player, in: other))
    try other.process()
    #expect(try league.players(mine).isEmpty)
    try other.save()
    #expect(try league.players(mine).isEmpty)
  }

  @Test func rowsThatAreGoneAlreadyHinderNoDelete() throws {
    let league = try League(.cascade)
    let first = try league.player(), second = try league.player()
    let team = try league.team(first, second)
    let single = try league.player()
    try league.context.save()
    let other = Context(store: league.store)
    let mine = try league.twin(team, in: other)
    _ = try mine.members(of: league.relationship("Team", "players"))
    let fault = other.object(single.reference, entity: single.entity)
    try league.remove(first)
    try league.remove(single)
    try other.merge()
    try other.delete(fault)
    #expect(fault.isDeleted)
    try other.delete(mine)
    try other.save()
    #expect(try league.count("Player", in: Context(store: league.store)) == 0)
    #expect(try league.count("Team", in: Context(store: league.store)) == 0)
  }

  @Test("Whole trees go with their roots, read or not", arguments: Dice.seeds(3))
  func trees(seed: UInt64) throws {
    print("cascades: seed \(seed)")
    var dice = Dice(seed: seed)
    let model = Model()
    try model.addEntity(named: "Node")
    for (name, inverse, isToMany, rule) in [
      ("parent", "children", false, DeleteRule.nullify), ("children", "parent", true, .cascade),
    ] {
      try model.addRelationship(
        {
          Relationship(
            name: name, entity: $0, destinationName: "Node", inverseName: inverse, isToMany: isToMany, isOptional: true,
            deleteRule: rule)
        }, named: name, to: "Node")
    }
    let store = try Store.open(path: ":memory:", model: model)
    let parent = try #require(try model.entity(named: "Node").property(named: "parent") as? Relationship)
    let children = try #require(try model.entity(named: "Node").property(named: "children") as? Relationship)
    for _ in 0..<30 {
      let context = Context(store: store)
      var parents: [Int] = []
      var nodes: [ManagedObject] = []
      for number in 0..<30 {
        nodes.append(try context.insert(entityNamed: "Node"))
        parents.append(dice.roll(number + 3) - 3)
        if parents[number] >= 0 { try nodes[number].set(.object(nodes[parents[number]].reference), for: parent) }
      }
      if dice.chance(2, of: 3) { try context.save() }
      for node in nodes where dice.chance(1, of: 4) { _ = try node.objects(of: children) }
      var gone = Set<Int>()
      for _ in 0..<3 {
        let root = dice.roll(30)
        gone.insert(root)
        try context.delete(nodes[root])
      }
      for number in nodes.indices where gone.contains(parents[number]) { gone.insert(number) }
      try context.process()
      for number in nodes.indices { try #require(nodes[number].isLive != gone.contains(number)) }
      try context.save()
      try #require(try Context(store: store).count(FetchRequest(entityName: "Node")) == 30 - gone.count)
      for node in nodes where node.isLive { try context.delete(node) }
      try context.save()
    }
  }
}
