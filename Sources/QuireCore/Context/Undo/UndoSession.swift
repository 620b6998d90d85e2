/// One undo or redo under way: what the last group changed is taken back. On failure nothing has changed.
final class UndoSession {
  private let context: Context
  private let undoManager: UndoManager
  private let group: UndoGroup
  private let direction: UndoManager.Direction

  init(_ group: UndoGroup, _ direction: UndoManager.Direction, of undoManager: UndoManager, in context: Context) {
    self.group = group
    self.direction = direction
    self.undoManager = undoManager
    self.context = context
  }

  /// Returns the objects that were looked at.
  func run() throws(Failure) -> [ManagedObject] {
    context.noteNewValues()
    try bringBack()
    let failure = tell()
    undoManager.finishReverting(direction)
    runHooks()
    if let failure { throw failure }
    try context.throwHookFailure()
    return group.images.map(\.object)
  }

  private func bringBack() throws(Failure) {
    undoManager.beginReverting()
    do throws(Failure) {
      try RestoreSession(group.images, by: direction, in: context).run()
      try context.propagateDeletes()
    } catch {
      goBack()
      throw error
    }
  }

  /// All that this needs has been read.
  private func goBack() {
    let half = undoManager.takeHalf()
    undoManager.isPaused = true
    try? RestoreSession(half.images, by: nil, in: context).run()
    undoManager.isPaused = false
    undoManager.endReverting()
  }

  /// What a delegate fails with comes out of the call in the end.
  private func tell() -> Failure? {
    do throws(Failure) { try context.process() } catch { return error }
    return nil
  }

  private func runHooks() {
    for image in group.images {
      switch image.wasLive {
      case false? where !image.object.isLive: context.runHooks(.undoInsertion, [image.object])
      case true? where image.object.isLive: context.runHooks(.undoDeletion, [image.object])
      case nil where image.object.isLive: context.runHooks(.undoUpdate, [image.object])
      default: break
      }
    }
  }
}
