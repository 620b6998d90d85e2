import Testing

@testable import QuireCore

/// The keys of a block against a plain array of keys.
@Suite struct RowBlockTests {
  /// Few different bytes, so that keys share beginnings of every length; with or without a tie-break of their row.
  private func key(_ dice: inout Dice, _ id: Int64) -> SortKey {
    var key = SortKey()
    let isUniform = dice.roll(2) == 0
    for _ in 0..<(isUniform ? 3 : dice.roll(6)) { key.bytes.append(UInt8(1 + dice.roll(2))) }
    if dice.roll(8) > 0 { key.append(tieBreak: id) } else { key.append(.integer(id)) }
    return key
  }

  @Test(arguments: Dice.seeds(6))
  func aBlockHasTheKeysThatItWasGiven(seed: UInt64) {
    var dice = Dice(seed: seed)
    var rows: [(id: Int64, key: SortKey)] = []
    var block = RowBlock(section: 0)
    for step in 0..<400 {
      let id = Int64(step + 1) * (dice.roll(10) == 0 ? -1 : 1)
      switch rows.isEmpty ? 0 : dice.roll(8) {
      case 0...4:
        let key = key(&dice, id)
        let place = rows.firstIndex { !($0.key < key) } ?? rows.count
        #expect(block.lowerBound(of: key) == place, "seed \(seed), step \(step)")
        rows.insert((id, key), at: place)
        block.insert(id, key, at: place)
      case 5, 6:
        let place = dice.roll(rows.count)
        rows.remove(at: place)
        block.remove(at: place)
      default:
        guard rows.count > 1 else { continue }
        let upper = block.split(at: 1 + dice.roll(rows.count - 1))
        block.append(contentsOf: upper)
      }
      #expect(block.ids.elementsEqual(rows.map(\.id)))
      #expect(block.keys.holds(rows.count))
      for (place, row) in rows.enumerated() where block.key(at: place) != row.key {
        Issue.record("seed \(seed), step \(step): row \(place) has another key than it was given")
      }
      guard let probe = dice.pick(rows) else { continue }
      for (place, row) in rows.enumerated() {
        let order = block.order(of: place, against: probe.key)
        #expect((order < 0) == (row.key < probe.key) && (order == 0) == (row.key == probe.key))
      }
    }
  }
}
