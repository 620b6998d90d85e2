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

  /// Seeds of random histories: always the same, so that a run that was green stays green, unless
  /// `QUIRE_FRESH_SEEDS` says how many new ones to take (`script/check tests`).
  static func seeds(_ fixed: Int) -> [UInt64] {
    guard let count = getenv("QUIRE_FRESH_SEEDS").flatMap({ Int(String(cString: $0)) }) else {
      return (1...UInt64(fixed)).map { $0 }
    }
    return (0..<count).map { _ in UInt64.random(in: 1000...UInt64.max) }
  }
}
