import Glibc

/// The same numbers from the same seed, on every machine.
struct Dice {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func roll(_ sides: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(max(sides, 1)))
  }

  mutating func chance(_ part: Int, of whole: Int) -> Bool { roll(whole) < part }

  /// nil when there is nothing to pick from.
  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[roll(elements.count)]
  }

  mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var elements = elements
    for place in elements.indices.reversed() { elements.swapAt(place, roll(place + 1)) }
    return elements
  }

  /// Seeds of random histories. They are always the same, so that a run that was green stays green, unless
  /// `QUIRE_FRESH_SEEDS` says how many new ones to take (`script/check tests`). With `QUIRE_TURN`, the beginning of a
  /// commit's hash, half of them are taken.
  static func seeds(_ fixed: Int) -> [UInt64] {
    if let count = variable("QUIRE_FRESH_SEEDS").flatMap({ Int($0) }) {
      return (0..<count).map { _ in UInt64.random(in: 1000...UInt64.max) }
    }
    let all = UInt64(fixed)
    guard let turn = variable("QUIRE_TURN").flatMap({ UInt64($0, radix: 16) }) else { return Array(1...all) }
    return (0..<(all + 1) / 2).map { (turn + $0) % all + 1 }
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
