import Testing

@testable import QuireCore

/// Hooks that write down when they are called, and then do what a test wants.
private final class Recorder: ObjectHooks {
  typealias Body = (ManagedObject) throws(Failure) -> Void
  var kinds: HookKinds
  var log: [String] = []
  private var bodies: [UInt16: Body] = [:]

  init(_ kinds: HookKinds) { self.kinds = kinds }

  func on(_ kind: HookKinds, _ body: @escaping Body) { bodies[kind.rawValue] = body }

  func call(_ kind: HookKinds, _ object: ManagedObject, _ events: SnapshotEvents) throws(Failure) {
    let names: [UInt16: String] = [1: "insert", 2: "fetch", 4: "prepare", 8: "willSave", 16: "validate", 32: "didSave"]
    log.append("\(names[kind.rawValue] ?? "?") \(object.entity.name)")
    try bodies[kind.rawValue]?(object)
  }

  func take() -> [String] {
    defer { log = [] }
    return log
  }
}

private final class Listener: ContextObserver {
  let heard: ([ObjectChange]) -> Void
  init(_ heard: @escaping ([ObjectChange]) -> Void) { self.heard = heard }
  func contextDidChange(_ batch: ChangeBatch) throws(Failure) { heard(batch.all) }
  func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {}
  func loseTrack() {}
  func tellRest() {}
  func preparation() -> (any PreparedObserver)? { nil }
  func follows(_ entity: Entity) -> Bool { true }
}

@Suite("Hooks")
struct HookTests {
  private let store: Store
  private let context: Context

  /// A folder holds notes, which go with it; a note has text, 'blank' by default, and a transient shout.
  init() throws {
    let model = Model()
    try model.addEntity(named: "Thing", isAbstract: true)
    try model.addEntity(named: "Folder", parent: "Thing")
    try model.addEntity(named: "Note", parent: "Thing")
    try model.addAttribute(
      named: "text", to: "Note", type: .string, isOptional: true, defaultValue: .text("blank"))
    try model.addAttribute(named: "edits", to: "Note", type: .integer64, defaultValue: .integer(0))
    try model.addAttribute(named: "shout", to: "Note", type: .string, isOptional: true, isTransient: true)
    try model.addRelationship(
      {
        Relationship(
          name: "notes", entity: $0, destinationName: "Note", inverseName: "folder", isToMany: true, isOptional: true,
          deleteRule: .cascade)
      }, named: "notes", to: "Folder")
    try model.addRelationship(
      { Relationship(name: "folder", entity: $0, destinationName: "Folder", inverseName: "notes", isOptional: true) },
      named: "folder", to: "Note")
    store = try Store.open(path: ":memory:", model: model)
    context = Context(store: store)
  }

  private func hooks(_ kinds: HookKinds, for entity: String? = "Note", in other: Context? = nil) throws -> Recorder {
    let recorder = Recorder(kinds)
    (other ?? context).setHooks(recorder, for: try entity.map { try store.model.entity(named: $0) })
    return recorder
  }

  private func note(_ text: String? = nil, in folder: ManagedObject? = nil) throws -> ManagedObject {
    let note = try context.insert(entityNamed: "Note")
    if let text { try set(note, "text", .text(text)) }
    if let folder { try set(note, "folder", .object(folder.reference)) }
    return note
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws(Failure) {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func text(_ object: ManagedObject, _ key: String = "text") throws -> String? {
    try object.value(forKey: key).comparableText?.string
  }

  // MARK: awakeFromInsert

  @Test func awakeFromInsertIsCalledOnceWithDefaultsApplied() throws {
    let recorder = try hooks([.awakeFromInsert])
    var seen: [String?] = []
    recorder.on(.awakeFromInsert) { object throws(Failure) in
      seen.append(try object.value(forKey: "text").comparableText?.string)
      try self.set(object, "text", .text("awake"))
    }
    let note = try note()
    #expect(try text(note) == "awake" && note.state == .inserted)
    try context.save()
    try context.delete(note)
    try context.rollback()
    #expect(seen == ["blank"] && recorder.take() == ["insert Note"])
  }

  @Test func awakeFromInsertIsCalledForEachOfManyAfterTheirValuesAreThere() throws {
    let recorder = try hooks([.awakeFromInsert])
    var seen: [String?] = []
    recorder.on(.awakeFromInsert) { object throws(Failure) in
      seen.append(try object.value(forKey: "text").comparableText?.string)
    }
    _ = try context.insert(entityNamed: "Note", keys: ["text"], rowCount: 3) { _, row in .text("\(row)") }
    #expect(seen == ["0", "1", "2"])
  }

  @Test func whenAwakeFromInsertFailsNothingIsInserted() throws {
    let recorder = try hooks([.awakeFromInsert])
    recorder.on(.awakeFromInsert) { _ throws(Failure) in
      if recorder.log.count == 2 { throw Failure(.function, "No more.") }
    }
    #expect(
      failure { _ = try context.insert(entityNamed: "Note", keys: ["text"], rowCount: 3) { _, _ in .nil } }?.kind
        == .function)
    #expect(!context.hasChanges)
    #expect(try context.count(FetchRequest(entityName: "Note")) == 0)
  }

  // MARK: awakeFromFetch

  @Test func awakeFromFetchIsCalledOnceWhenAFaultIsFulfilledAndItsChangesAreNone() throws {
    let saved = try note("quiet")
    try context.save()
    let other = Context(store: store)
    let recorder = try hooks([.awakeFromFetch], in: other)
    recorder.on(.awakeFromFetch) { object throws(Failure) in
      let text = try object.value(forKey: "text").comparableText?.string ?? ""
      try self.set(object, "shout", .text(text.uppercased()))
    }
    var changes = 0
    let listener = Listener { changes += $0.count }
    other.announcer.add(listener)
    let found = try other.existingObject(entityNamed: "Note", id: saved.id)
    #expect(recorder.take() == [])
    try found.awaken()
    try found.awaken()
    #expect(recorder.take() == ["fetch Note"])
    #expect(try text(found, "shout") == "QUIET")
    try other.process()
    #expect(!other.hasChanges && !found.isUpdated && changes == 0)
    found.forgetValues()
    try found.awaken()
    #expect(recorder.take() == ["fetch Note"])
  }

  @Test func awakeFromFetchMayNotChangeRelationships() throws {
    let folder = try context.insert(entityNamed: "Folder")
    let saved = try note()
    try context.save()
    let recorder = try hooks([.awakeFromFetch])
    recorder.on(.awakeFromFetch) { object throws(Failure) in
      try self.set(object, "folder", .object(folder.reference))
    }
    saved.forgetValues()
    #expect(failure { try saved.awaken() }?.kind == .invalidState)
    // It has not awoken, so the next use tries again.
    recorder.on(.awakeFromFetch) { _ throws(Failure) in }
    try saved.awaken()
    #expect(recorder.log.count == 2 && !context.hasChanges)
  }

  // MARK: prepareForDeletion

  @Test func prepareForDeletionSeesTheRelationshipsInCascadesTooAndARepeatedDeleteCallsItAgain() throws {
    let folder = try context.insert(entityNamed: "Folder")
    let notes = [try note("a", in: folder), try note("b", in: folder)]
    try context.save()
    let recorder = try hooks([.prepareForDeletion], for: nil)
    var held: [Bool] = []
    recorder.on(.prepareForDeletion) { object throws(Failure) in
      guard object.entity.name == "Note" else { return }
      held.append(try !object.value(forKey: "folder").isNil || folder.isDeleted)
      held.append(object.isLive)
    }
    try context.delete(notes[0])
    try context.delete(notes[0])
    #expect(recorder.take() == ["prepare Note", "prepare Note"] && held == [true, true, true, false])
    try context.delete(folder)
    try context.save()
    #expect(recorder.take() == ["prepare Folder", "prepare Note"])
    #expect(try Context(store: store).count(FetchRequest(entityName: "Thing")) == 0)
  }

  @Test func anObjectWhoseHookFailsIsNotDeleted() throws {
    let folder = try context.insert(entityNamed: "Folder")
    let kept = try note("a", in: folder)
    try context.save()
    let recorder = try hooks([.prepareForDeletion])
    recorder.on(.prepareForDeletion) { _ throws(Failure) in throw Failure(.function, "It stays.") }
    #expect(failure { try context.delete(kept) }?.kind == .function)
    #expect(kept.isLive && !context.hasChanges)
    try context.delete(folder)
    #expect(failure { try context.save() }?.kind == .function)
    #expect(kept.isLive && folder.state == .deleted)
    recorder.kinds = []
    try context.save()
    #expect(kept.state == .gone)
  }

  // MARK: Saving

  @Test func theOrderOfASaveIsProcessingWillSaveValidationDidSave() throws {
    let recorder = try hooks([.willSave, .validate, .didSave])
    let listener = Listener { recorder.log.append("changed \($0.count)") }
    context.announcer.add(listener)
    _ = try note()
    recorder.on(.didSave) { object throws(Failure) in #expect(object.state == .saved && !self.context.hasChanges) }
    try context.save()
    #expect(recorder.take() == ["changed 1", "willSave Note", "validate Note", "didSave Note"])
    try context.save()
    #expect(recorder.take() == [])
  }

  @Test func willSaveMayChangeObjectsAndIsCalledAgainUntilNothingChanges() throws {
    let first = try note("one"), second = try note("two")
    let recorder = try hooks([.willSave])
    recorder.on(.willSave) { object throws(Failure) in
      // Each passes a change on to the other, a few times.
      guard case .integer(let edits) = try object.value(forKey: "edits"), edits < 5 else { return }
      try self.set(object === first ? second : first, "edits", .integer(edits + 1))
    }
    try context.save()
    let other = Context(store: store)
    let saved = try [first, second].map {
      try other.existingObject(entityNamed: "Note", id: $0.id).value(forKey: "edits")
    }
    #expect(Value.areSame(saved[0], .integer(5)) || Value.areSame(saved[1], .integer(5)))
    #expect(!context.hasChanges)
  }

  @Test func willSaveIsCalledOncePerSaveUnlessDirtiedAgainAndForDeletedObjectsToo() throws {
    let changed = try note("a"), deleted = try note("b"), untouched = try note("c")
    try context.save()
    let recorder = try hooks([.willSave, .didSave])
    try set(changed, "text", .text("new"))
    try context.delete(deleted)
    try context.save()
    #expect(recorder.take() == ["willSave Note", "willSave Note", "didSave Note", "didSave Note"])
    #expect(untouched.state == .saved && deleted.state == .gone)
  }

  @Test func anEndlessWillSaveIsAnErrorAndEverythingStaysPending() throws {
    let note = try note()
    let recorder = try hooks([.willSave])
    recorder.on(.willSave) { object throws(Failure) in
      guard case .integer(let edits) = try object.value(forKey: "edits") else { return }
      try self.set(object, "edits", .integer(edits + 1))
    }
    let failed = try #require(failure { try context.save() })
    #expect(failed.kind == .invalidState && recorder.log.count == 1000)
    #expect(note.state == .inserted && context.hasChanges)
    recorder.kinds = []
    try context.save()
  }

  @Test func changesInDidSaveDirtyTheContextAgain() throws {
    let note = try note("first")
    let recorder = try hooks([.didSave])
    recorder.on(.didSave) { object throws(Failure) in try self.set(object, "text", .text("second")) }
    try context.save()
    #expect(note.isUpdated && context.hasChanges)
    #expect(
      try Context(store: store).existingObject(entityNamed: "Note", id: note.id)
        .value(forKey: "text").comparableText == Text("first"))
  }

  @Test func noHookOfASaveCanSave() throws {
    _ = try note()
    let recorder = try hooks([.willSave, .validate, .didSave])
    var refused = 0
    for kind in [HookKinds.willSave, .validate, .didSave] {
      recorder.on(kind) { _ throws(Failure) in
        do throws(Failure) { try self.context.save() } catch { refused += error.kind == .invalidState ? 1 : 0 }
      }
    }
    try context.save()
    #expect(refused == 3)
  }

  @Test func whatValidateRefusesComesOutWithTheOtherBrokenRules() throws {
    let note = try note("bad")
    try set(note, "edits", .nil)
    let recorder = try hooks([.validate])
    recorder.on(.validate) { object throws(Failure) in
      try object.refuse(key: "text", message: Text("This text is bad."))
      try object.refuse(key: "", message: Text("Altogether bad."))
    }
    let failed = try #require(failure { try context.save() })
    #expect(failed.kind == .validation && failed.details.count == 3)
    let refused = failed.details.filter { $0.broken?.rule == .hook }
    #expect(refused.map(\.message.string) == ["This text is bad.", "Altogether bad."])
    #expect(refused.first?.offender?.key == Text("text"))
    #expect(refused.first?.broken?.value.comparableText == Text("bad"))
    #expect(failure { try note.refuse(key: "text", message: Text("Later.")) }?.kind == .invalidState)
    #expect(failure { try Validation.check(note) }?.details.count == 3)
  }

  @Test func aFailingHookFailsTheSaveWithEverythingPending() throws {
    let note = try note()
    for kind in [HookKinds.willSave, .validate] {
      let recorder = try hooks([kind])
      recorder.on(kind) { _ throws(Failure) in throw Failure(.function, "No.") }
      #expect(failure { try context.save() }?.kind == .function)
      #expect(note.state == .inserted && context.hasChanges)
    }
    context.setHooks(nil, for: note.entity)
    try context.save()
    #expect(note.state == .saved)
  }

  @Test func aValidateHookThatChangesObjectsFailsTheSave() throws {
    let note = try note("x")
    let recorder = try hooks([.validate])
    recorder.on(.validate) { object throws(Failure) in try self.set(object, "text", .text("y")) }
    #expect(failure { try context.save() }?.kind == .invalidState)
    #expect(note.state == .inserted)
  }

  // MARK: Whose

  @Test func heirsHaveTheHooksOfTheNearestParentThatHasSome() throws {
    let all = try hooks([.awakeFromInsert], for: nil), things = try hooks([.awakeFromInsert], for: "Thing")
    let notes = try hooks([.awakeFromInsert], for: "Note")
    _ = try note()
    _ = try context.insert(entityNamed: "Folder")
    #expect(notes.take() == ["insert Note"] && things.take() == ["insert Folder"] && all.take() == [])
    context.setHooks(nil, for: try store.model.entity(named: "Note"))
    _ = try note()
    #expect(things.take() == ["insert Note"])
  }

  @Test func hooksThatCallEachOtherWithoutEndAreRefused() throws {
    let recorder = try hooks([.awakeFromInsert])
    recorder.on(.awakeFromInsert) { _ throws(Failure) in _ = try self.context.insert(entityNamed: "Note") }
    #expect(failure { _ = try note() }?.kind == .invalidState)
    #expect(recorder.log.count == 64 && !context.hasChanges)
  }
}
