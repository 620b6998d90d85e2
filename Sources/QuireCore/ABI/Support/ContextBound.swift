/// An object of which outside references keep its context's pending changes alive.
protocol ContextBound: AnyObject {
  var owningContext: Context { get }
}
