/// What a child has read before it was told that this became different.
///
/// A child has no moment: it reads what its parent has by then. A context on a store reads nothing ahead.
final class EarlyReading {
  private unowned let child: Context
  private let parent: Context
  private var objects: Set<ObjectReference> = []
  private var hasList = false

  init(of child: Context, parent: Context) {
    self.child = child
    self.parent = parent
  }

  /// Whether what is read now may be newer than what the child was told.
  var isPossible: Bool {
    !child.inbox.isEmpty || parent.announcer.hasNews || (parent.earlyReading?.isPossible ?? false)
  }

  /// The values of an object were read.
  func note(_ object: ManagedObject) {
    if child.announcer.hasListeners, isPossible { objects.insert(object.reference) }
  }

  /// The rows of a list were read, or some of them.
  func noteList() {
    if child.announcer.hasListeners, isPossible { hasList = true }
  }

  /// Whether this object, or any list, was read ahead of what the child is about to take over.
  func mayContain(_ object: ManagedObject) -> Bool { hasList || objects.contains(object.reference) }

  /// Objects got permanent ids.
  func rename(_ permanent: [ObjectReference: ObjectReference]) {
    if !objects.isEmpty { objects = Set(objects.map { permanent[$0] ?? $0 }) }
  }

  /// The child has taken over what it was told.
  func forget() {
    objects.removeAll()
    hasList = false
  }
}
