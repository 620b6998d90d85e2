extension Comparison {
  /// The comparison with dates in place of the texts that are compared with dates. Throws where such a text is no date:
  /// it would never be equal, and has no order.
  ///
  /// Expects bound keys.
  func readingDates() throws(Failure) -> Comparison {
    let isEitherSide = Relation(`operator`) != nil || `operator` == .contains || `operator` == .isIn
    guard isEitherSide || `operator` == .between else { return self }
    var result = self
    // A single text is searched for a part, and not for a member.
    let isPartOfText = `operator` == .isIn && right.constantValue?.comparableText != nil
    if left.isOfDates, !isPartOfText { result.right = try right.readingDates() }
    if isEitherSide, right.isOfDates { result.left = try left.readingDates() }
    return result
  }
}

extension Expression {
  /// Whether its values are dates, as far as bound keys say it.
  fileprivate var isOfDates: Bool {
    switch self {
    case .keyPath(let keys), .path(_, let keys): keys.leadToDates
    case .index(let base, _, _): base.isOfDates
    case .function("noindex:", let parts), .function("min:", let parts), .function("max:", let parts):
      parts.count == 1 && parts[0].isOfDates
    case .function(Function.cast, let parts): parts.count == 2 && parts[1].constantValue?.comparableText == "NSDate"
    case .constant(let constant): constant.value.comparisonClass == .date
    default: false
    }
  }

  /// The same with texts, also those in lists, as dates.
  fileprivate func readingDates() throws(Failure) -> Expression {
    switch self {
    case .constant(let constant): return .constant(try constant.value.readingDates())
    case .list(let parts):
      var dates: [Expression] = []
      for part in parts { dates.append(try part.readingDates()) }
      return .aggregate(dates)
    default: return self
    }
  }
}

extension Value {
  fileprivate func readingDates() throws(Failure) -> Value {
    switch self {
    case .text(let text): return .date(try Value.date(written: text))
    case .list(let list):
      guard list.values.contains(where: { $0.comparableText != nil }) else { return self }
      var dates: [Value] = []
      for value in list.values { dates.append(try value.readingDates()) }
      return .list(dates)
    default: return self
    }
  }

  private static func date(written text: Text) throws(Failure) -> Double {
    if let seconds = WrittenDate.secondsSince2001(text) { return seconds }
    throw Failure(.invalidPredicate, "\(WrittenDate.reason(text)).")
  }
}

extension [Key] {
  fileprivate var leadToDates: Bool {
    guard let last = last(where: { !$0.isSelf }), let attribute = last.property as? Attribute, attribute.type == .date
    else { return false }
    return allSatisfy { key in
      !key.isOperator || CollectionOperator(rawValue: key.name).map { $0.givesElements } ?? false
    }
  }
}

extension CollectionOperator {
  /// Whether it gives values of those that it is asked of.
  fileprivate var givesElements: Bool {
    switch self {
    case .count, .sum, .average: false
    default: true
    }
  }
}
