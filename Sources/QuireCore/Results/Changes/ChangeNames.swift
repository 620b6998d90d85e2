/// The names of changed keys, found out once for rows of a batch that have changed alike, as most have.
struct ChangeNames {
  private static let most = 16

  private let watch: ListWatch
  private var known: [(entity: Entity, keys: ChangedKeys, texts: [Text])] = []

  init(_ watch: ListWatch) { self.watch = watch }

  mutating func texts(_ keys: ChangedKeys, of entity: Entity) -> [Text] {
    for (other, same, texts) in known where other === entity && same == keys { return texts }
    let texts = keys.texts(of: entity, watch)
    if known.count == ChangeNames.most { known.removeAll(keepingCapacity: true) }
    known.append((entity, keys, texts))
    return texts
  }
}
