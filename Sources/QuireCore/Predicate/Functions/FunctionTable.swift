import Glibc

/// The functions of the format, by the names that their nodes carry. Operators are functions too: see `Arithmetic`.
enum FunctionTable {
  typealias Body = @Sendable ([Item], Expression) throws(Failure) -> Item

  struct Entry: Sendable {
    /// nil for any number.
    let argumentCount: Int?
    /// Whether the same arguments always have the same result, so that constants can be calculated once.
    var isPure = true
    let body: Body
  }

  /// The functions that make one value of a group of rows.
  static let aggregates: Set<String> = [
    "sum:", "count:", "min:", "max:", "average:", "avg:", "median:", "mode:", "stddev:",
  ]

  static func isBuiltIn(_ name: String) -> Bool { entries[name] != nil || Function.isKnown(name) }

  /// Whether a call by the name means something now; names of the format are canonical.
  static func isCallable(_ name: String) -> Bool {
    isBuiltIn(name) || FunctionRegistry.function(named: name) != nil
  }

  /// A function of the format, or one that the program registered.
  static func entry(_ name: String) -> Entry? {
    if let entry = entries[name] { return entry }
    guard let function = FunctionRegistry.function(named: name) else { return nil }
    return Entry(argumentCount: function.argumentCount, isPure: function.isDeterministic) {
      (items, _) throws(Failure) in
      try function.call(items)
    }
  }

  /// Whether the same arguments always have the same result.
  static func isPure(_ name: String) -> Bool { entry(name)?.isPure ?? true }

  private static let entries: [String: Entry] = {
    var entries = [
      "sum:": statistics { (values) throws(Failure) in .value(try values.sum()) },
      "average:": statistics { (values) throws(Failure) in .value(try values.average()) },
      "min:": statistics { (values) throws(Failure) in .value(try values.extreme(.less)) },
      "max:": statistics { (values) throws(Failure) in .value(try values.extreme(.greater)) },
      "median:": statistics { (values) throws(Failure) in .value(try values.median()) },
      "mode:": statistics { (values) throws(Failure) in try values.mode() },
      "stddev:": statistics { (values) throws(Failure) in .value(try values.standardDeviation()) },
      "count:": Entry(argumentCount: nil) { (items, expression) throws(Failure) in
        try collection(items, expression).map { .value(.integer(Int64($0.count))) } ?? .nil
      },
      "sqrt:": real { sqrt($0) }, "log:": real { log10($0) }, "ln:": real { log($0) }, "exp:": real { exp($0) },
      "floor:": rounding { floor($0) }, "ceiling:": rounding { ceil($0) }, "trunc:": rounding { trunc($0) },
      "abs:": number { (number) in
        if case .integer(let integer) = number, integer != .min { return .integer(abs(integer)) }
        return .double(abs(number.double))
      },
      "uppercase:": text { Text($0.string.uppercased()) },
      "lowercase:": text { Text($0.string.lowercased()) },
      "canonical:": text { TextFolder().fold($0, [.ignoreCase, .ignoreDiacritics]) },
      "length:": Entry(argumentCount: 1) { (items, expression) throws(Failure) in
        if items[0].isNil { return .nil }
        guard let length = items[0].scalar?.length else { throw unsuited(items[0], "text", expression) }
        return .value(.integer(length))
      },
      "noindex:": Entry(argumentCount: 1) { (items, _) throws(Failure) in items[0] },
      Function.cast: Entry(argumentCount: 2) { (items, expression) throws(Failure) in
        guard let value = items[0].scalar, case .text(let type)? = items[1].scalar else {
          throw unsuited(items[0], "a single value", expression)
        }
        return Item(try Cast.apply(value, to: type.string, in: expression))
      },
      "now": Entry(argumentCount: 0, isPure: false) { (_, _) throws(Failure) in .value(.date(now())) },
      "random": Entry(argumentCount: 0, isPure: false) { (_, _) throws(Failure) in
        .value(.integer(Int64.random(in: 0...Int64(Int32.max))))
      },
      "randomn:": Entry(argumentCount: 1, isPure: false) { (items, expression) throws(Failure) in
        if items[0].isNil { return .nil }
        guard case .integer(let bound)? = items[0].scalar?.number, bound > 0 else {
          throw unsuited(items[0], "a positive integer", expression)
        }
        return .value(.integer(Int64.random(in: 0..<bound)))
      },
    ]
    entries["avg:"] = entries["average:"]
    return entries
  }()

  /// A list passed as the one argument, or the arguments themselves; nil when the one argument is nil.
  private static func collection(_ items: [Item], _ expression: Expression) throws(Failure) -> [Item]? {
    guard items.count == 1 else { return items }
    if items[0].isNil { return nil }
    guard let elements = items[0].elements else { throw unsuited(items[0], "a collection", expression) }
    return elements
  }

  private static func statistics(_ body: @escaping @Sendable (Statistics) throws(Failure) -> Item) -> Entry {
    Entry(argumentCount: nil) { (items, expression) throws(Failure) in
      guard let elements = try collection(items, expression) else { return .nil }
      return try body(Statistics(elements, in: expression))
    }
  }

  private static func number(_ body: @escaping @Sendable (Number) -> Value) -> Entry {
    Entry(argumentCount: 1) { (items, expression) throws(Failure) in
      guard let value = items[0].scalar else { throw unsuited(items[0], "a number", expression) }
      return value.isNil ? .nil : .value(body(try Arithmetic.number(value, in: expression)))
    }
  }

  private static func real(_ body: @escaping @Sendable (Double) -> Double) -> Entry {
    number { .double(body($0.double)) }
  }

  /// Integers stay what they are.
  private static func rounding(_ body: @escaping @Sendable (Double) -> Double) -> Entry {
    number { (number) in
      if case .integer(let integer) = number { return .integer(integer) }
      return .double(body(number.double))
    }
  }

  private static func text(_ body: @escaping @Sendable (Text) -> Text) -> Entry {
    Entry(argumentCount: 1) { (items, expression) throws(Failure) in
      if items[0].isNil { return .nil }
      guard let text = items[0].scalar?.comparableText else { throw unsuited(items[0], "text", expression) }
      return .value(.text(body(text)))
    }
  }

  private static func unsuited(_ item: Item, _ needed: String, _ expression: Expression) -> Failure {
    Failure(.invalidPredicate, "\(expression.text) needs \(needed) and was given \(item.kindName).")
  }

  /// Seconds since 2001.
  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) - Value.secondsFrom1970To2001 + Double(time.tv_nsec) / 1_000_000_000
  }
}
