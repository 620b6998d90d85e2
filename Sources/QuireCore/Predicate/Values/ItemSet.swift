/// Items without doubles, in the order of their first appearance; equal is what `==` without options calls equal.
struct ItemSet {
  private(set) var items: [Item] = []
  private var places: [Int: [Int]] = [:]
  private let test = ValueTest([])

  init(_ items: [Item]) throws(Failure) {
    for item in items { try insert(item) }
  }

  func contains(_ item: Item) throws(Failure) -> Bool {
    for place in places[item.equalityHash] ?? [] where try test.areEqual(items[place], item) { return true }
    return false
  }

  mutating func insert(_ item: Item) throws(Failure) {
    if try contains(item) { return }
    places[item.equalityHash, default: []].append(items.count)
    items.append(item)
  }
}

extension Item {
  /// The same for all items that are equal. Numbers go by their 32-bit value, which is how floats compare.
  fileprivate var equalityHash: Int {
    switch scalar {
    case .text(let text)?, .uri(let text)?: return text.hashValue
    case .object(let box)?: return box.reference.hashValue
    case .data(let bytes)?, .uuid(let bytes)?: return bytes.hashValue
    case .date(let seconds)?: return seconds.hashValue
    case let value?: return value.number?.single.hashValue ?? 0
    case nil: return elements?.count ?? 0
    }
  }
}
