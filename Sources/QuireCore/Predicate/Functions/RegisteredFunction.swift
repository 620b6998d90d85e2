import Synchronization

/// A function of the program's own, which predicates call by a name. Any thread, as far as the function allows it.
final class RegisteredFunction: Sendable {
  enum Body: Sendable {
    /// `owner` is kept as long as the function.
    case native(NativeFunction, owner: (any AnyObject & Sendable)?)
    /// nil for any number of arguments.
    case callback(argumentCount: Int?, @Sendable ([Item]) throws(Failure) -> Value)
  }

  let name: String
  /// Whether the same arguments always have the same result, so that constants can be calculated once.
  let isDeterministic: Bool
  private let body: Body
  private let isRemoved = Atomic(false)

  init(name: String, isDeterministic: Bool, _ body: Body) {
    self.name = name
    self.isDeterministic = isDeterministic
    self.body = body
  }

  static let mostArguments = 64

  /// nil for any number.
  var argumentCount: Int? {
    switch body {
    case .native(let function, _): function.argumentTypes.count
    case .callback(let count, _): count
    }
  }

  /// The problem of a call before any value is known: the number of arguments, and the types of constants.
  func problem(with arguments: [Expression]) -> Failure? {
    let count = arguments.count
    if let argumentCount, argumentCount != count {
      return Failure(
        .invalidPredicate,
        "\(name) takes \(argumentCount) argument\(argumentCount == 1 ? "" : "s"), and here "
          + "\(count == 1 ? "is" : "are") \(count).")
    }
    if count > RegisteredFunction.mostArguments {
      return Failure(
        .invalidPredicate,
        "\(name) takes at most \(RegisteredFunction.mostArguments) arguments, and here are \(count).")
    }
    guard case .native(let function, _) = body else { return nil }
    for (index, argument) in arguments.enumerated() {
      guard let value = argument.constantValue else { continue }
      if case .list = value { return notSingle(index, "a list") }
      if let problem = function.problem(with: value, at: index) { return problem }
    }
    return nil
  }

  /// For the registry: a caller that has looked it up before calls the function that then has its name, if there is
  /// one.
  func noteRemoval() { isRemoved.store(true, ordering: .releasing) }

  func call(_ items: [Item]) throws(Failure) -> Item {
    if isRemoved.load(ordering: .acquiring) { return try successor(for: items.count).call(items) }
    switch body {
    case .native(let function, _):
      var values: [Value] = []
      values.reserveCapacity(items.count)
      for (index, item) in items.enumerated() {
        guard let value = item.scalar else { throw notSingle(index, item.kindName) }
        values.append(value)
      }
      return .value(try function.call(values))
    case .callback(_, let call):
      return .value(try ForeignCall.run { () throws(Failure) in try call(items) })
    }
  }

  private func successor(for count: Int) throws(Failure) -> RegisteredFunction {
    guard let function = FunctionRegistry.function(named: name) else {
      throw Failure(.unsupported, "The function \(name) was removed; register it again, or use another predicate.")
    }
    if let expected = function.argumentCount, expected != count {
      throw Failure(
        .invalidPredicate, "\(name) was registered anew and takes \(expected) arguments now, not \(count).")
    }
    return function
  }

  private func notSingle(_ index: Int, _ given: String) -> Failure {
    Failure(.invalidPredicate, "Argument \(index + 1) of \(name) must be a single value, and was given \(given).")
  }
}
