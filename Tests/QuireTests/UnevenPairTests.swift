import Testing

@testable import Quire

/// One side of a many-to-many relationship is read before another context saves a pair of it, the other side after
/// that. What is then done to the pair, by the side that knows of it, stays done on both.
@Suite("Many-to-many: one side read before another's save, one after")
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

  /// An owner with its members, as one context knows them.
  private struct Desk {
    let context: Context
    let owner: ManagedObject
    let members: Relationship, owners: Relationship

    init(_ library: LibraryFixture, _ sides: Sides, _ owner: Int64) throws {
      context = Context(store: library.store)
      self.owner = try context.existingObject(entityNamed: sides.owner, id: owner)
      members = try library.relationship(sides.owner, sides.members)
      owners = try library.relationship(sides.member, sides.owners)
    }

    func member(_ id: Int64) throws -> ManagedObject {
      try context.existingObject(entityNamed: members.destination.name, id: id)
    }

    func change(_ id: Int64, isHeld: Bool) throws {
      if isHeld { try owner.add(member(id), to: members) } else { try owner.remove(member(id), from: members) }
    }

    func memberIDs() throws -> Set<Int64> { Set(try owner.objects(of: members).map(\.id)) }

    /// The members that say that they belong to the owner.
    func claimants(_ ids: [Int64]) throws -> Set<Int64> {
      try Set(
        ids.filter { id in
          guard let member = try? member(id), member.isLive else { return false }
          return try member.objects(of: owners).contains { $0 === owner }
        })
    }
  }

  @Test(arguments: sides, Own.allCases)
  func whatWasDoneToAPairStaysDone(_ sides: Sides, _ own: Own) throws {
    for way in Way.allCases {
      for isRemoved in [true, false] {
        let library = try LibraryFixture(), setting = Context(store: library.store)
        let owner = try setting.insert(entityNamed: sides.owner)
        let made = try (0..<3).map { _ in try setting.insert(entityNamed: sides.member) }
        let members = try library.relationship(sides.owner, sides.members)
        try owner.set(isRemoved ? [made[0]] : [made[0], made[2]], for: members)
        try setting.save()
        let ids = made.map(\.id)

        let mine = try Desk(library, sides, owner.id)
        #expect(try mine.memberIDs() == (isRemoved ? [ids[0]] : [ids[0], ids[2]]))
        var wanted: Set<Int64> = [ids[0]]
        switch own {
        case .adds:
          try mine.change(ids[1], isHeld: true)
          wanted.insert(ids[1])
        case .removes:
          try mine.change(ids[0], isHeld: false)
          wanted = []
        case .deletes:
          try mine.context.delete(try mine.member(ids[0]))
          try mine.context.process()
          wanted = []
        }
        if !isRemoved { wanted.insert(ids[2]) }

        let theirs = try Desk(library, sides, owner.id)
        try theirs.change(ids[2], isHeld: isRemoved)
        try theirs.context.save()

        let pair = try mine.member(ids[2])
        #expect(try pair.objects(of: mine.owners).map(\.id) == (isRemoved ? [owner.id] : []))
        if isRemoved {
          try pair.remove(mine.owner, from: mine.owners)
        } else {
          try pair.add(mine.owner, to: mine.owners)
        }
        switch way {
        case .merge: try mine.context.merge()
        case .refresh: try mine.context.refresh(mine.owner, merges: true)
        case .refreshAll: try mine.context.refreshAll()
        case .objectWins: mine.context.mergePolicy = .objectWins
        case .storeWins: mine.context.mergePolicy = .storeWins
        case .overwrite: mine.context.mergePolicy = .overwrite
        }
        for isSaved in [false, true] {
          let moment: Testing.Comment = "\(way), \(isRemoved ? "removed" : "added"), \(isSaved ? "saved" : "pending")"
          if isSaved { try mine.context.save() }
          #expect(try mine.memberIDs() == wanted, moment)
          #expect(try mine.claimants(ids) == wanted, moment)
        }
        let stored = try Desk(library, sides, owner.id)
        #expect(try stored.memberIDs() == wanted, "\(way), \(isRemoved): stored")
      }
    }
  }
}
