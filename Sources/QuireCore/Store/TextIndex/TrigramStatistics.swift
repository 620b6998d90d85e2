/// How common trigrams are, by a sample of the rows.
struct TrigramStatistics {
  private static let sampleSize = 1024
  /// Fewer rows are read as fast as they are looked up.
  private static let leastSample = 256
  /// Above this part of the rows, reading all of them is as fast as looking them up.
  private static let mostRows = 0.25
  /// The time to look up a row and its text, over that to step over an entry of the index.
  private static let lookup = 45.0
  private static let mostTrigrams = 4
  /// Fewer rows of the sample do not say how many have another trigram too.
  private static let leastEvidence = 6

  /// Which rows of the sample have a trigram, in their order.
  private var places: [Trigram: [UInt16]] = [:]
  private var sampled = 0
  /// What was chosen last, from which.
  private var last: (trigrams: [Trigram], chosen: [Trigram])?

  init(_ index: TextIndex, on connection: Connection) throws(Failure) {
    let bounds = try connection.statement(
      // Asked for together, they would take a walk through all rows.
      "SELECT ifnull((SELECT min(Z_PK) FROM \(index.table)), 0), ifnull((SELECT max(Z_PK) FROM \(index.table)), -1)")
    guard try bounds.step() else { return }
    let low = bounds.integer(at: 0), high = bounds.integer(at: 1)
    bounds.reset()
    guard low <= high else { return }
    let (span, overflow) = high.subtractingReportingOverflow(low)
    let step = overflow ? Int64.max / Int64(Self.sampleSize) : max(1, span / Int64(Self.sampleSize))
    let select = try connection.statement(
      "SELECT Z_PK, \(TextIndexFunction.name)(\(index.column)) FROM \(index.table) WHERE Z_PK >= ? "
        + "ORDER BY Z_PK LIMIT 1")
    var next = low
    while sampled <= Self.sampleSize {
      try select.bind(next, at: 1)
      guard try select.step() else { break }
      let key = select.integer(at: 0)
      if let text = select.text(at: 1) {
        for trigram in Set(Trigram.all(in: text.bytes.buffer)) { places[trigram, default: []].append(UInt16(sampled)) }
      }
      sampled += 1
      select.reset()
      let (following, isLast) = max(key, next).addingReportingOverflow(step)
      if isLast { break }
      next = following
    }
  }

  /// The trigrams that are worth asking for together; none when the index is not worth asking.
  mutating func choose(from trigrams: [Trigram]) -> [Trigram] {
    if let last, last.trigrams == trigrams { return last.chosen }
    let chosen = choice(from: trigrams)
    last = (trigrams, chosen)
    return chosen
  }

  private func choice(from trigrams: [Trigram]) -> [Trigram] {
    func part(_ trigram: Trigram) -> Double {
      max(Double(places[trigram]?.count ?? 0), 0.5) / Double(max(sampled, 1))
    }
    let byPart = trigrams.enumerated().map { (place: $0.offset, trigram: $0.element, part: part($0.element)) }
      .sorted { ($0.part, $0.place) < ($1.part, $1.place) }
    guard let rarest = byPart.first else { return [] }
    if sampled < Self.leastSample { return Array(trigrams.prefix(Self.mostTrigrams)) }
    if rarest.part > Self.mostRows { return [] }
    var chosen = [rarest.trigram]
    var rows = rarest.part
    var left = Set(places[rarest.trigram] ?? [])
    for next in byPart.dropFirst() where chosen.count < Self.mostTrigrams {
      let remaining = left.intersection(places[next.trigram] ?? [])
      // Trigrams of one word come together. Where the sample has too few rows, each is taken to halve them.
      let spared =
        left.count < Self.leastEvidence ? rows / 2 : rows * Double(left.count - remaining.count) / Double(left.count)
      if spared * Self.lookup <= next.part { continue }
      chosen.append(next.trigram)
      rows -= spared
      left = remaining
    }
    return chosen
  }
}
