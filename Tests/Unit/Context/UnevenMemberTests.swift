import Testing

@testable import QuireCore

/// The members of a to-many relationship are read before another context gives one of them away, what the member says
/// of its owner after that, or the other way round. A context on the store reads both as of one moment. A child reads
/// ahead of what its parent has told.
@Suite("One-to-many: one side read before another's change, one after")
struct UnevenMemberTests {
  enum Owner: CaseIterable { case nobody, own, other }

  struct Sides: CustomStringConvertible {
    let owner: String, members: String, member: String, holder: String
    var description: String { "\(owner).\(members)" }
  }

  private static let sides = [
    Sides(owner: "Person", members: "books", member: "Book", holder: "author"),
    Sides(owner: "Shelf", members: "books", member: "Book", holder: "shelf"),
    Sides(owner: "Node", members: "children", member: "Node", holder: "parent"),
  ]

  /// A member that has one owner when it is first read, and another one after others have saved.
  private struct Desk {
    let library = try! LibraryFixture()
    let sides: Sides
    let theirs: Context, mine: Context
    let ids: [Owner: Int64]
    let memberID: Int64
    let members: Relationship, holder: Relationship

    init(_ sides: Sides, before: Owner, isChild: Bool = false) throws {
      self.sides = sides
      members = try library.relationship(sides.owner, sides.members)
      holder = try library.relationship(sides.member, sides.holder)
      theirs = Context(store: library.store)
      mine = isChild ? Context(parent: theirs) : Context(store: library.store)
      let own = try theirs.insert(entityNamed: sides.owner), other = try theirs.insert(entityNamed: sides.owner)
      let made = try theirs.insert(entityNamed: sides.member)
      try theirs.save()
      (ids, memberID) = ([.own: own.id, .other: other.id], made.id)
      try give(to: before, in: theirs)
      try theirs.save()
    }

    func owner(_ owner: Owner, in context: Context) throws -> ManagedObject? {
      try ids[owner].map { try context.existingObject(entityNamed: sides.owner, id: $0) }
    }

    func member(in context: Context) throws -> ManagedObject {
      try context.existingObject(entityNamed: sides.member, id: memberID)
    }

    func give(to wanted: Owner, in context: Context) throws {
      let target = try owner(wanted, in: context)
      try member(in: context).set(target.map { .object($0.reference) } ?? .nil, for: holder)
      withExtendedLifetime(target) {}
    }

    func list(_ shown: Owner, in context: Context) throws -> Bool {
      try owner(shown, in: context)?.objects(of: members).contains { $0.id == memberID } ?? false
    }

    /// Whom it belongs to, where both sides agree on that.
    func agreed(in context: Context) throws -> Owner? {
      let shown = try member(in: context).target(of: holder)
      let said = try Owner.allCases.first { each in try owner(each, in: context)?.reference == shown }
      let listed = try Owner.allCases.filter { each in try list(each, in: context) }
      return listed == Owner.allCases.filter { $0 == said && $0 != .nobody } ? said : nil
    }
  }

  @Test(arguments: sides, [true, false])
  func whatIsDoneByTheListIsDone(_ sides: Sides, isListEarly: Bool) throws {
    for before in Owner.allCases {
      for after in Owner.allCases where after != before {
        for adds in [true, false] {
          let desk = try Desk(sides, before: before, isChild: true)
          let own = try #require(try desk.owner(.own, in: desk.mine)), member = try desk.member(in: desk.mine)
          if isListEarly {
            _ = try own.objects(of: desk.members)
            try desk.mine.refresh(member, merges: false)
          } else {
            _ = try member.value(of: desk.holder)
          }
          try desk.give(to: after, in: desk.theirs)
          try desk.theirs.save()
          _ = try member.value(of: desk.holder)
          let isListed = try desk.list(.own, in: desk.mine)
          let moment: Testing.Comment = "\(before) to \(after), \(adds ? "added" : "removed")"
          if adds { try own.add(member, to: desk.members) } else { try own.remove(member, from: desk.members) }
          #expect(try desk.list(.own, in: desk.mine) == adds, moment)
          try desk.mine.merge()
          let wanted = isListed ? (adds || after != .own ? after : .nobody) : (adds ? Owner.own : after)
          #expect(try desk.agreed(in: desk.mine) == wanted, moment)
          try desk.mine.save()
          #expect(try desk.agreed(in: desk.mine) == wanted, moment)
          try desk.theirs.save()
          #expect(try desk.agreed(in: Context(store: desk.library.store)) == wanted, moment)
        }
      }
    }
  }

  @Test(arguments: sides)
  func aContextOnTheStoreReadsBothSidesAsOfOneMoment(_ sides: Sides) throws {
    for before in Owner.allCases {
      for after in Owner.allCases where after != before {
        let desk = try Desk(sides, before: before)
        _ = try desk.member(in: desk.mine).value(of: desk.holder)
        try desk.give(to: after, in: desk.theirs)
        try desk.theirs.save()
        #expect(try desk.agreed(in: desk.mine) == before)
        try desk.mine.merge()
        #expect(try desk.agreed(in: desk.mine) == after)
      }
    }
  }

  @Test(arguments: sides)
  func aMemberThatWasGivenAwayIsNotInAListThatIsReadThen(_ sides: Sides) throws {
    let desk = try Desk(sides, before: .nobody)
    try desk.give(to: .other, in: desk.mine)
    try desk.give(to: .own, in: desk.theirs)
    try desk.theirs.save()
    #expect(try desk.agreed(in: desk.mine) == .other)
    let own = try #require(try desk.owner(.own, in: desk.mine))
    try own.remove(desk.member(in: desk.mine), from: desk.members)
    #expect(try desk.agreed(in: desk.mine) == .other)
    try desk.mine.merge()
    #expect(try desk.agreed(in: desk.mine) == .other)
  }

  @Test(arguments: sides)
  func aMemberThatIsGoneCanBeTakenOut(_ sides: Sides) throws {
    let desk = try Desk(sides, before: .own), own = try #require(try desk.owner(.own, in: desk.mine))
    #expect(try desk.list(.own, in: desk.mine))
    try desk.theirs.delete(desk.member(in: desk.theirs))
    try desk.theirs.save()
    try own.set([], for: desk.members)
    #expect(try own.objects(of: desk.members).isEmpty)
    try desk.mine.merge()
    #expect(try own.objects(of: desk.members).isEmpty)
    #expect(!desk.mine.hasChanges)
  }

  /// Members that were read before others put them in are in the order when it is refreshed: a refresh moves the whole
  /// context.
  @Test(arguments: [true, false])
  func aRefreshedOrderHasWhatOthersHavePutIn(isOfAll: Bool) throws {
    let library = try LibraryFixture(), theirs = Context(store: library.store), mine = Context(store: library.store)
    let books = try library.relationship("Shelf", "books"), shelf = try library.relationship("Book", "shelf")
    let made = try theirs.insert(entityNamed: "Shelf")
    let volumes = try (0..<2).map { _ in try theirs.insert(entityNamed: "Book") }
    try theirs.save()
    let own = try mine.existingObject(entityNamed: "Shelf", id: made.id)
    let early = try volumes.map { try mine.existingObject(entityNamed: "Book", id: $0.id) }
    #expect(try early.map { try $0.target(of: shelf) } == [nil, nil])
    try own.add(early[0], to: books)
    try volumes[1].set(.object(made.reference), for: shelf)
    try theirs.save()
    if isOfAll { try mine.refreshAll() } else { try mine.refresh(own, merges: true) }
    for isMerged in [false, true] {
      if isMerged { try mine.merge() }
      #expect(try early[1].target(of: shelf) == own.reference)
      #expect(try Set(own.objects(of: books).map(\.id)) == Set(volumes.map(\.id)))
    }
    try mine.save()
    let reader = try Context(store: library.store).existingObject(entityNamed: "Shelf", id: made.id)
    #expect(try Set(reader.objects(of: books).map(\.id)) == Set(volumes.map(\.id)))
  }

  @Test func whoWasGivenAnotherPartnerKeepsIt() throws {
    let library = try LibraryFixture(), theirs = Context(store: library.store), mine = Context(store: library.store)
    let passport = try library.relationship("Person", "passport"),
      holder = try library.relationship("Passport", "holder")
    let people = try (0..<2).map { _ in try theirs.insert(entityNamed: "Person") }
    let made = try (0..<2).map { _ in try theirs.insert(entityNamed: "Passport") }
    try theirs.save()
    let early = try mine.existingObject(entityNamed: "Person", id: people[0].id)
    #expect(try early.target(of: passport) == nil)
    try people[0].set(.object(made[0].reference), for: passport)
    try theirs.save()
    let late = try made.map { try mine.existingObject(entityNamed: "Passport", id: $0.id) }
    try late[1].set(.object(early.reference), for: holder)
    let other = try mine.existingObject(entityNamed: "Person", id: people[1].id)
    try other.set(.object(late[0].reference), for: passport)
    #expect(try early.target(of: passport) == late[1].reference)
    try mine.merge()
    try mine.save()
    let reader = Context(store: library.store)
    for (place, person) in people.enumerated() {
      let read = try reader.existingObject(entityNamed: "Person", id: person.id)
      #expect(try read.target(of: passport) == made[1 - place].reference)
    }
  }

  @Test(arguments: [true, false])
  func partnersAgreeAfterARefresh(isOfAll: Bool) throws {
    let library = try LibraryFixture(), theirs = Context(store: library.store), mine = Context(store: library.store)
    let passport = try library.relationship("Person", "passport"),
      holder = try library.relationship("Passport", "holder")
    let made = try theirs.insert(entityNamed: "Passport")
    let people = try (0..<2).map { _ in try theirs.insert(entityNamed: "Person") }
    try theirs.save()
    let own = try mine.existingObject(entityNamed: "Passport", id: made.id)
    let wanted = try mine.existingObject(entityNamed: "Person", id: people[0].id)
    try own.set(.object(wanted.reference), for: holder)
    try made.set(.object(people[1].reference), for: holder)
    try theirs.save()
    if isOfAll { try mine.refreshAll() } else { try mine.refresh(own, merges: true) }
    let other = try mine.existingObject(entityNamed: "Person", id: people[1].id)
    #expect(try own.target(of: holder) == wanted.reference)
    #expect(try wanted.target(of: passport) == own.reference)
    #expect(try other.target(of: passport) == nil)
    try mine.save()
    let reader = Context(store: library.store)
    #expect(try reader.existingObject(entityNamed: "Person", id: people[1].id).target(of: passport) == nil)
  }
}

extension ManagedObject {
  fileprivate func target(of relationship: Relationship) throws -> ObjectReference? {
    if case .object(let box) = try value(of: relationship) { return box.reference }
    return nil
  }
}
