/// Texts that an application keeps with an entity or a property, by key. No part of the version hash.
struct UserInfo: Sendable {
  private(set) var entries: [(key: Text, value: Text)] = []
  private var places: [Text: Int] = [:]

  /// A key that has a value already gets the new one.
  mutating func set(_ key: Text, to value: Text) {
    if let place = places[key] {
      entries[place].value = value
    } else {
      places[key] = entries.count
      entries.append((key, value))
    }
  }
}
