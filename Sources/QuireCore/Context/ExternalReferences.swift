import Synchronization

/// How many references callers hold to a context, and to what belongs to it. Any thread.
final class ExternalReferences: Sendable {
  /// The lower half counts references to the context, the upper half those to its parts, in one atomic number.
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
