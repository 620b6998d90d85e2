import Foundation
import GRDB

/// One case on a copy of a file; each function gives its answer and samples, in seconds or bytes a row.
final class Run {
  typealias Found = (answer: String, samples: [Double])

  let rows: Int
  let folder: String
  let most: Int
  let path: String
  private var pool: DatabasePool!
  private let checked = 3
  private let patience = 8.0

  init(rows: Int, folder: String, isQuick: Bool) {
    self.rows = rows
    self.folder = folder
    most = isQuick ? 2 : 11
    path = "\(folder)/grdb-\(ProcessInfo.processInfo.processIdentifier).sqlite"
  }

  static let cases: [String: (Run) throws -> Found] = [
    "insert.bulk": { try $0.insertBulk() }, "insert.objects": { try $0.insertObjects() },
    "fetch.first": { try $0.fetchFirst() }, "ids": { try $0.ids() }, "objects": { try $0.objects() },
    "window": { try $0.window() }, "window.ids": { try $0.windowIDs() }, "filter": { try $0.filter() },
    "contains": { try $0.contains() }, "open": { try $0.openFile() }, "live.one": { try $0.liveOne() },
    "live.thousand": { try $0.liveThousand() }, "live.insert": { try $0.liveInsert() },
    "live.delete": { try $0.liveDelete() },
    "cascade.batch": { try $0.cascadeBatch() }, "memory.list": { try $0.memoryList() },
    "memory.objects": { try $0.memoryObjects() },
  ]

  // MARK: Files

  private func open(_ kind: String = "plain", of count: Int? = nil) throws {
    remove()
    try FileManager.default.copyItem(atPath: "\(folder)/\(kind)-\(count ?? rows).sqlite", toPath: path)
    try connect()
  }

  /// A pool has a write-ahead log and synchronous=NORMAL, and foreign keys.
  private func connect() throws { pool = try DatabasePool(path: path) }

  func remove() {
    pool = nil
    for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
  }

  // MARK: Time

  private func timed(_ work: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    try work()
    return Double(DispatchTime.now().uptimeNanoseconds - start) * 1e-9
  }

  private func repeated(_ most: Int, _ work: () throws -> Double) rethrows -> [Double] {
    var samples: [Double] = []
    while samples.count < most && samples.reduce(0, +) < patience { samples.append(try work()) }
    return samples
  }

  // MARK: Inserting

  private func insertBulk() throws -> Found {
    let samples = (0..<rows).map { Sample($0, of: rows) }
    return try insert { database, range in
      let statement = try database.makeStatement(
        sql: "INSERT INTO quote (author, title, created, price) VALUES (?, ?, ?, ?)")
      for sample in samples[range] {
        try statement.execute(arguments: [sample.author, sample.title, sample.created, sample.price])
      }
    }
  }

  private func insertObjects() throws -> Found {
    let samples = (0..<rows).map { Sample($0, of: rows) }
    return try insert { database, range in
      for sample in samples[range] {
        var quote = Quote(sample)
        try quote.insert(database)
      }
    }
  }

  private func insert(_ work: (Database, Range<Int>) throws -> Void) throws -> Found {
    let samples = try repeated(min(most, 3)) {
      try open(of: 0)
      return try timed {
        for first in stride(from: 0, to: rows, by: Sample.atOnce) {
          try pool.write { try work($0, first..<min(first + Sample.atOnce, rows)) }
        }
      }
    }
    return (told(try fetchIDs()), samples)
  }

  // MARK: Reading

  private func fetchIDs() throws -> [Int64] {
    try pool.read { try Int64.fetchAll($0, Quote.sorted.select(Quote.Columns.id)) }
  }

  private func fetchFirst() throws -> Found {
    var shown = Shown()
    let samples = try repeated(min(most, 5)) {
      try open()
      return try timed { shown = try pool.read(Shown.fetch) }
    }
    return (shown.told, samples)
  }

  private func ids() throws -> Found {
    try open()
    let ids = try fetchIDs()
    return (told(ids), try repeated(most) { try timed { _ = try fetchIDs() } })
  }

  private func objects() throws -> Found {
    try open()
    var letters = 0
    let samples = try repeated(min(most, 5)) {
      try timed {
        letters = try pool.read { try Quote.sorted.fetchAll($0).reduce(0) { $0 + $1.title.utf8.count } }
      }
    }
    return ("\(letters) letters", samples)
  }

  private func toldWindow(_ quotes: [Quote]) -> String {
    let letters = quotes.reduce(0) { $0 + $1.author.utf8.count + $1.title.utf8.count }
    let cents = quotes.reduce(0) { $0 + Int(($1.price * 100).rounded()) }
    return "\(quotes.count) rows, \(letters) letters, \(cents) cents"
  }

  private func windows(_ read: (Int) throws -> [Quote]) throws -> Found {
    let checkedWindows = try (0..<checked).map { toldWindow(try read(Sample.windowPlace($0, of: rows))) }
    let answer = checkedWindows.joined(separator: "; ")
    var turn = checked
    let samples = try repeated(57) {
      turn += 1
      return try timed { _ = try read(Sample.windowPlace(turn, of: rows)) }
    }
    return (answer, samples)
  }

  private func window() throws -> Found {
    try open()
    return try windows { place in
      try pool.read { try Quote.sorted.limit(Sample.window, offset: place).fetchAll($0) }
    }
  }

  private func windowIDs() throws -> Found {
    try open()
    let ids = try fetchIDs()
    return try windows { place in
      let wanted = Array(ids[place..<place + Sample.window])
      let found = try pool.read { try Quote.filter(wanted.contains(Quote.Columns.id)).fetchAll($0) }
      let byID = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
      return wanted.compactMap { byID[$0] }
    }
  }

  private func filter() throws -> Found {
    try open()
    let request = Quote.filter(Quote.Columns.title.like("%77%") && Quote.Columns.price < 500)
      .order(Quote.Columns.price.desc, Quote.Columns.id).limit(Sample.window)
    let found = try pool.read { try request.fetchAll($0) }
    let samples = try repeated(most) { try timed { _ = try pool.read { try request.fetchAll($0) } } }
    return (told(found.compactMap(\.id)), samples)
  }

  private func contains() throws -> Found {
    try open()
    let request = Quote.filter(Quote.Columns.title.like("%42 OF THE%")).order(Quote.Columns.id).select(Quote.Columns.id)
    let found = try pool.read { try Int64.fetchAll($0, request) }
    let samples = try repeated(most) { try timed { _ = try pool.read { try Int64.fetchAll($0, request) } } }
    return (told(found), samples)
  }

  private func openFile() throws -> Found {
    try open()
    var title = ""
    let samples = try repeated(21) {
      pool = nil
      return try timed {
        try connect()
        title = try pool.read { try Quote.fetchOne($0, key: 1)?.title ?? "" }
      }
    }
    return (title, samples)
  }

  // MARK: Changes

  /// `prepared` gives a change, which is timed until the list has followed it.
  private func changes(_ most: Int, _ prepared: (Int) throws -> (Database) throws -> Void) throws -> Found {
    try open()
    let list = LiveList(pool)
    var turn = 0
    func change() throws -> Double {
      let write = try prepared(turn)
      turn += 1
      return try timed { try list.following { try pool.write(write) } }
    }
    for _ in 0..<checked { _ = try change() }
    let answer = list.shown.told
    return (answer, try repeated(most, change))
  }

  private func quote(_ turn: Int) throws -> Quote {
    let id = Sample.changedID(turn, of: rows)
    guard let found = try pool.read({ try Quote.fetchOne($0, key: id) }) else {
      throw DatabaseError(message: "There is no quote \(id).")
    }
    return found
  }

  private var single: Int { most < 5 ? most : 51 }

  private func liveOne() throws -> Found {
    try changes(single) { turn in
      var quote = try quote(turn)
      quote.author = Sample.newAuthor(turn, of: rows)
      return { try quote.update($0, columns: [Quote.Columns.author]) }
    }
  }

  private func liveDelete() throws -> Found {
    try changes(single) { turn in
      let quote = try quote(turn)
      return { _ = try quote.delete($0) }
    }
  }

  private func liveInsert() throws -> Found {
    try changes(single) { turn in
      let sample = Sample(rows + turn, of: rows)
      return { database in
        var quote = Quote(sample)
        try quote.insert(database)
      }
    }
  }

  private func liveThousand() throws -> Found {
    let count = min(1000, rows)
    return try changes(most) { turn in
      let quotes = try (turn * count..<(turn + 1) * count).map { each in
        var quote = try quote(each)
        quote.author = Sample.newAuthor(each, of: rows)
        return quote
      }
      return { database in
        for quote in quotes { try quote.update(database, columns: [Quote.Columns.author]) }
      }
    }
  }

  private func cascadeBatch() throws -> Found {
    let samples = try repeated(min(most, 3)) {
      try open("plain-tree")
      return try timed { try pool.write { try $0.execute(sql: "DELETE FROM folder WHERE id = 1") } }
    }
    let left = try pool.read {
      try Int.fetchOne($0, sql: "SELECT (SELECT count(*) FROM folder) + (SELECT count(*) FROM file)") ?? -1
    }
    return ("\(left) left", samples)
  }

  // MARK: Memory

  private func resident() throws -> Double {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return Double(text.split(separator: " ")[1])! * Double(sysconf(Int32(_SC_PAGESIZE)))
  }

  private func held<Value>(_ make: () throws -> Value) throws -> Found {
    try open()
    _ = try pool.read { try Quote.filter(Quote.Columns.price >= 0).fetchCount($0) }
    let before = try resident()
    let kept = try make()
    let taken = try resident() - before
    return withExtendedLifetime(kept) { ("\(rows) rows", [max(taken, 0) / Double(rows)]) }
  }

  private func memoryList() throws -> Found { try held { try pool.read(Shown.fetch) } }

  private func memoryObjects() throws -> Found { try held { try pool.read { try Quote.sorted.fetchAll($0) } } }
}
