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

  /// Seeds of random histories: some that are always the same, and one that is new each time.
  static func seeds(_ fixed: Int) -> [UInt64] {
    (1...UInt64(fixed)).map { $0 } + [UInt64.random(in: 1000...UInt64.max)]
  }
}
