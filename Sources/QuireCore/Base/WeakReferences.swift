/// Refers to an object without holding it.
protocol WeakReference {
  /// Whether its object is no longer there.
  var isGone: Bool { get }
}

/// References to objects that others hold, oldest first.
///
/// References to freed objects are dropped only when as many were added as remained the last time. Adding one therefore
/// takes the same time however many there are.
struct WeakReferences<Reference: WeakReference> {
  private static var smallest: Int { 16 }

  private(set) var all: [Reference] = []
  /// How many there may be before those without objects are dropped.
  private var limit = smallest

  var isEmpty: Bool { all.isEmpty }

  mutating func add(_ reference: Reference) {
    if all.count >= limit {
      all.removeAll(where: \.isGone)
      limit = max(WeakReferences.smallest, all.count * 2)
    }
    all.append(reference)
  }
}

extension WeakReferences: Sendable where Reference: Sendable {}
