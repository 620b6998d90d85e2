import Synchronization

/// How many references callers hold to a context, and to what belongs to it. Any thread.
final class ExternalReferences: Sendable {
  /// Those to the context itself in the lower half, those to its parts in the upper half: one step counts either.
  private let count = Atomic<UInt64>(0)
  private static let part: UInt64 = 1 << 32

  /// Whether callers hold objects, lists, controllers or children of the context.
  var haveParts: Bool { count.load(ordering: .relaxed) >= ExternalReferences.part }

  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  func add(isPart: Bool) { count.add(isPart ? ExternalReferences.part : 1, ordering: .relaxed) }

  /// Whether it was the last one.
  func remove(isPart: Bool) -> Bool {
    count.subtract(isPart ? ExternalReferences.part : 1, ordering: .acquiringAndReleasing).newValue == 0
  }
}
