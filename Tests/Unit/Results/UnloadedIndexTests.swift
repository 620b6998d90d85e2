import Testing

@testable import QuireCore

/// An index that was read from a file, against one that was loaded with the same rows.
@Suite("Lists out of a cache") struct UnloadedIndexTests {
  /// An index in a file and out of it again.
  private struct Press {
    let folder: TemporaryFolder
    let file: CacheFile

    init() throws {
      folder = try TemporaryFolder()
      file = CacheFile("list", of: Text(folder.file("store")))
      try folder.write([], to: "store")
    }

    func written(_ index: SectionedIndex) throws -> CacheFile.Writer {
      var writer = CacheFile.Writer()
      try #require(index.write(to: &writer))
      return writer
    }

    func copy(_ index: SectionedIndex) throws -> SectionedIndex {
      file.write(try written(index))
      let copy = SectionedIndex(isSectioned: index.isSectioned, rowsPerBlock: index.rowsPerBlock)
      try #require(copy.read(from: try #require(file.read())))
      return copy
    }
  }

  private struct Shape: CustomTestStringConvertible, Sendable {
    var seed: UInt64
    var isSectioned: Bool
    var rows: Int
    var sections: Int
    var rowsPerBlock: Int
    var testDescription: String { "seed \(seed), \(rows) rows in \(sections) sections, \(rowsPerBlock) to a block" }
  }

  private static let shapes: [Shape] =
    [
      Shape(seed: 1, isSectioned: true, rows: 0, sections: 1, rowsPerBlock: 256),
      Shape(seed: 2, isSectioned: false, rows: 0, sections: 1, rowsPerBlock: 256),
      Shape(seed: 3, isSectioned: true, rows: 400, sections: 30, rowsPerBlock: 3),
      Shape(seed: 4, isSectioned: false, rows: 3000, sections: 1, rowsPerBlock: 2),
      Shape(seed: 5, isSectioned: true, rows: 2500, sections: 2000, rowsPerBlock: 2),
    ]
    + Dice.seeds(1).map { Shape(seed: $0 &+ 5, isSectioned: true, rows: 1600, sections: 200, rowsPerBlock: 4) }

  /// Names of one length or of several, with or without the tie-break at the end; or nothing but the section.
  private func key(_ id: Int64, _ shape: Shape, _ dice: inout Dice) -> RowKey {
    let section = dice.roll(shape.sections)
    let name =
      switch section % 4 {
      case 0: ""
      case 1: "n\(dice.roll(9))"
      default: String(repeating: "n", count: dice.roll(5)) + "\(dice.roll(9))"
      }
    let plain = ListModel.key("s\(section)", name, id: id)
    var order = plain.section.order
    if section % 4 > 0 { order.bytes += plain.order.bytes } else { order.append(tieBreak: id) }
    if section % 4 == 3, id % 3 == 0 { order.append(.integer(id)) }
    return RowKey(section: plain.section, order: order)
  }

  private func expectSame(_ left: SectionedIndex, _ right: SectionedIndex, _ note: String) throws {
    try #require(left.count == right.count && left.sectionCount == right.sectionCount, "\(note)")
    let ids = right.ids(in: 0..<right.count)
    try #require(left.ids(in: 0..<left.count) == ids, "\(note)")
    for place in 0..<right.sectionCount {
      let (one, other) = (try #require(left.section(at: place)), try #require(right.section(at: place)))
      try #require(one.key == other.key && one.key.name == other.key.name, "\(note), section \(place)")
      try #require(one.start == other.start && one.count == other.count, "\(note), section \(place)")
    }
    for (flat, id) in ids.enumerated() {
      let place = try #require(left.path(of: id), "\(note), row \(id)")
      try #require(place.flat == flat && place.path == right.path(of: id)?.path, "\(note), row \(id)")
      try #require(left.id(at: place.path) == id && left.key(of: id) == right.key(of: id), "\(note), row \(id)")
    }
  }

  @Test("They take on every change and report it as loaded ones do, and snapshots of them stay", arguments: shapes)
  private func histories(_ shape: Shape) throws {
    print("lists out of a cache: \(shape.testDescription)")
    var dice = Dice(seed: shape.seed)
    let press = try Press()
    let keys = (0..<Int64(shape.rows)).map { ($0, key($0, shape, &dice)) }
    var model = ListModel(isSectioned: shape.isSectioned, keys: Dictionary(uniqueKeysWithValues: keys))
    for round in 0..<2 {
      let loaded = SectionedIndex(isSectioned: shape.isSectioned, rowsPerBlock: shape.rowsPerBlock)
      loaded.load(model.rows.map { (id: $0.id, key: $0.key) })
      let cached = try press.copy(loaded)
      var kept: [(snapshot: ListSnapshot, wanted: ListSnapshot)] = []
      for step in 0..<30 {
        let note = "round \(round), step \(step) of \(shape.testDescription)"
        if dice.roll(6) == 0 { kept.append((ListSnapshot(cached), ListSnapshot(loaded))) }
        // Some steps change hardly anything, others much: of a part of the list, or all over it.
        let span = dice.roll(2) == 0 ? shape.rows + 20 : 1 + shape.rows / 9
        let start = dice.roll(shape.rows + 20 - span + 1)
        let changes = (0..<(1 + dice.roll(dice.roll(4) == 0 ? span : 4))).map { _ in
          let id = Int64(start + dice.roll(span))
          switch dice.roll(5) {
          case 0: return RowChange(id: id, newKey: nil)
          case 1: return RowChange(id: id, newKey: model.keys[id])
          default: return RowChange(id: id, newKey: key(id, shape, &dice))
          }
        }
        let old = model.sections.map(\.ids)
        model.apply(changes)
        let (report, wanted) = (cached.apply(changes), loaded.apply(changes))
        try #require(report.changes == wanted.changes, "\(note)")
        try #require(report.sectionChanges == wanted.sectionChanges, "\(note)")
        try #require(Replay.classic(report, on: old) == model.sections.map(\.ids), "\(note)")
        if step % 3 == 0 {
          let problems = cached.checkInvariants()
          try #require(problems.isEmpty, "\(note): \(problems)")
        }
        if step % 10 == 9 { try expectSame(cached, loaded, note) }
      }
      for (snapshot, wanted) in kept {
        try #require(snapshot.isEqual(to: wanted), "round \(round) of \(shape.testDescription)")
        for (flat, id) in wanted.ids(in: 0..<wanted.count).enumerated() {
          try #require(snapshot.place(of: id) == flat)
        }
      }
    }
  }

  private func index(rows: Int, sections: Int, rowsPerBlock: Int) -> SectionedIndex {
    var dice = Dice(seed: UInt64(rows))
    let shape = Shape(seed: 0, isSectioned: true, rows: rows, sections: sections, rowsPerBlock: rowsPerBlock)
    let keys = (0..<Int64(rows)).map { ($0, key($0, shape, &dice)) }
    let model = ListModel(isSectioned: true, keys: Dictionary(uniqueKeysWithValues: keys))
    let index = SectionedIndex(isSectioned: true, rowsPerBlock: rowsPerBlock)
    index.load(model.rows.map { (id: $0.id, key: $0.key) })
    return index
  }

  @Test("Reading makes no block, and a change only those that it looks at")
  func blocksAreMadeWhenNeeded() throws {
    let loaded = index(rows: 6000, sections: 40, rowsPerBlock: 4)
    let cached = try Press().copy(loaded)
    let all = cached.blocks.count
    func made() -> Int { cached.blocks.count { $0 != nil } }
    let ids = cached.ids(in: 0..<6000)
    let snapshot = ListSnapshot(cached)
    for id in ids { #expect(cached.path(of: id) != nil) }
    #expect(all > UnloadedIndex.blocksPerGroup * 2 && made() == 0 && cached.checkInvariants().isEmpty)
    _ = cached.apply([RowChange(id: ids[3000], newKey: nil)])
    #expect(made() > 0 && made() < 30 && cached.checkInvariants().isEmpty)
    #expect(snapshot.ids(in: 0..<6000) == ids)
  }

  @Test("What half of a group of blocks was made of is forgotten, and all of it in the end")
  func memoryGoes() throws {
    let loaded = index(rows: 6000, sections: 40, rowsPerBlock: 4)
    let cached = try Press().copy(loaded)
    var least = 0
    for (step, id) in cached.ids(in: 0..<6000).enumerated() {
      _ = cached.apply([RowChange(id: id, newKey: nil)])
      for group in cached.cached.rests where group.rest > 0 {
        least += 1
        #expect(group.rest * 2 >= group.blocks.count, "after \(step) rows")
      }
    }
    #expect(least > 0 && cached.cached.rests.allSatisfy { $0.rest == 0 } && cached.checkInvariants() == [])
  }

  @Test("A file with any bit turned or any part missing is not taken")
  func damage() throws {
    let press = try Press()
    let index = index(rows: 60, sections: 6, rowsPerBlock: 4)
    press.file.write(try press.written(index))
    let name = try #require(press.folder.names.first { $0.contains("-list-") })
    let whole = try #require(press.folder.bytes(name))
    func isTaken(_ bytes: some Collection<UInt8>) throws -> Bool {
      try press.folder.write(bytes, to: name)
      let copy = SectionedIndex(isSectioned: true, rowsPerBlock: 4)
      guard let reader = press.file.read() else { return false }
      return copy.read(from: reader)
    }
    #expect(try isTaken(whole))
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      #expect(try !isTaken(bytes), "with byte \(place) changed")
      if place % 7 == 0 { #expect(try !isTaken(whole.prefix(place)), "with \(place) bytes") }
    }
    #expect(try !isTaken(whole + whole.suffix(32)))
    #expect(try isTaken(whole))
  }

  /// A program that writes such a file on purpose can make a list show wrong rows, and do no other harm.
  @Test("No file of whatever numbers ends the process", arguments: [0, 1, 30])
  func forgery(rows: Int) throws {
    let press = try Press()
    let whole = try press.written(index(rows: rows, sections: 6, rowsPerBlock: 4)).bytes
    var taken = 0
    for place in stride(from: 0, to: whole.count - 7, by: 4) {
      for value in [-1, 0, 1, 3, 1 << 31, 1 << 32, Int64.max, -1 << 32] {
        var bytes = whole
        for byte in 0..<8 { bytes[place + byte] = UInt8(truncatingIfNeeded: value >> Int64(8 * byte)) }
        var writer = CacheFile.Writer()
        writer.part(bytes)
        press.file.write(writer)
        let forged = SectionedIndex(isSectioned: true, rowsPerBlock: 4)
        if forged.read(from: try #require(press.file.read())) {
          taken += 1
          use(forged)
        }
      }
    }
    #expect(taken > 0)
  }

  private func use(_ index: SectionedIndex) {
    let ids = index.ids(in: 0..<index.count)
    _ = ListSnapshot(index).place(of: 3)
    for place in 0..<index.sectionCount { _ = index.section(at: place) }
    for id in ids {
      _ = index.path(of: id)
      _ = index.key(of: id)
    }
    _ = index.checkInvariants()
    let key = ListModel.key("s3", "n", id: 900)
    _ = index.apply([RowChange(id: 900, newKey: key)] + ids.prefix(9).map { RowChange(id: $0, newKey: key) })
    _ = index.apply(ids.map { RowChange(id: $0, newKey: nil) })
  }
}
