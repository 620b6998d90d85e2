/// Texts that an application keeps with an entity or a property, by key. No part of the version hash.
struct UserInfo: Sendable {
  private(set) var entries: [(key: Text, value: Text)] = []
  /// Lists of texts, which only compiled models have.
  private(set) var lists: [(key: Text, value: [Text])] = []
  private var places: [Text: Int] = [:]

  /// A key that has a value already gets the new one.
  mutating func set(_ key: Text, to value: Text) {
    lists.removeAll { $0.key == key }
    if let place = places[key] {
      entries[place].value = value
    } else {
      places[key] = entries.count
      entries.append((key, value))
    }
  }

  /// For a key that has no value yet.
  mutating func add(_ key: Text, list: [Text]) { lists.append((key, list)) }

  func text(_ key: Text) -> Text? { places[key].map { entries[$0].value } }

  func list(_ key: Text) -> [Text]? { lists.first { $0.key == key }?.value }
}
