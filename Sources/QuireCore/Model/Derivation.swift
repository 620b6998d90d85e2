/// The expression of a derived attribute, taken apart: `name`, `author.name`, `canonical:(name)`, `now()`,
/// `items.@count`, `count:(items)`, `items.price.@sum`. Whether its keys exist is checked when the model is frozen.
struct Derivation: Sendable {
  enum Operation: Sendable {
    /// The value behind the key path as it is.
    case value
    case uppercase, lowercase, canonical
    /// When the row was last written.
    case now
    case count, sum, minimum, maximum, average
    /// What models of files may have, and this version does not calculate.
    case unknown

    var isOfText: Bool { self == .uppercase || self == .lowercase || self == .canonical }
    /// Whether it makes one value of those of many objects.
    var isCollective: Bool {
      switch self {
      case .count, .sum, .minimum, .maximum, .average: true
      default: false
      }
    }
  }

  /// As it was written.
  let text: Text
  let operation: Operation
  /// The key path without its operator.
  let keys: [String]
  /// Why it cannot be calculated; nil where nothing is known against it.
  let problem: Text?
  /// What an archive says beyond the text.
  private(set) var source: (any DerivationSource)?

  private static let functions: [String: Operation] = [
    "uppercase": .uppercase, "lowercase": .lowercase, "canonical": .canonical, "count": .count, "sum": .sum,
    "min": .minimum, "max": .maximum, "average": .average,
  ]
  private static let operators: [String: Operation] = [
    "@count": .count, "@sum": .sum, "@min": .minimum, "@max": .maximum, "@avg": .average,
  ]

  /// One of a file that is not calculated, for the reason `problem`.
  init(keeping text: String, _ source: (any DerivationSource)? = nil, problem: Text) {
    self.text = Text(text)
    (operation, keys) = (.unknown, [])
    self.source = source
    self.problem = problem
  }

  /// `attribute` is what a failure calls it.
  init(_ text: String, of attribute: String) throws(Failure) {
    problem = nil
    func failure(_ problem: String) -> Failure {
      Failure(.invalidModel, "Attribute '\(attribute)' is derived from '\(text)', \(problem)")
    }
    self.text = Text(text)
    let written = Derivation.trimmed(text[...])
    if written == "now()" {
      (operation, keys) = (.now, [])
      return
    }
    var path = written, function: Operation?
    if let open = written.firstIndex(of: "(") {
      let name = String(written[..<open].prefix { $0 != ":" })
      guard let known = Derivation.functions[name], written.last == ")" else {
        throw failure(
          "which is no call that attributes can be derived by. There are now(), uppercase:(key), lowercase:(key), "
            + "canonical:(key) and count:(key), sum:, min:, max: and average: likewise.")
      }
      function = known
      path = Derivation.trimmed(written[written.index(after: open)...].dropLast())
    }
    var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if let misplaced = names.dropLast().first(where: { $0.first == "@" }) {
      throw failure("where the operator \(misplaced) must come last, as in 'items.price.@sum'.")
    }
    var operation = function
    if let last = names.last, last.first == "@" {
      guard let known = Derivation.operators[last] else {
        throw failure("and \(last) is none of the operators @count, @sum, @min, @max and @avg.")
      }
      if function != nil { throw failure("which puts \(last) into a function. Derive from the one or the other.") }
      operation = known
      names.removeLast()
    }
    if names.isEmpty || !names.allSatisfy(Derivation.isName) {
      throw failure("which is no key path. Write keys separated by single dots, as in 'author.name'.")
    }
    self.operation = operation ?? .value
    keys = names
  }

  /// The value of a new object before its first save.
  var valueOfNothing: Value { operation == .count || operation == .sum ? .integer(0) : .nil }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 == 95 || (48...57).contains($0) || (65...90).contains($0 & 0xDF) }
  }
}

/// What an archive says of a derivation that this version does not calculate, kept to be written again. Of what it is
/// made, higher layers know.
protocol DerivationSource: AnyObject, Sendable {}

extension ModelResolver {
  /// Whether an attribute can be derived as it asks for. A model of a file may have one that cannot, which is found out
  /// where it would be calculated.
  func checkDerivation(of attribute: Attribute, _ entity: Entity) throws(Failure) {
    guard let derivation = attribute.derivation else { return }
    attribute.derivationProblem = derivation.problem
    if derivation.problem != nil { return }
    do throws(Failure) { try check(attribute, derivedBy: derivation, of: entity) } catch {
      if origin == .program { throw error }
      attribute.derivationProblem = error.message
    }
  }

  /// Whether an attribute can be derived as it asks for, and can hold what comes of it.
  private func check(_ attribute: Attribute, derivedBy derivation: Derivation, of entity: Entity) throws(Failure) {
    func failure(_ problem: String) -> Failure {
      Failure(
        .invalidModel, "Attribute '\(attribute.qualifiedName)' is derived, \(problem)", about: .property(attribute))
    }
    var current = entity
    var last: Property?
    var passed: Relationship?
    for key in derivation.keys {
      if let attribute = last as? Attribute {
        throw failure("and its key path goes on after '\(attribute.qualifiedName)', which is a value without keys.")
      }
      if let passed, let last {
        throw failure(
          "and its key path goes on after '\(last.qualifiedName)'. Behind a to-many relationship, here "
            + "'\(passed.name)', there can be an attribute only.")
      }
      if let relationship = last as? Relationship, relationship.isToMany { passed = relationship }
      guard let property = property(key, of: current) else {
        throw failure("and '\(current.name)' has no property '\(key)' to derive it from.")
      }
      if property.isTransient {
        throw failure("and '\(property.qualifiedName)' is transient: the store does not have it.")
      }
      if let relationship = property as? Relationship {
        guard let destination = byName[relationship.destinationName] else {
          throw failure("and '\(relationship.qualifiedName)' leads to no entity of the model.")
        }
        current = destination
      }
      last = property
    }
    let isToMany = (last as? Relationship)?.isToMany == true
    switch derivation.operation {
    case .now, .unknown: break
    case .count:
      if !isToMany || passed != nil {
        throw failure("and @count is for what a to-many relationship holds, as in 'items.@count'.")
      }
    case .sum, .minimum, .maximum, .average:
      if passed == nil || !(last is Attribute) {
        throw failure(
          "and its operator is for an attribute of what a to-many relationship holds, as in 'items.price.@sum'.")
      }
    default:
      if let passed {
        throw failure("and '\(passed.qualifiedName)' holds many objects. End with an operator, such as @sum.")
      }
      if last is Relationship {
        throw failure(
          "and its key path ends with a relationship. End it with an attribute\(isToMany ? " or @count" : "").")
      }
    }
    if let source = last as? Attribute, source.derivation != nil {
      throw failure(
        "and '\(source.qualifiedName)' is derived itself. Derive it from what that one is derived from.")
    }
    if !attribute.canHold(derivation.operation, of: (last as? Attribute)?.type) {
      let source = (last as? Attribute).map { " of type \($0.type.name)" } ?? ""
      throw failure(
        "and cannot hold what comes of its expression\(source), being of type \(attribute.type.name).")
    }
  }
}

extension Attribute {
  fileprivate func canHold(_ operation: Derivation.Operation, of source: AttributeType?) -> Bool {
    let integers: [AttributeType] = [.integer16, .integer32, .integer64]
    let reals: [AttributeType] = [.double, .decimal]
    switch operation {
    case .now: return type == .date
    case .uppercase, .lowercase, .canonical: return type == .string && source == .string
    case .count: return integers.contains(type) || reals.contains(type)
    case .sum:
      guard let source else { return false }
      if integers.contains(source) { return integers.contains(type) || reals.contains(type) }
      return (reals.contains(source) || source == .float) && reals.contains(type)
    case .average:
      guard let source else { return false }
      return (integers.contains(source) || reals.contains(source) || source == .float) && reals.contains(type)
    case .minimum, .maximum:
      guard let source,
        integers.contains(source) || reals.contains(source) || [.float, .date, .string].contains(source)
      else { return false }
      return isAsWide(as: source)
    case .value: return source.map(isAsWide) ?? false
    case .unknown: return true
    }
  }

  private func isAsWide(as source: AttributeType) -> Bool {
    switch (source, type) {
    case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64), (.float, .double): true
    default: source == type
    }
  }
}
