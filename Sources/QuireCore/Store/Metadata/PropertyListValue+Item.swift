extension PropertyListValue {
  /// The same for predicates and callers. A reference within an archive is nothing to them,
  /// and integers that 64 bits with a sign do not hold are decimals.
  var item: Item {
    switch self {
    case .dictionary(let entries): .dictionary(ItemDictionary(entries.mapValues(\.item)))
    case .array(let elements): .list(elements.map(\.item))
    case .text(let text): .value(.text(text))
    case .data(let data): .value(.data(data))
    case .integer(let integer): .value(.integer(integer))
    case .largeInteger(let integer):
      Decimal(isNegative: false, mantissa: UInt128(integer), exponent: 0).map { .value(.decimal($0)) } ?? .nil
    case .real(let real): .value(.double(real))
    case .boolean(let flag): .value(.boolean(flag))
    case .date(let seconds): .value(.date(seconds))
    case .uid: .nil
    }
  }

  /// nil for what no property list holds: nil itself, decimals, UUIDs, URIs and objects.
  init?(_ item: Item) {
    switch item {
    case .dictionary(let dictionary):
      var entries: [String: PropertyListValue] = [:]
      for (key, item) in dictionary.items {
        guard let value = PropertyListValue(item) else { return nil }
        entries[key] = value
      }
      self = .dictionary(entries)
    case .list(let items):
      var elements: [PropertyListValue] = []
      for item in items {
        guard let value = PropertyListValue(item) else { return nil }
        elements.append(value)
      }
      self = .array(elements)
    case .subject: return nil
    case .value(let value):
      switch value {
      case .text(let text): self = .text(text.string)
      case .data(let data): self = .data(data)
      case .integer(let integer): self = .integer(integer)
      case .double(let real): self = .real(real)
      case .float(let real): self = .real(Double(real))
      case .boolean(let flag): self = .boolean(flag)
      case .date(let seconds): self = .date(seconds)
      case .nil, .decimal, .uuid, .uri, .object, .list, .external: return nil
      }
    }
  }
}
