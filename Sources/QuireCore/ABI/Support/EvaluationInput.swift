import CQuire

/// What callers ask predicates and expressions about: values as items, and the one context that their objects are of.
struct EvaluationInput {
  /// Far deeper than data is, and shallow enough to be walked within any stack.
  private static let greatestDepth = 64

  private(set) var context: Context?
  private(set) var subject = Item.nil
  private(set) var variables: [String: Item] = [:]

  init(
    _ subject: UnsafePointer<quire_value>?, _ variables: UnsafePointer<quire_entry>?, _ count: Int
  ) throws(Failure) {
    guard let subject else {
      throw Failure(.invalidArgument, "'subject' is NULL; pass a value, or quire_value_nil() for nil.")
    }
    self.subject = try item(subject.pointee, "subject")
    for variable in try array(variables, count, "variables") {
      let name = try key(of: variable, "variables")
      self.variables[name] = try item(variable.value, .variable(name))
    }
  }

  /// Runs `body` inside the context, if there is one.
  func confined(_ body: () throws(Failure) -> Void) throws(Failure) {
    guard let context else { return try body() }
    try context.confinement.enter()
    defer { context.confinement.leave() }
    try context.beginReading()
    try body()
  }

  private mutating func item(
    _ source: quire_value, _ name: InputName, depth: Int = 0
  ) throws(Failure) -> Item {
    let kind = quire_value_kind(rawValue: source.kind)
    switch kind {
    case QUIRE_VALUE_OBJECT:
      let object = try resolve(source.as.object, name)
      if let context { try object.checkBelongs(to: context) } else { context = object.context }
      return .subject(object)
    case QUIRE_VALUE_LIST, QUIRE_VALUE_DICTIONARY:
      if depth == EvaluationInput.greatestDepth {
        throw Failure(
          .invalidArgument, "'\(name)' has lists and dictionaries more than \(EvaluationInput.greatestDepth) deep.")
      }
    default: return .value(try value(source, name))
    }
    if kind == QUIRE_VALUE_LIST {
      var items: [Item] = []
      let elements = try array(source.as.list, Int(source.size), name)
      items.reserveCapacity(elements.count)
      for element in elements { items.append(try item(element, name, depth: depth + 1)) }
      return .list(items)
    }
    var items: [String: Item] = [:]
    for entry in try array(source.as.entries, Int(source.size), name) {
      items[try key(of: entry, name)] = try item(entry.value, name, depth: depth + 1)
    }
    return .dictionary(ItemDictionary(items))
  }
}

/// The key of an entry, which is text.
private func key(of entry: quire_entry, _ name: InputName) throws(Failure) -> String {
  let key = try value(entry.key, name)
  guard case .text(let text) = key else {
    throw Failure(.invalidArgument, "'\(name)' has a key that is \(key.kindName); keys are text.")
  }
  return text.string
}

/// The expressions that take the places of variables.
func substitutions(
  _ variables: UnsafePointer<quire_entry>?, _ count: Int
) throws(Failure) -> [String: Expression] {
  var expressions: [String: Expression] = [:]
  for variable in try array(variables, count, "variables") {
    let name = try key(of: variable, "variables")
    switch try formatArgument(variable.value, .variable(name)) {
    case .value(let value): expressions[name] = .constant(value)
    case .expression(let expression): expressions[name] = expression
    case .predicate:
      throw Failure(.invalidArgument, "The variable $\(name) stands for a value and was given a predicate.")
    }
  }
  return expressions
}

/// The arguments of a format.
func formatArguments(
  _ arguments: UnsafePointer<quire_value>?, _ count: Int
) throws(Failure) -> [FormatArgument] {
  var found: [FormatArgument] = []
  for (place, argument) in try array(arguments, count, "arguments").enumerated() {
    found.append(try formatArgument(argument, .element("arguments", place)))
  }
  return found
}

/// A value, or one that stands for a tree. Objects must be of `context`, if there is one.
func formatArgument(
  _ source: quire_value, _ name: InputName, in context: Context? = nil
) throws(Failure) -> FormatArgument {
  switch quire_value_kind(rawValue: source.kind) {
  case QUIRE_VALUE_EXPRESSION: .expression(try resolve(source.as.expression, name).expression)
  case QUIRE_VALUE_PREDICATE: .predicate(try resolve(source.as.predicate, name).predicate)
  default: .value(try value(source, name, in: context))
  }
}
