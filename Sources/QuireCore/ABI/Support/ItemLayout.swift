import CQuire

/// Items as C reads them. What the values point to is kept by this, and single texts and data by the items.
final class ItemLayout {
  private let object: (any PropertySource) throws(Failure) -> quire_value
  private var lists: [UnsafeMutableBufferPointer<quire_value>] = []
  private var dictionaries: [UnsafeMutableBufferPointer<quire_entry>] = []
  /// Texts that are nowhere but here: those of decimals, and keys.
  private var texts: [Text] = []

  /// `object` is what an object becomes.
  init(_ object: @escaping (any PropertySource) throws(Failure) -> quire_value) { self.object = object }

  deinit {
    for list in lists { list.deallocate() }
    for dictionary in dictionaries { dictionary.deallocate() }
  }

  func exported(_ item: Item) throws(Failure) -> quire_value {
    var result = quire_value()
    switch item {
    case .value(let value): return try QuireCore.exported(value) { keep($0) }
    case .subject(let subject): return try object(subject)
    case .list(let items):
      let values = UnsafeMutableBufferPointer<quire_value>.allocate(capacity: items.count)
      values.initialize(repeating: quire_value())
      lists.append(values)
      for (place, item) in items.enumerated() { values[place] = try exported(item) }
      result.kind = QUIRE_VALUE_LIST.rawValue
      result.size = try size(of: items.count)
      result.as.list = UnsafePointer(values.baseAddress)
    case .dictionary(let dictionary):
      let items = dictionary.items.sorted { $0.key < $1.key }
      let entries = UnsafeMutableBufferPointer<quire_entry>.allocate(capacity: items.count)
      entries.initialize(repeating: quire_entry())
      dictionaries.append(entries)
      for (place, item) in items.enumerated() {
        entries[place].key = try QuireCore.exported(.text(keep(Text(item.key)))) { $0 }
        entries[place].value = try exported(item.value)
      }
      result.kind = QUIRE_VALUE_DICTIONARY.rawValue
      result.size = try size(of: items.count)
      result.as.entries = UnsafePointer(entries.baseAddress)
    }
    return result
  }

  private func keep(_ text: Text) -> Text {
    texts.append(text)
    return text
  }

  private func size(of count: Int) throws(Failure) -> UInt32 {
    if let size = UInt32(exactly: count) { return size }
    throw Failure(.unsupported, "A collection of \(count) elements is too long to read in one piece.")
  }
}
