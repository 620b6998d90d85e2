/// The objects and lists of a context that were read ahead: at a later state than the context shows.
///
/// A child has no moment, and reads what its parent has by then. A context on a store reads ahead when it has lost its
/// moment, or when the file has no write-ahead log.
final class EarlyReading {
  private var objects: Set<ObjectReference> = []
  private var hasList = false

  /// With more objects each one may have been read ahead.
  private static let mostObjects = 100_000

  var isEmpty: Bool { objects.isEmpty && !hasList }

  fileprivate func note(_ object: ManagedObject) {
    if hasList { return }
    objects.insert(object.reference)
    if objects.count > EarlyReading.mostObjects { noteList() }
  }

  fileprivate func noteList() {
    hasList = true
    objects = []
  }

  /// Whether this object, or any list, was read ahead of what the context is about to merge.
  func mayContain(_ object: ManagedObject) -> Bool { hasList || objects.contains(object.reference) }

  /// Objects got permanent ids.
  func rename(_ permanent: [ObjectReference: ObjectReference]) {
    if !objects.isEmpty { objects = Set(objects.map { permanent[$0] ?? $0 }) }
  }

  /// The context has merged what was read ahead.
  func forget() {
    objects.removeAll()
    hasList = false
  }
}

extension Context {
  /// Whether what is read now may be newer than what the context shows. For a file without a write-ahead log the answer
  /// is always yes, because it is asked for each row: `beginReading` forgets what was not read ahead.
  var mayReadAhead: Bool {
    if let parent { return !inbox.isEmpty || parent.announcer.hasNews || parent.mayReadAhead }
    return !store.holdsMoments || readsAhead
  }

  /// Records that the values of an object were read.
  func noteReading(of object: ManagedObject) {
    if announcer.hasListeners, mayReadAhead { earlyReading.note(object) }
  }

  /// Records that rows of a list were read.
  func noteReadingOfList() {
    if announcer.hasListeners, mayReadAhead { earlyReading.noteList() }
  }
}
