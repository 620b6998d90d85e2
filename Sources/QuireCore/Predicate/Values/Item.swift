/// The result of an evaluated expression: a value, or one of the things that have parts.
enum Item {
  /// Never a list: `Item(_:)` makes items of those.
  case value(Value)
  case subject(any PropertySource)
  case list([Item])
  case dictionary(ItemDictionary)

  static var `nil`: Item { .value(.nil) }

  init(_ value: Value) {
    if case .list(let list) = value { self = .list(list.values.map(Item.init)) } else { self = .value(value) }
  }

  var isNil: Bool { if case .value(.nil) = self { true } else { false } }

  /// The value for comparisons of single values; nil for lists and dictionaries.
  var scalar: Value? {
    switch self {
    case .value(let value): value
    case .subject(let subject): subject.identity
    case .list, .dictionary: nil
    }
  }

  /// The elements of a collection; nil for other items. The elements of a dictionary are its values.
  var elements: [Item]? {
    switch self {
    case .list(let items): items
    case .dictionary(let dictionary): dictionary.values
    case .value, .subject: nil
    }
  }

  /// The elements of a list, and instead of lists in it their elements.
  var innermost: [Item]? {
    guard case .list(let items) = self else { return nil }
    var found: [Item] = []
    for item in items {
      if let inner = item.innermost { found += inner } else { found.append(item) }
    }
    return found
  }

  /// Its name in messages.
  var kindName: String {
    switch self {
    case .value(let value): value.kindName
    case .subject: "an object"
    case .list: "a list"
    case .dictionary: "a dictionary"
    }
  }
}

/// Keys that may be there or not; those that are not are nil.
final class ItemDictionary {
  let items: [String: Item]

  init(_ items: [String: Item]) { self.items = items }

  /// In the order of the keys, so that the same dictionary is always written in the same way.
  var values: [Item] { items.sorted { $0.key < $1.key }.map(\.value) }
}

extension Item {
  /// The value of a key. For a list it is the list of the values in its elements, for nil it is nil.
  ///
  /// `asValue` says that only the value is needed: for an object, its reference is enough.
  func item(forKey key: Key, asValue: Bool = false) throws(Failure) -> Item {
    switch self {
    case .subject(let subject):
      if key.isSelf, !subject.hasProperty(of: key) { return self }
      let item = try subject.item(forKey: key, asValue: asValue)
      // An unsaved decimal may have digits that the file will not have.
      if case .value(.decimal(let decimal)) = item { return .value(.decimal(decimal.stored)) }
      return item
    case .dictionary(let dictionary):
      if let item = dictionary.items[key.name] { return item }
      return key.isSelf ? self : .nil
    case .list(let items):
      var results: [Item] = []
      results.reserveCapacity(items.count)
      for item in items { results.append(try item.item(forKey: key, asValue: asValue)) }
      return .list(results)
    case .value(.nil): return .nil
    case .value(let value):
      if key.isSelf { return self }
      if key.name == "length", let length = value.length { return .value(.integer(length)) }
      throw Failure(.invalidPredicate, "There is no key '\(key.name)' in \(value.kindName).")
    }
  }
}

extension Item {
  /// The value of a key, or any other in place of it: it is only asked whether there is one.
  func presence(ofKey key: Key) throws(Failure) -> Item {
    switch self {
    case .subject(let subject):
      guard let isThere = try subject.holdsExternally(key) else { break }
      return isThere ? .value(.boolean(true)) : .nil
    case .list(let items):
      var results: [Item] = []
      results.reserveCapacity(items.count)
      for item in items { results.append(try item.presence(ofKey: key)) }
      return .list(results)
    default: break
    }
    return try item(forKey: key, asValue: true)
  }
}

extension Value {
  /// The code points of text, the bytes of data; nil for everything else.
  var length: Int64? {
    switch self {
    case .text(let text), .uri(let text): Int64(text.bytes.buffer.count { $0 & 0xC0 != 0x80 })
    case .data(let data): Int64(data.count)
    default: nil
    }
  }
}
