/// The groups of changes of a context that can be undone, and those that were.
///
/// It holds the objects that they touched. Changes are noted where they are made, by `ManagedObject.write` and its
/// like; what comes from the store is not.
final class UndoManager {
  /// How many groups are kept at most; 0 for all.
  var levels: Int { didSet { dropOldest() } }
  /// Whether changes are noted.
  var isRegistering = true
  /// Whether what happens is none of the caller's doing.
  var isPaused = false
  private var undoable: [UndoGroup] = []
  private var redoable: [UndoGroup] = []
  /// What has happened since the last group was closed.
  private var open = UndoGroup()
  /// How many groups of the caller are open, one within the other.
  private(set) var depth = 0
  /// Whether a group is being undone or redone: what that changes is a group of its own, for the way back.
  private(set) var isReverting = false

  init(levels: Int) { self.levels = levels }

  var isNoting: Bool { (isRegistering || isReverting) && !isPaused }
  var canUndo: Bool { !undoable.isEmpty || open.hasEffect }
  var canRedo: Bool { !redoable.isEmpty }
  /// Name of the group that would be undone.
  var undoName: Text? { open.hasEffect ? open.name : undoable.last?.name }
  var redoName: Text? { redoable.last?.name }

  // MARK: Noting

  func note(_ value: Value, at slot: Int, of object: ManagedObject) {
    if isNoting { change { $0.note(value, at: slot, of: object) } }
  }

  /// Notes the members of a to-many relationship, unless they follow from the other side.
  func note(_ members: ToManyMembers?, of relationship: Relationship, in object: ManagedObject) {
    guard isNoting, let members, !relationship.followsFromInverse else { return }
    change { $0.note(members.members, at: relationship.slot, of: object) }
  }

  func noteArrival(of object: ManagedObject) {
    if isNoting { change { $0.noteArrival(of: object) } }
  }

  func noteDeparture(of object: ManagedObject) {
    if isNoting { change { $0.noteDeparture(of: object) } }
  }

  /// Notes what another manager has noted meanwhile in its place.
  func note(_ group: UndoGroup) {
    if isNoting, group.hasEffect { change { $0.add(group) } }
  }

  func rebase(_ object: ManagedObject, at slot: Int, added: [ObjectReference], removed: Set<ObjectReference>) {
    open.rebase(object, at: slot, added: added, removed: removed)
  }

  func rebase(_ object: ManagedObject, at slot: Int, from old: Value, to present: Value) {
    open.rebase(object, at: slot, from: old, to: present)
  }

  func forgetUnchanged(of object: ManagedObject) { open.dropUnchanged(of: object) }

  private func change(_ body: (inout UndoGroup) -> Void) {
    if !isReverting, !redoable.isEmpty { redoable = [] }
    body(&open)
  }

  // MARK: Groups

  /// Opens a group. Those within another belong to it, and so does the name of the first that has one.
  func beginGroup(named name: Text?) {
    depth += 1
    if open.name == nil { open.name = name }
  }

  func endGroup() {
    depth -= 1
    closeEvent()
  }

  /// Closes the group of what happened since the last time, unless the caller has one open.
  func closeEvent() {
    if depth > 0 || isReverting { return }
    var group = takeOpen()
    if !group.hasEffect { return }
    group.seal()
    undoable.append(group)
    dropOldest()
  }

  func removeAllActions() {
    undoable = []
    redoable = []
    let name = takeOpen().name
    if depth > 0 { open.name = name }
  }

  /// Objects got permanent ids.
  func replace(_ permanent: [ObjectReference: ObjectReference]) {
    open.replace(permanent)
    for place in undoable.indices { undoable[place].replace(permanent) }
    for place in redoable.indices { redoable[place].replace(permanent) }
  }

  private func takeOpen() -> UndoGroup {
    defer { open = UndoGroup() }
    return open
  }

  private func dropOldest() {
    if levels > 0, undoable.count > levels { undoable.removeFirst(undoable.count - levels) }
  }

  // MARK: The way back

  enum Direction { case undo, redo }

  func last(_ direction: Direction) -> UndoGroup? { direction == .undo ? undoable.last : redoable.last }

  /// What is noted until the end of this belongs to the way back.
  func beginReverting() { isReverting = true }

  /// What has been noted since, after a failure: the way back from half of the way.
  func takeHalf() -> UndoGroup { takeOpen() }

  func endReverting() {
    open = UndoGroup()
    isReverting = false
  }

  /// The last group has been undone or redone: what was noted meanwhile takes its place on the other side.
  func finishReverting(_ direction: Direction) {
    var back = takeOpen()
    back.seal()
    switch direction {
    case .undo:
      back.name = undoable.popLast()?.name
      if back.hasEffect { redoable.append(back) }
    case .redo:
      back.name = redoable.popLast()?.name
      if back.hasEffect { undoable.append(back) }
      dropOldest()
    }
    endReverting()
  }
}

extension Relationship {
  /// Whether its members are those whose to-one inverse holds the object, and nothing else is kept.
  var followsFromInverse: Bool {
    guard let inverse else { return false }
    return isToMany && !isOrdered && !inverse.isToMany
  }

  /// Whether a to-one relationship goes on to hold an object that is deleted: no rule of that empties it.
  var keepsDeleted: Bool {
    let rule = inverse?.deleteRule ?? .noAction
    return rule == .noAction || rule == .deny
  }
}
