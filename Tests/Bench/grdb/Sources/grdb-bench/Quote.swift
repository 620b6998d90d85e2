import Foundation
import GRDB

struct Quote: FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "quote"

  enum Columns {
    static let id = Column("id")
    static let author = Column("author")
    static let title = Column("title")
    static let created = Column("created")
    static let price = Column("price")
  }

  var id: Int64?
  var author: String
  var title: String
  var created: Date
  var price: Double

  init(_ sample: Sample) {
    (author, title, created, price) = (sample.author, sample.title, sample.created, sample.price)
  }

  init(row: Row) {
    id = row[Columns.id]
    author = row[Columns.author]
    title = row[Columns.title]
    created = row[Columns.created]
    price = row[Columns.price]
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.id] = id
    container[Columns.author] = author
    container[Columns.title] = title
    container[Columns.created] = created
    container[Columns.price] = price
  }

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

  static var sorted: QueryInterfaceRequest<Quote> { order(Columns.author, Columns.id) }
}

/// What a list needs to know of all its rows: the ids in order and where each section ends.
struct Shown: Equatable {
  struct Section: Equatable {
    var name: String
    var count: Int
  }

  var ids: [Int64] = []
  var sections: [Section] = []

  static func fetch(_ database: Database) throws -> Shown {
    var shown = Shown()
    let rows = try Row.fetchCursor(database, Quote.sorted.select(Quote.Columns.id, Quote.Columns.author))
    while let row = try rows.next() {
      shown.ids.append(row[0])
      let author: String = row[1]
      if shown.sections.last?.name == author {
        shown.sections[shown.sections.count - 1].count += 1
      } else {
        shown.sections.append(Section(name: author, count: 1))
      }
    }
    return shown
  }

  var told: String {
    let counts = checksum(sections.lazy.map { Int64($0.count) })
    return "\(grdb_bench.told(ids)) in \(sections.count) sections \(counts)"
  }
}
