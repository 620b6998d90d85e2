@testable import QuireCore

/// A request and what it must give, worked out by sorting and filtering everything in plain Swift.
struct BookshopQuery {
  typealias Facts = Bookshop.Facts

  /// What a key path reads, with the order that the library gives it.
  enum Cell: Comparable {
    case none
    case number(Double)
    case bytes([UInt8])
    /// An object; temporary ids follow the permanent ones, oldest first.
    case object(isTemporary: Bool, UInt64)

    static func < (left: Cell, right: Cell) -> Bool {
      switch (left, right) {
      case (.none, .none): false
      case (.none, _): true
      case (.number(let left), .number(let right)): left < right
      case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
      case (.object(let isTemporary, let left), .object(let other, let right)):
        isTemporary == other ? left < right : other
      default: false
      }
    }

    init(_ text: String?) { self = text.map { .bytes(Array($0.utf8)) } ?? .none }
    init(_ number: Double?) { self = number.map { .number($0) } ?? .none }
    init(_ number: Int64?) { self = number.map { .number(Double($0)) } ?? .none }
    init(id: Int64?) { self = id.map { .object(isTemporary: $0 < 0, $0.magnitude) } ?? .none }
  }

  typealias Filter = (format: String, holds: @Sendable (Facts, Int) -> Bool)

  static let bookFilters: [Filter] = [
    ("TRUEPREDICATE", { _, _ in true }),
    ("title == nil", { $0.books[$1]?.title == nil }),
    ("title != 'a'", { $0.books[$1]?.title != "a" }),
    ("price > 1", { ($0.books[$1]?.price ?? 0) > 1 }),
    ("price BETWEEN {0, 2}", { facts, book in facts.books[book]?.price.map { $0 >= 0 && $0 <= 2 } ?? false }),
    ("author == nil", { $0.books[$1]?.author == nil }),
    ("author.name == 'Ann'", { $0.author(of: $1)?.name == "Ann" }),
    ("author.name == nil", { $0.author(of: $1)?.name == nil }),
    ("author.name BEGINSWITH[c] 'an'", { $0.author(of: $1)?.name?.lowercased().hasPrefix("an") ?? false }),
    ("NOT (author.name IN {'Bob', 'Zoe'})", { !["Bob", "Zoe"].contains($0.author(of: $1)?.name) }),
    ("author.age >= 30 OR title == 'b'", { ($0.author(of: $1)?.age ?? 0) >= 30 || $0.books[$1]?.title == "b" }),
    ("author.passport.number == 'P1'", { $0.passport(of: $1) == "P1" }),
    ("author.passport.number != nil AND price != nil", { $0.passport(of: $1) != nil && $0.books[$1]?.price != nil }),
    ("author.passport == nil", { $0.author(of: $1)?.passport == nil }),
  ]

  static let personFilters: [Filter] = [
    ("TRUEPREDICATE", { _, _ in true }),
    ("name CONTAINS 'n'", { $0.persons[$1]?.name?.contains("n") ?? false }),
    ("age < 30", { facts, person in facts.persons[person]?.age.map { $0 < 30 } ?? false }),
    (
      "passport.number == 'P2'",
      { facts, person in (facts.persons[person]?.passport).flatMap { facts.passports[$0] } == "P2" }
    ),
  ]

  static let bookKeys = [
    "title", "price", "author", "author.name", "author.age", "author.passport.number", "author.passport",
  ]
  static let personKeys = ["name", "age", "passport", "passport.number"]

  var entity = "Book"
  var includesSubentities = true
  var format = "TRUEPREDICATE"
  var holds: (Facts, Int) -> Bool = { _, _ in true }
  var sort: [(key: String, isAscending: Bool)] = []
  /// For controllers; `result` knows nothing of them.
  var offset = 0
  var limit: Int?

  init() {}

  /// A random one.
  init(_ dice: inout Dice) {
    entity = dice.pick(["Book", "Book", "Person", "Author", "Party"]) ?? "Book"
    includesSubentities = dice.chance(2, of: 3)
    var filters = Self.bookFilters, keys = Self.bookKeys
    if entity != "Book" {
      // A party has a name alone.
      filters = entity == "Party" ? Array(Self.personFilters.prefix(2)) : Self.personFilters
      keys = entity == "Party" ? ["name"] : Self.personKeys
    }
    if let filter = dice.pick(filters) { (format, holds) = filter }
    for _ in 0..<dice.roll(4) {
      if let key = dice.pick(keys) { sort.append((key, dice.chance(1, of: 2))) }
    }
  }

  func request() throws -> FetchRequest {
    let request = FetchRequest(entityName: entity)
    request.includesSubentities = includesSubentities
    request.offset = offset
    request.limit = limit
    if format != "TRUEPREDICATE" { request.predicate = try Predicate.parse(Text(format)) }
    request.sort = sort.map { key, isAscending in
      SortDescriptor(keyPath: key.split(separator: ".").map(String.init), isAscending: isAscending)
    }
    return request
  }

  /// What offset and limit leave of the result, in this order.
  func window(_ facts: Facts, _ shop: Bookshop) -> [Int] {
    let rest = result(facts, shop).dropFirst(offset)
    return Array(rest.prefix(limit ?? rest.count))
  }

  func cell(_ key: String, of number: Int, in facts: Facts, _ shop: Bookshop) -> Cell {
    let book = facts.books[number], author = facts.author(of: number), person = facts.persons[number]
    switch key {
    case "title": return Cell(book?.title)
    case "price": return Cell(book?.price)
    case "author": return Cell(id: book?.author.map(shop.id))
    case "author.name": return Cell(author?.name)
    case "author.age": return Cell(author?.age)
    case "author.passport": return Cell(id: author?.passport.map(shop.id))
    case "author.passport.number": return Cell(facts.passport(of: number))
    case "name": return Cell(person?.name)
    case "age": return Cell(person?.age)
    case "passport": return Cell(id: person?.passport.map(shop.id))
    default: return Cell((person?.passport).flatMap { facts.passports[$0] ?? nil })
    }
  }

  /// The numbers of the objects in the result, in order.
  func result(_ facts: Facts, _ shop: Bookshop) -> [Int] {
    var candidates: [Int]
    switch entity {
    case "Book": candidates = Array(facts.books.keys)
    case "Author": candidates = facts.persons.filter(\.value.isAuthor).map(\.key)
    case "Person": candidates = facts.persons.filter { includesSubentities || !$0.value.isAuthor }.map(\.key)
    default: candidates = includesSubentities ? Array(facts.persons.keys) : []
    }
    candidates = candidates.filter { holds(facts, $0) }
    let rows = candidates.map { number in (number, sort.map { cell($0.key, of: number, in: facts, shop) }) }
    return rows.sorted { left, right in
      for (place, key) in sort.enumerated() where left.1[place] != right.1[place] {
        return (left.1[place] < right.1[place]) == key.isAscending
      }
      return shop.isBefore(left.0, right.0)
    }.map(\.0)
  }
}
