import Testing

@testable import QuireCore

/// What the hooks around snapshots have said, and what they do.
private final class Recorder: ObjectHooks {
  let kinds: HookKinds = [.willTurnIntoFault, .didTurnIntoFault, .awakeFromSnapshot]
  var log: [String] = []
  var body: (HookKinds, ManagedObject) throws(Failure) -> Void = { (_, _) throws(Failure) in }

  func call(_ kind: HookKinds, _ object: ManagedObject, _ events: SnapshotEvents) throws(Failure) {
    let name =
      switch kind {
      case .willTurnIntoFault: object.isFault ? "will, a fault" : "will"
      case .didTurnIntoFault: object.isFault ? "did" : "did, no fault"
      default: "awake \(events.rawValue)"
      }
    log.append("\(name) \(object.id)")
    try body(kind, object)
  }

  func take() -> [String] {
    defer { log = [] }
    return log.sorted()
  }
}

@Suite("Hooks around snapshots")
struct SnapshotHookTests {
  private let store: Store
  private let context: Context
  private let recorder = Recorder()

  init() throws {
    let sketch = ModelSketch()
    try sketch.entity("Note", ["text": .string, "code": .string])
    try sketch.model.addAttribute(named: "length", to: "Note", type: .integer64, isOptional: true, isTransient: true)
    try sketch.model.addUniquenessConstraint(to: "Note", properties: ["code"])
    try sketch.toOne("Note.next", "Note.previous")
    try sketch.toMany("Note.previous", "Note.next")
    store = try Store.open(path: ":memory:", model: sketch.frozen())
    context = Context(store: store)
    context.setHooks(recorder, for: nil)
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws(Failure) {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func saved(_ text: String) throws -> ManagedObject {
    let note = try context.insert(entityNamed: "Note")
    try set(note, "text", .text(text))
    try context.save()
    return note
  }

  @Test("A refresh with merging tells the refreshed, one without turns into faults")
  func refresh() throws {
    let note = try saved("a")
    try context.refresh(note, merges: true)
    #expect(recorder.take() == ["awake 32 \(note.id)"])
    try set(note, "text", .text("b"))
    try context.refresh(note, merges: false)
    #expect(recorder.take() == ["did \(note.id)", "will \(note.id)"])
    #expect(note.isFault && !context.hasChanges)
    try context.refresh(note, merges: false)
    #expect(recorder.take().isEmpty)
  }

  @Test("refreshAll tells changed objects of the refresh and turns the others into faults")
  func refreshAll() throws {
    let changed = try saved("a"), clean = try saved("b")
    try set(changed, "text", .text("c"))
    try context.refreshAll()
    #expect(recorder.take() == ["awake 32 \(changed.id)", "did \(clean.id)", "will \(clean.id)"])
  }

  @Test("A reset turns objects into faults that cannot be used any more")
  func reset() throws {
    let note = try saved("a")
    try set(note, "text", .text("b"))
    try context.reset()
    #expect(recorder.take() == ["awake 16 \(note.id)", "did \(note.id)", "will \(note.id)"])
    #expect(note.state == .forgotten)
  }

  @Test("A rollback tells what was changed and deleted, and after a conflict turns all into faults")
  func rollback() throws {
    let changed = try saved("a"), deleted = try saved("b"), clean = try saved("c")
    try set(changed, "text", .text("x"))
    try context.delete(deleted)
    let inserted = try context.insert(entityNamed: "Note")
    try context.rollback()
    #expect(recorder.take() == ["awake 16 \(changed.id)", "awake 16 \(deleted.id)"])
    #expect(inserted.state == .gone)
    let other = Context(store: store)
    let theirs = try other.existingObject(entityNamed: "Note", id: changed.id)
    try theirs.set(.text("theirs"), for: theirs.entity.property(named: "text"))
    try other.save()
    try set(changed, "text", .text("mine"))
    #expect(failure { try context.save() }?.kind == .conflict)
    try context.rollback()
    let ids = [changed, deleted, clean].map(\.id)
    #expect(recorder.take() == (ids.map { "did \($0)" } + ids.map { "will \($0)" }).sorted())
  }

  @Test("Undo and redo tell insertions, deletions and updates by what is taken back")
  func undo() throws {
    let note = try saved("a")
    try context.enableUndo(levels: 0)
    try set(note, "text", .text("b"))
    try context.process()
    let inserted = try context.insert(entityNamed: "Note")
    try context.process()
    try context.delete(note)
    try context.process()
    try context.undo()
    #expect(recorder.take() == ["awake 4 \(note.id)"])
    try context.undo()
    #expect(recorder.take() == ["awake 2 \(inserted.id)"])
    try context.undo()
    #expect(recorder.take() == ["awake 8 \(note.id)"])
    try context.redo()
    #expect(recorder.take() == ["awake 8 \(note.id)"])
    try context.redo()
    #expect(recorder.take() == ["awake 4 \(inserted.id)"])
    try context.redo()
    #expect(recorder.take() == ["awake 2 \(note.id)"])
  }

  @Test("A merge and a merge policy tell the objects that they have changed")
  func merging() throws {
    let note = try saved("a")
    let other = Context(store: store)
    let theirs = try other.existingObject(entityNamed: "Note", id: note.id)
    func save(_ text: String) throws {
      try theirs.set(.text(text), for: theirs.entity.property(named: "text"))
      try other.save()
    }
    try save("b")
    try context.merge()
    #expect(recorder.take() == ["awake 32 \(note.id)"])
    try save("c")
    try set(note, "text", .text("mine"))
    context.mergePolicy = .storeWins
    try context.save()
    #expect(recorder.take() == ["awake 64 \(note.id)"])
    #expect(try note.value(forKey: "text").isIdentical(to: .text("c")))
    // A new object is folded into the one that has its code, which is told.
    try set(note, "code", .text("x"))
    try context.save()
    let twin = try context.insert(entityNamed: "Note")
    try set(twin, "code", .text("x"))
    try context.save()
    #expect(recorder.take() == ["awake 64 \(note.id)"])
  }

  @Test("What an object sets of itself in these hooks is no change; relationships cannot be set there")
  func setting() throws {
    let note = try saved("abc")
    try context.enableUndo(levels: 0)
    var relating: Failure?
    recorder.body = { (kind, object) throws(Failure) in
      guard kind == .awakeFromSnapshot, case .text(let text) = try object.value(forKey: "text") else { return }
      try object.set(.integer(Int64(text.bytes.count)), for: object.entity.property(named: "length"))
      do throws(Failure) { try object.set(.nil, for: object.entity.property(named: "next")) } catch { relating = error }
    }
    try set(note, "text", .text("a longer text"))
    try context.process()
    try context.undo()
    #expect(try note.value(forKey: "length").isIdentical(to: .integer(3)))
    #expect(!note.isUpdated)
    #expect(relating?.kind == .invalidState)
    try context.redo()
    #expect(try note.value(forKey: "length").isIdentical(to: .integer(13)))
    #expect(context.undoManager?.canUndo == true)
  }

  @Test("A hook that fails prevents nothing, and the call fails at its end")
  func failing() throws {
    let first = try saved("a"), second = try saved("b")
    recorder.body = { (_, _) throws(Failure) in throw Failure(.function, "no") }
    #expect(failure { try context.refreshAll() }?.kind == .function)
    #expect(first.isFault && second.isFault && recorder.take().count == 4)
    _ = try first.value(forKey: "text")
    try set(first, "text", .text("x"))
    #expect(failure { try context.rollback() }?.kind == .function)
    #expect(try first.value(forKey: "text").isIdentical(to: .text("a")))
    #expect(failure { try context.reset() }?.kind == .function)
    #expect(first.state == .forgotten)
    // What was said once is not said again.
    recorder.body = { (_, _) throws(Failure) in }
    try context.refreshAll()
  }
}
