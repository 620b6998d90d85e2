import Testing

@testable import QuireCore

@Suite("Validation")
struct ValidationTests {
  private let store: Store
  private let context: Context

  /// A band needs a name and two to three players; a song needs a band; a label may be empty or have two bands.
  init() throws {
    let model = Model()
    func relate(
      _ owner: String, _ name: String, to destination: String, inverse: String, toMany: Bool = false,
      isOptional: Bool = false, minimum: Int = 0, maximum: Int = 0
    ) throws {
      try model.addRelationship(
        {
          Relationship(
            name: name, entity: $0, destinationName: destination, inverseName: inverse, isToMany: toMany,
            isOptional: isOptional, minimumCount: minimum, maximumCount: maximum)
        }, named: name, to: owner)
    }
    for name in ["Band", "Player", "Song", "Label"] {
      try model.addEntity(named: name)
      try model.addAttribute(named: "name", to: name, type: .string, isOptional: name != "Band")
    }
    try relate("Band", "players", to: "Player", inverse: "band", toMany: true, minimum: 2, maximum: 3)
    try relate("Player", "band", to: "Band", inverse: "players", isOptional: true)
    try relate("Band", "songs", to: "Song", inverse: "band", toMany: true, isOptional: true)
    try relate("Song", "band", to: "Band", inverse: "songs")
    try relate("Band", "label", to: "Label", inverse: "bands", isOptional: true)
    try relate("Label", "bands", to: "Band", inverse: "label", toMany: true, isOptional: true, minimum: 2)
    store = try Store.open(path: ":memory:", model: model)
    context = Context(store: store)
  }

  private func relationship(_ entity: String, _ name: String) throws -> Relationship {
    try #require(try store.model.entity(named: entity).property(named: name) as? Relationship)
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: ManagedObject?) throws {
    try object.set(value.map { .object($0.reference) } ?? .nil, for: object.entity.property(named: key))
  }

  private func band(_ players: Int) throws -> ManagedObject {
    let band = try context.insert(entityNamed: "Band")
    try band.set(.text("x"), for: band.entity.property(named: "name"))
    for _ in 0..<players { try set(context.insert(entityNamed: "Player"), "band", band) }
    return band
  }

  private func problems(_ other: Context? = nil) -> [String]? {
    guard let failure = failure(of: { try (other ?? context).save() }) else { return nil }
    #expect(failure.kind == .validation)
    return (failure.details.isEmpty ? [failure] : failure.details).map(\.message.string)
  }

  @Test func everythingThatIsWrongIsReportedAtOnce() throws {
    _ = try context.insert(entityNamed: "Band")
    _ = try context.insert(entityNamed: "Song")
    let found = try #require(problems())
    #expect(found.count == 3)
    for name in ["Band.name", "Band.players", "Song.band"] { #expect(found.contains { $0.contains("'\(name)'") }) }
    #expect(try Context(store: store).count(FetchRequest(entityName: "Band")) == 0)
    #expect(context.pending.inserted.count == 2)
  }

  @Test func aFailedSaveLeavesEverythingPendingAndASecondSucceeds() throws {
    let band = try band(1)
    #expect(problems()?.count == 1)
    #expect(band.id == 1 && band.state == .inserted && context.hasChanges)
    try set(context.insert(entityNamed: "Player"), "band", band)
    #expect(problems() == nil)
    #expect(band.id == 1 && !context.hasChanges)
  }

  @Test(arguments: [true, false])
  func countsAreCheckedWhetherTheMembersWereReadOrNot(isRead: Bool) throws {
    let saved = try band(2)
    let spare = try context.insert(entityNamed: "Player")
    let spares = [try context.insert(entityNamed: "Player"), spare]
    try context.save()
    for change in 0..<4 {
      let other = Context(store: store)
      let band = try other.existingObject(entityNamed: "Band", id: saved.id)
      func twin(_ object: ManagedObject) throws -> ManagedObject {
        try other.existingObject(entityNamed: object.entity.name, id: object.id)
      }
      if isRead { _ = try band.objects(of: relationship("Band", "players")) }
      let request = FetchRequest(entityName: "Player")
      request.predicate = try Predicate.parse("band != nil")
      let member = try other.fetch(request).object(at: 0)
      switch change {
      case 0: try set(member, "band", nil)
      case 1: try other.delete(member)
      case 2: for player in spares { try set(twin(player), "band", band) }
      default:
        try set(member, "band", nil)
        try set(twin(spare), "band", band)
      }
      let found = problems(other)
      if change == 3 { #expect(found == nil) } else { #expect(found?.count == 1, "change \(change)") }
    }
  }

  @Test func anOptionalRelationshipIsEmptyOrHasItsMinimum() throws {
    let label = try context.insert(entityNamed: "Label")
    let first = try band(2), second = try band(2)
    try context.save()
    try set(first, "label", label)
    #expect(problems()?.count == 1)
    try set(second, "label", label)
    #expect(problems() == nil)
    try set(first, "label", nil)
    #expect(problems()?.count == 1)
    try set(second, "label", nil)
    #expect(problems() == nil)
  }

  @Test func aMandatoryReferenceToADeletedObjectIsMissing() throws {
    let band = try band(2), song = try context.insert(entityNamed: "Song")
    try set(song, "band", band)
    try context.save()
    try context.delete(band)
    #expect(problems()?.contains { $0.contains("'Song.band'") } == true)
    try context.delete(song)
    #expect(problems() == nil)
  }

  @Test func whatIsWrongInTheFileHindersNoOtherChange() throws {
    let band = try band(2)
    try context.save()
    try store.withConnection { connection throws(Failure) in
      try connection.statement("UPDATE ZBAND SET ZNAME = NULL").run()
      try connection.statement("DELETE FROM ZPLAYER WHERE Z_PK = 1").run()
    }
    let other = Context(store: store)
    let song = try other.insert(entityNamed: "Song")
    try set(song, "band", other.existingObject(entityNamed: "Band", id: band.id))
    #expect(problems(other) == nil)
  }
}
