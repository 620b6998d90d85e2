/// Makes sections of values, in their order. For one thread at a time.
///
/// The keys of its sections are complete orders of their own: bytes that compare with memcmp. The keys of different
/// sections differ, and none is the beginning of another.
final class SectionMaker {
  private let grouping: SectionGrouping
  private let isDescending: Bool
  private let textOrder: TextOrderKeys?
  private let letters: LetterSections?
  private let periods: PeriodSections?
  private let steps: NumberSteps?
  /// The source of the values, for failures.
  private let source: String
  /// The places of the fixed sections, by the keys that they had among the others.
  private var places: [SortKey: Int] = [:]
  /// The sections that are always there, in their order.
  private(set) var fixed: [SectionKey] = []
  private var ranges: [UInt64: SectionKey] = [:]
  private static let mostRanges = 4096

  init(
    _ grouping: SectionGrouping, isDescending: Bool, textOrder: TextOrder, fixed: [Value], source: String
  ) throws(Failure) {
    self.grouping = grouping
    self.isDescending = isDescending
    self.source = source
    self.textOrder = textOrder == .binary ? nil : try TextOrderKeys(textOrder)
    if case .letter(let locales) = grouping {
      letters = try LetterSections(locales: locales)
    } else {
      letters = nil
    }
    if case .period(let unit, let timeZone, let folder, let locale) = grouping {
      periods = try PeriodSections(unit, timeZone: timeZone, folder: folder, locale: locale)
    } else {
      periods = nil
    }
    if case .step(let width, let origin) = grouping {
      guard let found = NumberSteps(width: width, origin: origin) else {
        throw Failure(
          .invalidArgument,
          "Ranges of numbers that are \(width) wide, one of them from \(origin) on, cannot be. "
            + "Give a width greater than 0, and an origin that is not too far away for it.")
      }
      steps = found
    } else {
      steps = nil
    }
    if case .bounds(let bounds) = grouping {
      let isAscending = zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
      guard isAscending, bounds.allSatisfy(\.isFinite), !bounds.isEmpty else {
        throw Failure(
          .invalidArgument, "The bounds of ranges of numbers must be finite, and each greater than the last.")
      }
    }
    for value in fixed { try add(fixed: value) }
  }

  private func add(fixed value: Value) throws(Failure) {
    if case .object = value {
      throw Failure(.invalidArgument, "An object cannot be a fixed section. Name one of its values, by another key.")
    }
    var section = try place(of: value)
    if let label = value.comparableText, let letter = letters?.section(called: label) {
      section = letterSection(letter)
    }
    let place = fixed.count
    if places.updateValue(place, forKey: section.order) != nil {
      throw Failure(.invalidArgument, "The section '\(section.name)' is named twice among the fixed ones.")
    }
    fixed.append(ranked(section, place))
  }

  /// The section of a value.
  func section(of value: Value) throws(Failure) -> SectionKey {
    let section = try place(of: value)
    return fixed.isEmpty ? section : ranked(section, places[section.order] ?? fixed.count)
  }

  /// Fixed sections go before the others, which all have one rank.
  private func ranked(_ section: SectionKey, _ rank: Int) -> SectionKey {
    var ranked = section
    // No other component begins so: the list and the same list without fixed sections have no key in common.
    ranked.order.bytes = [3]
    withUnsafeBytes(of: UInt32(clamping: rank).bigEndian) { ranked.order.bytes.append(contentsOf: $0) }
    ranked.order.bytes.append(contentsOf: section.order.bytes)
    return ranked
  }

  // MARK: Sections among themselves

  private func place(of value: Value) throws(Failure) -> SectionKey {
    if isNone(value) { return finished(SectionKey(order: SortKey(bytes: [0]), name: "")) }
    switch grouping {
    case .value: return try valueSection(value)
    case .letter:
      guard let text = value.comparableText, let letters else { throw unsuited(value, "text") }
      return letterSection(letters.section(of: text))
    case .period:
      guard case .date(let date) = value, let periods else { throw unsuited(value, "a date") }
      let period = try periods.period(of: date)
      var section = SectionKey(order: SortKey(bytes: [4]), name: period.name)
      section.value = .date(period.start)
      section.indexTitle = period.year
      section.order.append(.integer(Int64(period.firstDay)))
      return finished(section)
    case .step, .bounds:
      guard let number = value.number else { throw unsuited(value, "a number") }
      return range(of: number)
    }
  }

  /// nil and what counts as such: empty text, and numbers and dates that are none.
  private func isNone(_ value: Value) -> Bool {
    switch value {
    case .nil: true
    case .text(let text), .uri(let text): text.bytes.count == 0
    case .double(let double), .date(let double): double.isNaN
    case .float(let float): float.isNaN
    default: false
    }
  }

  private func unsuited(_ value: Value, _ wanted: String) -> Failure {
    Failure(
      .invalidArgument,
      "The sections are made of \(wanted), and \(source) gives \(value.kindName). Cast it, or group it otherwise.")
  }

  private func finished(_ section: SectionKey) -> SectionKey {
    if !isDescending { return section }
    var section = section
    for index in section.order.bytes.indices { section.order.bytes[index] = ~section.order.bytes[index] }
    return section
  }

  private func valueSection(_ value: Value) throws(Failure) -> SectionKey {
    guard let tag = value.sectionTag else { throw unsuited(value, "single values") }
    var section = SectionKey(order: SortKey(bytes: [tag]), name: value.sectionName)
    section.value = value
    if let number = value.number {
      // Integers that no double equals are distinguished by their remainder.
      let double = number.double
      section.order.append(.double(double))
      if case .integer(let integer) = number {
        section.order.append(.integer(integer &- (Int64(exactly: double) ?? .min)))
      } else {
        section.order.append(.integer(0))
      }
    } else {
      section.order.append(value, textOrder: textOrder)
    }
    return finished(section)
  }

  private func letterSection(_ number: Int) -> SectionKey {
    let label = letters?.labels[number] ?? ""
    var section = SectionKey(order: SortKey(bytes: [4]), name: label, value: .text(label), indexTitle: label)
    section.order.append(.integer(Int64(number)))
    return finished(section)
  }

  private func range(of number: Number) -> SectionKey {
    let bound = lowerBound(of: number) + 0  // no -0
    if let known = ranges[bound.bitPattern] { return known }
    var name = SectionMaker.printed(bound)
    if case .bounds(let bounds) = grouping, bound == -.infinity, let first = bounds.first {
      name = "<" + SectionMaker.printed(first)
    }
    var section = SectionKey(
      order: SortKey(bytes: [4]), name: Text(name), value: .double(bound), indexTitle: Text(name))
    section.order.append(section.value)
    section = finished(section)
    if ranges.count >= SectionMaker.mostRanges { ranges = [:] }
    ranges[bound.bitPattern] = section
    return section
  }

  private func lowerBound(of number: Number) -> Double {
    if let steps { return steps.lowerBound(of: number) }
    guard case .bounds(let bounds) = grouping else { return number.double }
    // A 32-bit number is compared as such: one that was made of 0.7 is not below the bound 0.7.
    let before = bounds.partitionPoint { Number.order(.real($0), number).map { $0 <= 0 } ?? false }
    return before == 0 ? -.infinity : bounds[before - 1]
  }

  private static let printedInFull = 1e-15..<1e16

  /// As people write it; with an exponent where that takes many zeros.
  private static func printed(_ number: Double) -> String {
    if let integer = Int64(exactly: number), integer.magnitude < 1 << 53 { return "\(integer)" }
    if printedInFull.contains(number.magnitude), let decimal = Decimal(number) { return decimal.description }
    return "\(number)"
  }
}

extension Value {
  /// Values of different classes are in different parts of the order.
  fileprivate var sectionTag: UInt8? {
    switch comparisonClass {
    case .number: 4
    case .text: 5
    case .date: 6
    case .data: 7
    case .uuid: 8
    case .object: 9
    case .list, .dictionary, nil: nil
    }
  }
}
