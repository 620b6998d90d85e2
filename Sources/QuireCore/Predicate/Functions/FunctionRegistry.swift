/// The registered functions of the process. Predicates know them by name alone and are read without a store, so there
/// is one table for all. A caller that has looked one up keeps it, also when it is removed meanwhile.
enum FunctionRegistry {
  private static let functions = Guarded<[String: RegisteredFunction]>([:])

  static func function(named name: String) -> RegisteredFunction? { functions.withLock { $0[name] } }

  static func register(_ function: RegisteredFunction) throws(Failure) {
    try check(name: function.name)
    let isNew = functions.withLock { functions in
      if functions[function.name] != nil { return false }
      functions[function.name] = function
      return true
    }
    if !isNew {
      throw Failure(
        .invalidState,
        "A function named \(function.name) is registered already; remove it first, or choose another name.")
    }
  }

  static func unregister(_ name: String) throws(Failure) {
    // Its end runs code of the program's, which must not find the lock taken.
    let removed = functions.withLock { $0.removeValue(forKey: name) }
    removed?.noteRemoval()
    if removed == nil { throw Failure(.notFound, "There is no registered function named \(name).") }
  }

  /// A name is a word, or a selector such as `power:` and `replace:with:`, that means nothing else in a format.
  static func check(name: String) throws(Failure) {
    guard isWord(name) || isSelector(name), (1...64).contains(name.utf8.count) else {
      throw Failure(
        .invalidArgument,
        "'\(name)' cannot name a function: a name is 1 to 64 letters A to Z, digits and underscores, no digit first, "
          + "or such words with a colon behind each.")
    }
    if Keyword(word: name) != nil {
      throw Failure(.invalidArgument, "'\(name)' cannot name a function: it is a word of the predicate language.")
    }
    if FunctionTable.isBuiltIn(Function.canonicalName(name)) {
      throw Failure(.invalidArgument, "'\(name)' cannot name a function: the predicate language has one of that name.")
    }
  }

  private static func isWord(_ name: some StringProtocol) -> Bool {
    !name.isEmpty
      && name.utf8.enumerated().allSatisfy { index, byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
        default: false
        }
      }
  }

  private static func isSelector(_ name: String) -> Bool {
    name.utf8.last == UInt8(ascii: ":")
      && name.dropLast().split(separator: ":" as Character, omittingEmptySubsequences: false).allSatisfy(isWord)
  }
}
