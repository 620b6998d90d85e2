/// An object of which outside references keep its context's pending changes alive.
protocol ContextBound: AnyObject {
  var owningContext: Context { get }
  /// Whether it is a part of the context, and not the context itself.
  static var isPart: Bool { get }
}

extension ContextBound {
  static var isPart: Bool { true }

  /// Counts a reference that a caller holds.
  @inline(__always)
  func noteReference() { owningContext.retainExternally(isPart: Self.isPart) }
}
