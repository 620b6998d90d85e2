import Testing

@testable import QuireCore

/// A random history of objects and relationships of every shape, with all that can be undone as whole states of plain
/// values beside it.
final class UndoHistory {
  typealias Link = RelationshipGraph.Link

  struct State: Equatable {
    var graph = RelationshipGraph()
    var texts: [Int: String] = [:]
  }

  static let textKeys = [
    "Person": "name", "Author": "name", "Company": "name", "Book": "title", "Shelf": "place", "Tag": "word",
    "Label": "text", "Passport": "number", "Node": "title",
  ]

  let library: LibraryFixture
  let context: Context
  var dice: Dice
  private(set) var now = State()
  private var saved = State()
  /// The states before each group that can be undone, and after each that can be redone.
  private var undoable: [State] = []
  private var redoable: [State] = []
  private var beforeGroup = State()
  private var depth = 0
  private let levels: Int
  private var handles: [Int: ManagedObject] = [:]
  private var ids: [Int: Int64] = [:]
  private var entities: [Int: String] = [:]
  private var lastObject = 0
  private(set) var log: [String] = []

  init(seed: UInt64) throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
    dice = Dice(seed: seed)
    levels = dice.pick([0, 0, 3]) ?? 0
    for entity in Self.textKeys.keys.sorted() { try insert(entity) }
    for _ in 0..<6 { try insert(dice.pick(["Book", "Book", "Person", "Label", "Node", "Tag", "Shelf"]) ?? "Book") }
    try context.enableUndo(levels: levels)
    beforeGroup = now
  }

  // MARK: Steps

  func step() throws {
    switch dice.roll(34) {
    case 0, 1:
      try insert(dice.pick(["Book", "Person", "Author", "Label", "Node", "Tag", "Shelf", "Passport"]) ?? "Book")
    case 2, 3: try delete()
    case 4: try process()
    case 5: try save()
    case 6 where dice.chance(1, of: 4): try rollback()
    case 7, 8, 9, 10, 11: try revert(isUndo: dice.chance(2, of: 3))
    case 12 where dice.chance(1, of: 3): try obtainPermanentIDs()
    case 13: try forget()
    case 14 where depth < 2: try beginGroup()
    case 15, 16: if depth > 0 { try endGroup() }
    case 17, 18: try setText()
    default: try relate()
    }
  }

  private func note(_ what: String) { log.append(what) }

  /// A change of the model: what was undone cannot be redone any more.
  private func change(_ body: (inout State) -> Void) {
    let before = now
    body(&now)
    if now != before { redoable = [] }
  }

  private func insert(_ entity: String) throws {
    lastObject += 1
    note("insert \(entity) \(lastObject)")
    if dice.chance(1, of: 8) {
      handles[lastObject] = try library.store.withoutReservedIDs { () throws(Failure) in
        try context.insert(entityNamed: entity)
      }
    } else {
      handles[lastObject] = try context.insert(entityNamed: entity)
    }
    entities[lastObject] = entity
    change { $0.graph.insert(lastObject, entity) }
  }

  private func setText() throws {
    guard let number = dice.pick(now.graph.objects) else { return }
    let text = dice.pick(["", "a", "b", "c"]) ?? ""
    note("text \(number) \(text)")
    let object = try object(number)
    let key = try #require(Self.textKeys[object.entity.name])
    try object.set(text.isEmpty ? .nil : .text(text), for: object.entity.property(named: key))
    change { $0.texts[number] = text.isEmpty ? nil : text }
  }

  private func delete() throws {
    guard now.graph.objects.count > 10, let number = dice.pick(now.graph.objects) else { return }
    // What becomes of a reference that no rule can clear is for a test of its own.
    let publisher = try #require(Link.named("Book", "publisher"))
    if now.graph.isHeldWithoutInverse(number, publisher) { return }
    note("delete \(number)")
    try context.delete(object(number))
    change {
      $0.graph.delete(number)
      $0.texts[number] = nil
    }
  }

  private func relate() throws {
    guard let link = dice.pick(Link.all), let number = dice.pick(now.graph.objects(of: link.owner)) else { return }
    var others = now.graph.objects(of: link.destination)
    if link.isToMany, link.inverse.isEmpty {
      others = others.filter {
        !now.graph.isHeldWithoutInverse($0, link) || now.graph.members(number, link).contains($0)
      }
    }
    let relationship = try library.relationship(link.owner, link.name)
    let owner = try object(number)
    if !link.isToMany {
      guard dice.chance(3, of: 4), let other = dice.pick(others) else {
        note("\(number).\(link.name) = nil")
        try owner.set(.nil, for: relationship)
        return change { $0.graph.set(number, link, to: []) }
      }
      note("\(number).\(link.name) = \(other)")
      try owner.set(.object(object(other).reference), for: relationship)
      return change { $0.graph.link(number, link, to: other) }
    }
    switch dice.roll(4) {
    case 0:
      let list = Array(dice.shuffled(others).prefix(dice.roll(5)))
      note("\(number).\(link.name) = \(list)")
      try owner.set(list.map { try object($0) }, for: relationship)
      change { $0.graph.set(number, link, to: list) }
    case 1:
      guard let other = dice.pick(now.graph.members(number, link)) else { return }
      note("\(number).\(link.name) -= \(other)")
      try owner.remove(object(other), from: relationship)
      change { $0.graph.unlink(number, link, from: other) }
    default:
      guard let other = dice.pick(others) else { return }
      note("\(number).\(link.name) += \(other)")
      try owner.add(object(other), to: relationship)
      change { $0.graph.link(number, link, to: other) }
    }
  }

  // MARK: Groups

  private func closeEvent() {
    if depth > 0 { return }
    if now != beforeGroup { undoable.append(beforeGroup) }
    if levels > 0 { undoable = undoable.suffix(levels) }
    beforeGroup = now
  }

  private func process() throws {
    note("process")
    try context.process()
    closeEvent()
  }

  private func beginGroup() throws {
    note("begin")
    try context.beginUndoGroup(named: Text("group"))
    closeEvent()
    depth += 1
  }

  private func endGroup() throws {
    note("end")
    try context.endUndoGroup()
    depth -= 1
    closeEvent()
  }

  func endGroups() throws { while depth > 0 { try endGroup() } }

  func revert(isUndo: Bool) throws {
    if depth > 0 {
      try #require(failure(of: { try context.undo() })?.kind == .invalidState)
      try #require(failure(of: { try context.redo() })?.kind == .invalidState)
      return
    }
    note(isUndo ? "undo" : "redo")
    if isUndo { try context.undo() } else { try context.redo() }
    closeEvent()
    if isUndo, let state = undoable.popLast() {
      redoable.append(now)
      now = state
    } else if !isUndo, let state = redoable.popLast() {
      undoable.append(now)
      now = state
    }
    beforeGroup = now
    try checkLists()
  }

  // MARK: Saving

  private func obtainPermanentIDs() throws {
    note("obtain")
    try context.obtainPermanentIDs()
    closeEvent()
  }

  func save() throws {
    note("save")
    try context.save()
    closeEvent()
    saved = now
    try #require(!context.hasChanges)
    try check(Context(store: library.store))
    try check()
  }

  private func rollback() throws {
    note("rollback")
    try context.rollback()
    now = saved
    beforeGroup = now
    (undoable, redoable) = ([], [])
    try #require(!context.hasChanges)
    try #require(context.undoManager?.canUndo == false && context.undoManager?.canRedo == false)
  }

  /// Lets go of objects: what is not pending is read anew when next asked for.
  private func forget() throws {
    note("forget")
    for (number, handle) in handles where handle.id > 0 {
      ids[number] = handle.id
      handles[number] = nil
    }
  }

  // MARK: Checks

  func object(_ number: Int, in other: Context? = nil) throws -> ManagedObject {
    if other == nil, let handle = handles[number] { return handle }
    let id = try #require(handles[number]?.id ?? ids[number])
    let object = try (other ?? context).existingObject(entityNamed: #require(entities[number]), id: id)
    if other == nil { handles[number] = object }
    return object
  }

  /// Everything, in this context or as another sees it.
  func check(_ other: Context? = nil) throws {
    for number in now.graph.objects {
      let object = try object(number, in: other)
      try #require(object.isLive, "\(number)")
      let text = try object.value(forKey: #require(Self.textKeys[object.entity.name]))
      try #require(text.isIdentical(to: now.texts[number].map { .text($0) } ?? .nil), "text of \(number): \(text)")
      for link in now.graph.links(of: number) { try check(number, link, other) }
    }
    for (number, handle) in handles where now.graph.entities[number] == nil {
      try #require(handle.isDeleted, "\(number) is still there")
    }
    let manager = try #require(context.undoManager)
    try #require(manager.canUndo == (!undoable.isEmpty || now != beforeGroup) && manager.canRedo == !redoable.isEmpty)
  }

  private func check(_ number: Int, _ link: Link, _ other: Context?) throws {
    let relationship = try library.relationship(link.owner, link.name)
    let owner = try object(number, in: other)
    let found =
      link.isToMany
      ? try owner.objects(of: relationship) : try owner.object(of: relationship).map { [$0] } ?? []
    let members = now.graph.members(number, link)
    let wanted = try members.map { try object($0, in: other) }
    let isSame =
      link.isOrdered
      ? found.elementsEqual(wanted, by: ===)
      : found.elementsEqual(wanted.sorted { $0.isBefore($1) }, by: ===)
    try #require(
      isSame,
      "\(link.name) of \(number) \(owner.summary): \(found.map(\.id)), not \(wanted.map(\.id)) (\(members))")
  }

  /// What fetches and the sets of pending changes show.
  private func checkLists() throws {
    for entity in Self.textKeys.keys.sorted() {
      let found = try context.fetch(FetchRequest(entityName: entity))
      let wanted = now.graph.objects(of: entity)
      try #require(found.count == wanted.count, "\(entity)")
      let references = Set(try (0..<found.count).map { try ObjectIdentifier(found.object(at: $0)) })
      try #require(try wanted.allSatisfy { references.contains(ObjectIdentifier(try object($0))) }, "\(entity)")
    }
    for object in context.pending.inserted { try #require(object.state == .inserted) }
    for object in context.pending.deleted { try #require(object.state == .deleted) }
    for object in context.pending.updated { try #require(object.isUpdated) }
  }
}
