import Testing

@testable import QuireCore

/// One side of a many-to-many relationship is read before another context changes a pair of it, the other side after
/// that. A context on the store reads both sides as of one moment. A child reads the later side ahead of what its
/// parent has told.
@Suite("Many-to-many: one side read before another's change, one after")
struct UnevenPairTests {
  enum Own: CaseIterable { case adds, removes, deletes }
  enum Way: CaseIterable { case merge, refresh, refreshAll, objectWins, storeWins, overwrite }

  struct Sides: CustomStringConvertible {
    let owner: String, members: String, member: String, owners: String
    var description: String { "\(owner).\(members)" }
  }

  private static let sides = [
    Sides(owner: "Tag", members: "books", member: "Book", owners: "tags"),
    Sides(owner: "Book", members: "tags", member: "Tag", owners: "books"),
    Sides(owner: "Person", members: "friends", member: "Person", owners: "friends"),
  ]

  /// An owner that has the first of three members, and the last as well if others are to take it out.
  private struct Pairs {
    let library: LibraryFixture
    let sides: Sides
    /// Of the children.
    let parent: Context
    let owner: Int64, other: Int64
    let ids: [Int64]
    /// Whether others take the last member out; otherwise they put it in.
    let isTakenOut: Bool

    init(_ sides: Sides, isTakenOut: Bool) throws {
      self.sides = sides
      self.isTakenOut = isTakenOut
      library = try LibraryFixture()
      let context = Context(store: library.store)
      parent = context
      let owners = try (0..<2).map { _ in try context.insert(entityNamed: sides.owner) }
      let members = try (0..<3).map { _ in try context.insert(entityNamed: sides.member) }
      try owners[0].set(
        isTakenOut ? [members[0], members[2]] : [members[0]], for: library.relationship(sides.owner, sides.members))
      try context.save()
      (owner, other, ids) = (owners[0].id, owners[1].id, members.map(\.id))
    }

    var before: Set<Int64> { isTakenOut ? [ids[0], ids[2]] : [ids[0]] }
    var stored: Set<Int64> { isTakenOut ? [ids[0]] : [ids[0], ids[2]] }

    func haveOthersSave() throws {
      let theirs = try Desk(self)
      try change(theirs)
      try theirs.context.save()
    }

    /// Children are not told of it yet.
    func haveTheParentChange() throws { try change(Desk(self, in: parent)) }

    private func change(_ theirs: Desk) throws {
      if isTakenOut { try theirs.remove(ids[2]) } else { try theirs.add(ids[2]) }
    }
  }

  /// The owner and its members, as one context knows them.
  private struct Desk {
    let context: Context
    let owner: ManagedObject
    let pairs: Pairs
    let members: Relationship, owners: Relationship

    /// In a context of its own on the store, unless there is another one for it.
    init(_ pairs: Pairs, in given: Context? = nil) throws {
      self.pairs = pairs
      context = given ?? Context(store: pairs.library.store)
      owner = try context.existingObject(entityNamed: pairs.sides.owner, id: pairs.owner)
      members = try pairs.library.relationship(pairs.sides.owner, pairs.sides.members)
      owners = try pairs.library.relationship(pairs.sides.member, pairs.sides.owners)
    }

    func member(_ id: Int64) throws -> ManagedObject {
      try context.existingObject(entityNamed: pairs.sides.member, id: id)
    }

    func add(_ id: Int64) throws { try owner.add(member(id), to: members) }
    func remove(_ id: Int64) throws { try owner.remove(member(id), from: members) }

    func change(_ own: Own) throws {
      switch own {
      case .adds: try add(pairs.ids[1])
      case .removes: try remove(pairs.ids[0])
      case .deletes:
        try context.delete(member(pairs.ids[0]))
        try context.process()
      }
    }

    func memberIDs() throws -> Set<Int64> { Set(try owner.objects(of: members).map(\.id)) }

    /// The members by what they themselves say.
    func claimants() throws -> Set<Int64> {
      try Set(
        pairs.ids.filter { id in
          guard let member = try? member(id), member.isLive else { return false }
          return try member.objects(of: owners).contains { $0 === owner }
        })
    }

    func takeOver(_ way: Way) throws {
      switch way {
      case .merge: try context.merge()
      case .refresh: try context.refresh(owner, merges: true)
      case .refreshAll: try context.refreshAll()
      case .objectWins: context.mergePolicy = .objectWins
      case .storeWins: context.mergePolicy = .storeWins
      case .overwrite: context.mergePolicy = .overwrite
      }
    }
  }

  private func changed(_ members: Set<Int64>, _ own: Own, _ ids: [Int64]) -> Set<Int64> {
    own == .adds ? members.union([ids[1]]) : members.subtracting([ids[0]])
  }

  @Test(arguments: sides)
  func aContextOnTheStoreReadsBothSidesOfAPairAsOfOneMoment(_ sides: Sides) throws {
    for isTakenOut in [true, false] {
      let pairs = try Pairs(sides, isTakenOut: isTakenOut), mine = try Desk(pairs), later = try Desk(pairs)
      #expect(try mine.memberIDs() == pairs.before)
      try pairs.haveOthersSave()
      #expect(try mine.claimants() == pairs.before)
      #expect(try later.claimants() == pairs.before && later.memberIDs() == pairs.before)
      for desk in [mine, later] {
        try desk.context.merge()
        #expect(try desk.memberIDs() == pairs.stored && desk.claimants() == pairs.stored)
      }
    }
  }

  @Test(arguments: sides, Own.allCases)
  func whatIsDoneToAPairByTheSideThatKnowsOfItStaysDone(_ sides: Sides, _ own: Own) throws {
    for way in Way.allCases {
      for isTakenOut in [true, false] {
        let pairs = try Pairs(sides, isTakenOut: isTakenOut)
        let mine = try Desk(pairs, in: Context(parent: pairs.parent))
        #expect(try mine.memberIDs() == pairs.before)
        try mine.change(own)
        try pairs.haveTheParentChange()
        let late = try mine.member(pairs.ids[2])
        #expect(try late.objects(of: mine.owners).isEmpty == isTakenOut)
        if isTakenOut {
          try late.add(mine.owner, to: mine.owners)
        } else {
          try late.remove(mine.owner, from: mine.owners)
        }
        let wanted = changed(pairs.before, own, pairs.ids)
        try mine.takeOver(way)
        for isSaved in [false, true] {
          if isSaved { try mine.context.save() }
          #expect(try mine.memberIDs() == wanted, "\(way), taken out: \(isTakenOut), saved: \(isSaved)")
          #expect(try mine.claimants() == wanted, "\(way), taken out: \(isTakenOut), saved: \(isSaved)")
        }
        try pairs.parent.save()
        #expect(try Desk(pairs).memberIDs() == wanted, "\(way), taken out: \(isTakenOut)")
      }
    }
  }

  @Test(arguments: sides, Own.allCases)
  func whatIsDoneToAPairCanBeUndoneAfterAMerge(_ sides: Sides, _ own: Own) throws {
    for isTakenOut in [true, false] {
      for isLate in [true, false] {
        let pairs = try Pairs(sides, isTakenOut: isTakenOut)
        let mine = try Desk(pairs, in: Context(parent: pairs.parent))
        try mine.context.enableUndo(levels: 0)
        _ = try mine.memberIDs()
        try mine.change(own)
        try pairs.haveTheParentChange()
        let late = try mine.member(pairs.ids[2])
        if isTakenOut {
          try late.add(mine.owner, to: mine.owners)
        } else {
          try late.remove(mine.owner, from: mine.owners)
        }
        // One group or two.
        if isLate { try mine.context.process() }
        try mine.context.merge()
        let changed = try mine.memberIDs()
        while mine.context.undoManager?.canUndo == true {
          try mine.context.undo()
          #expect(try mine.memberIDs() == mine.claimants())
        }
        #expect(try mine.memberIDs() == pairs.stored, "taken out: \(isTakenOut)")
        while mine.context.undoManager?.canRedo == true { try mine.context.redo() }
        #expect(try mine.memberIDs() == changed && mine.claimants() == changed, "taken out: \(isTakenOut)")
      }
    }
  }

  @Test(arguments: sides, Own.allCases)
  func aPairThatIsAsItWasReadBecomesWhatOthersHaveSaved(_ sides: Sides, _ own: Own) throws {
    for way in [Way.merge, .refreshAll, .objectWins, .storeWins] {
      for (isTakenOut, isTouched) in [(true, true), (true, false), (false, true), (false, false)] {
        let pairs = try Pairs(sides, isTakenOut: isTakenOut), mine = try Desk(pairs)
        let early = try mine.member(pairs.ids[2])
        try early.add(mine.context.existingObject(entityNamed: sides.owner, id: pairs.other), to: mine.owners)
        if isTouched {
          for holds in [!isTakenOut, isTakenOut] {
            if holds {
              try early.add(mine.owner, to: mine.owners)
            } else {
              try early.remove(mine.owner, from: mine.owners)
            }
          }
        }
        try pairs.haveOthersSave()
        // It is read anew, while the member, which has changes, is not.
        if isTouched { try mine.context.refresh(mine.owner, merges: false) }
        #expect(try !isTouched || mine.memberIDs() == mine.claimants())
        try mine.change(own)
        let wanted = changed(pairs.stored, own, pairs.ids)
        try mine.takeOver(way)
        try mine.context.save()
        let moment: Testing.Comment = "\(way), taken out: \(isTakenOut), touched: \(isTouched)"
        #expect(try mine.memberIDs() == wanted, moment)
        #expect(try mine.claimants() == wanted, moment)
        #expect(try Desk(pairs).memberIDs() == wanted, moment)
      }
    }
  }

  @Test(arguments: [true, false])
  func aRefreshedOrderLeavesWhatItsMembersLeave(isTaken: Bool) throws {
    let library = try LibraryFixture(), theirs = Context(store: library.store), mine = Context(parent: theirs)
    let books = try library.relationship("Shelf", "books"), shelf = try library.relationship("Book", "shelf")
    let made = try theirs.insert(entityNamed: "Shelf")
    let volumes = try (0..<3).map { _ in try theirs.insert(entityNamed: "Book") }
    try made.set(isTaken ? volumes : Array(volumes.prefix(2)), for: books)
    try theirs.save()
    let early = try mine.existingObject(entityNamed: "Shelf", id: made.id)
    try early.set(early.objects(of: books).reversed(), for: books)
    try volumes[2].set(isTaken ? .nil : .object(made.reference), for: shelf)
    let late = try mine.existingObject(entityNamed: "Book", id: volumes[2].id)
    try late.set(isTaken ? .object(early.reference) : .nil, for: shelf)
    try mine.refresh(early, merges: true)
    let wanted = volumes.reversed().filter { isTaken || $0 !== volumes[2] }.map(\.id)
    #expect(try Set(early.objects(of: books).map(\.id)) == Set(wanted))
    try mine.save()
    #expect(try Set(early.objects(of: books).map(\.id)) == Set(wanted))
    try theirs.save()
    let reader = Context(store: library.store)
    #expect(
      try Set(reader.existingObject(entityNamed: "Shelf", id: made.id).objects(of: books).map(\.id)) == Set(wanted))
  }

  @Test func whatReturnsDoesNotHoldWhatTheSameSaveDeletes() throws {
    let library = try LibraryFixture(), theirs = Context(store: library.store), mine = Context(store: library.store)
    let books = try library.relationship("Tag", "books"), tags = try library.relationship("Book", "tags")
    let tag = try theirs.insert(entityNamed: "Tag")
    let made = try (0..<3).map { _ in try theirs.insert(entityNamed: "Book") }
    try theirs.save()
    try mine.delete(mine.existingObject(entityNamed: "Book", id: made[0].id))
    try mine.process()
    try tag.set(made, for: books)
    try theirs.save()
    try mine.merge()
    let late = try mine.existingObject(entityNamed: "Tag", id: tag.id)
    try mine.existingObject(entityNamed: "Book", id: made[1].id).remove(late, from: tags)
    try theirs.delete(tag)
    try theirs.save()
    mine.mergePolicy = .objectWins
    try mine.save()
    let reader = Context(store: library.store)
    let returned = try reader.existingObject(entityNamed: "Tag", id: tag.id)
    #expect(try returned.objects(of: books).map(\.id) == [made[2].id])
  }

  @Test func whatWasReadAsDeletedIsGoneWhenThatIsSaved() throws {
    let library = try LibraryFixture(), parent = Context(store: library.store)
    let books = try library.relationship("Tag", "books"), tags = try library.relationship("Book", "tags")
    let tag = try parent.insert(entityNamed: "Tag"), book = try parent.insert(entityNamed: "Book")
    try parent.save()
    let child = Context(parent: parent)
    let deleted = try child.existingObject(entityNamed: "Tag", id: tag.id)
    #expect(try deleted.objects(of: books).isEmpty)
    try child.delete(deleted)
    try child.process()
    try book.add(tag, to: tags)
    let late = try child.existingObject(entityNamed: "Book", id: book.id)
    #expect(try late.objects(of: tags).isEmpty)
    try child.save()
    #expect(try late.objects(of: tags).isEmpty)
    #expect(try book.objects(of: tags).isEmpty)
  }

  @Test(arguments: sides)
  func membersAreReplacedWhenOneOfThemIsGone(_ sides: Sides) throws {
    let pairs = try Pairs(sides, isTakenOut: true), mine = try Desk(pairs), theirs = try Desk(pairs)
    #expect(try mine.memberIDs() == pairs.before)
    try theirs.context.delete(theirs.member(pairs.ids[2]))
    try theirs.context.save()
    try mine.owner.set([mine.member(pairs.ids[1])], for: mine.members)
    #expect(try mine.memberIDs() == [pairs.ids[1]])
    try mine.context.merge()
    try mine.context.save()
    #expect(try mine.memberIDs() == [pairs.ids[1]])
    #expect(try mine.claimants() == [pairs.ids[1]])
    #expect(try Desk(pairs).memberIDs() == [pairs.ids[1]])
  }

  @Test(arguments: sides)
  func aMemberThatIsGoneKeepsOthersFromBeingReplaced(_ sides: Sides) throws {
    let pairs = try Pairs(sides, isTakenOut: false), theirs = try Desk(pairs)
    try theirs.context.delete(theirs.member(pairs.ids[2]))
    try theirs.context.save()
    let mine = try Desk(pairs)
    #expect(try mine.memberIDs() == pairs.before)
    let gone = mine.context.object(
      ObjectReference(root: mine.members.destination.rootNumber, id: pairs.ids[2]), entity: mine.members.destination)
    #expect(failure { try mine.owner.set([gone, mine.member(pairs.ids[1])], for: mine.members) }?.kind == .notFound)
    #expect(try mine.memberIDs() == pairs.before)
    #expect(!mine.context.hasChanges)
  }
}
