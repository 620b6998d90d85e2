import Testing

@testable import QuireCore

/// A context full of pending changes to books, their authors and the authors' passports, with the same facts in plain
/// structs beside it. Objects are numbers; what the library makes of them is compared with what the structs say.
final class Bookshop {
  struct Book: Equatable {
    var title: String?
    var price: Double?
    var author: Int?
  }

  struct Person: Equatable {
    var isAuthor = false
    var name: String?
    var age: Int64?
    var passport: Int?
  }

  struct Facts: Equatable {
    var books: [Int: Book] = [:]
    var persons: [Int: Person] = [:]
    /// Their numbers, which may be nil.
    var passports: [Int: String?] = [:]

    var all: Set<Int> { Set(books.keys).union(persons.keys).union(passports.keys) }
    func author(of book: Int) -> Person? { books[book]?.author.flatMap { persons[$0] } }
    func passport(of book: Int) -> String? { (author(of: book)?.passport).flatMap { passports[$0] ?? nil } }
  }

  static let names: [String?] = [nil, "", "Ann", "Anna", "Bob", "Zoe", "\u{e9}l", "ann"]
  static let titles: [String?] = [nil, "", "a", "A", "b", "\u{1F4D6}", "\u{FFFD}", "ab"]
  static let prices: [Double?] = [nil, -3, -0.0, 0, 1, 2, 2.5, 1e300, -.infinity]
  static let ages: [Int64?] = [nil, 0, 29, 30, 31, -5]
  static let numbers: [String?] = [nil, "P1", "P2", "P3"]

  let library: LibraryFixture
  let context: Context
  var dice: Dice
  private(set) var now = Facts()
  private(set) var saved = Facts()
  /// What has got through to the store.
  private(set) var stored = Facts()
  private var held: [Int: ManagedObject] = [:]
  private var ids: [Int: Int64] = [:]
  private var last = 0
  /// Called upon to change since `forgetTouched`, if only to the value that they had.
  private(set) var touched: Set<Int> = []

  /// As many `levels` of parents lie between the context and the store; saves get through to that now and then.
  init(seed: UInt64, levels: Int = 0) throws {
    library = try LibraryFixture()
    var context = Context(store: library.store)
    for _ in 0..<levels { context = Context(parent: context) }
    self.context = context
    dice = Dice(seed: seed)
    for _ in 0..<12 { try insert() }
    try save()
  }

  // MARK: Objects

  func id(_ number: Int) -> Int64 { held[number]?.id ?? ids[number] ?? 0 }

  func object(_ number: Int) throws -> ManagedObject {
    if let object = held[number] { return object }
    let entity =
      now.books[number] != nil ? "Book" : now.persons[number] != nil ? "Person" : "Passport"
    let object = try context.existingObject(entityNamed: entity, id: id(number))
    held[number] = object
    return object
  }

  /// Ascending by the tie-break: permanent ids first, then temporary ones, oldest first.
  func isBefore(_ left: Int, _ right: Int) -> Bool { precedes(id(left), id(right)) }

  func precedes(_ left: Int64, _ right: Int64) -> Bool {
    left > 0 && right > 0 ? left < right : left > 0 || (right < 0 && left > right)
  }

  /// Lets go of what is not pending; it is read anew when next asked for.
  func forget() {
    for (number, object) in held {
      ids[number] = object.id
      if object.state == .saved { held[number] = nil }
    }
  }

  func value(_ text: String?) -> Value { text.map { .text($0) } ?? .nil }

  /// What was undone or redone is the state that was.
  func jump(to facts: Facts) {
    for (number, object) in held { ids[number] = object.id }
    held = [:]
    now = facts
  }

  private func set(_ number: Int, _ key: String, _ value: Value) throws {
    touched.insert(number)
    if case .object = value { touched.insert(0) }  // and what it held or holds
    if value.isNil, key == "author" || key == "passport" { touched.insert(0) }
    let object = try object(number)
    try object.set(value, for: object.entity.property(named: key))
  }

  private func reference(_ number: Int?) throws -> Value {
    try number.map { .object(try object($0).reference) } ?? .nil
  }

  // MARK: Steps

  /// A random change; nothing is processed, saved or dropped.
  func change() throws {
    switch dice.roll(10) {
    case 0: try insert()
    case 1 where now.all.count > 10: try delete(dice.pick(now.all.sorted()) ?? 0)
    case 2, 3: try changePerson()
    case 4: try changePassport()
    default: try changeBook()
    }
  }

  func insert() throws {
    last += 1
    switch dice.roll(6) {
    case 0:
      held[last] = try context.insert(entityNamed: "Passport")
      now.passports[last] = .some(nil)
      let number = dice.pick(Self.numbers) ?? nil
      try set(last, "number", value(number))
      now.passports[last] = .some(number)
    case 1, 2:
      let isAuthor = dice.chance(1, of: 2)
      held[last] = try context.insert(entityNamed: isAuthor ? "Author" : "Person")
      now.persons[last] = Person(isAuthor: isAuthor)
      try changePerson(last)
    default:
      held[last] = try context.insert(entityNamed: "Book")
      now.books[last] = Book()
      try changeBook(last)
    }
  }

  func delete(_ number: Int) throws {
    guard now.all.contains(number) else { return }
    let object = try object(number)
    try context.delete(object)
    ids[number] = object.id
    held[number] = nil
    now.books[number] = nil
    now.persons[number] = nil
    now.passports[number] = nil
    for book in now.books.keys where now.books[book]?.author == number { now.books[book]?.author = nil }
    release(passport: number)
  }

  func changeBook(_ given: Int? = nil) throws {
    guard let number = given ?? dice.pick(now.books.keys.sorted()) else { return }
    switch dice.roll(3) {
    case 0:
      let title = dice.pick(Self.titles) ?? nil
      try set(number, "title", value(title))
      now.books[number]?.title = title
    case 1:
      let price = dice.pick(Self.prices) ?? nil
      try set(number, "price", price.map { .double($0) } ?? .nil)
      now.books[number]?.price = Self.kept(price)
    default:
      let author = dice.chance(4, of: 5) ? dice.pick(now.persons.keys.sorted()) : nil
      try set(number, "author", reference(author))
      now.books[number]?.author = author
    }
  }

  func changePerson(_ given: Int? = nil) throws {
    guard let number = given ?? dice.pick(now.persons.keys.sorted()) else { return }
    switch dice.roll(3) {
    case 0:
      let age = dice.pick(Self.ages) ?? nil
      try set(number, "age", age.map { .integer($0) } ?? .nil)
      now.persons[number]?.age = age
    case 1:
      let passport = dice.chance(3, of: 4) ? dice.pick(now.passports.keys.sorted()) : nil
      try set(number, "passport", reference(passport))
      if let passport { release(passport: passport) }
      now.persons[number]?.passport = passport
    default:
      let name = dice.pick(Self.names) ?? nil
      try set(number, "name", value(name))
      now.persons[number]?.name = name
    }
  }

  private func release(passport: Int) {
    for person in now.persons.keys where now.persons[person]?.passport == passport {
      now.persons[person]?.passport = nil
    }
  }

  func changePassport() throws {
    guard let number = dice.pick(now.passports.keys.sorted()) else { return }
    let text = dice.pick(Self.numbers) ?? nil
    try set(number, "number", value(text))
    now.passports[number] = .some(text)
  }

  /// Delegates are told before and after, when they may change more, but not in between.
  func save() throws {
    try context.process()
    saved = now
    try context.save()
    var above = context.parent
    if above == nil { stored = saved }
    while let parent = above, dice.chance(1, of: 2) {
      try parent.save()
      above = parent.parent
      if above == nil { stored = saved }
    }
    for (number, object) in held { ids[number] = object.id }
  }

  /// Delegates may change more while the context tells of it.
  func rollback() throws {
    now = saved
    // The save that called the delegate has not come to this yet.
    for (number, object) in held where object.id > 0 { ids[number] = object.id }
    held = [:]
    try context.rollback()
  }

  // MARK: Batch requests

  /// Those of an entity that are in the store and fulfil a filter there.
  private func savedMatches(_ query: BookshopQuery) -> [Int] { query.result(saved, self) }

  /// Sets a property of what is stored. A pending change of that property stays.
  func batchUpdate() throws {
    var query = BookshopQuery()
    switch dice.roll(4) {
    case 0:
      (query.format, query.holds) = dice.pick(BookshopQuery.bookFilters) ?? BookshopQuery.bookFilters[0]
      let title = dice.pick(Self.titles) ?? nil, price = dice.pick(Self.prices) ?? nil
      let matches = savedMatches(query)
      try runUpdate(query, ["title": value(title), "price": price.map { .double($0) } ?? .nil], matches)
      for book in matches {
        if now.books[book]?.title == saved.books[book]?.title { now.books[book]?.title = title }
        if now.books[book]?.price == saved.books[book]?.price { now.books[book]?.price = Self.kept(price) }
        saved.books[book]?.title = title
        saved.books[book]?.price = Self.kept(price)
      }
    case 1:
      (query.format, query.holds) = dice.pick(BookshopQuery.bookFilters) ?? BookshopQuery.bookFilters[0]
      let authors = saved.persons.keys.filter { now.persons[$0] != nil }.sorted()
      let author = dice.chance(3, of: 4) ? dice.pick(authors) : nil
      let matches = savedMatches(query)
      try runUpdate(query, ["author": reference(author)], matches)
      for book in matches {
        if now.books[book]?.author == saved.books[book]?.author { now.books[book]?.author = author }
        saved.books[book]?.author = author
      }
    case 2:
      query.entity = "Person"
      (query.format, query.holds) = dice.pick(BookshopQuery.personFilters) ?? BookshopQuery.personFilters[0]
      let age = dice.pick(Self.ages) ?? nil
      let matches = savedMatches(query)
      try runUpdate(query, ["age": age.map { .integer($0) } ?? .nil], matches)
      for person in matches {
        if now.persons[person]?.age == saved.persons[person]?.age { now.persons[person]?.age = age }
        saved.persons[person]?.age = age
      }
    default:
      query.entity = "Person"
      (query.format, query.holds) = dice.pick(BookshopQuery.personFilters) ?? BookshopQuery.personFilters[0]
      let matches = savedMatches(query)
      try runUpdate(query, ["passport": .nil], matches)
      for person in matches {
        if now.persons[person]?.passport == saved.persons[person]?.passport { now.persons[person]?.passport = nil }
        saved.persons[person]?.passport = nil
      }
    }
  }

  /// A price as an object holds it: the file has no negative zero, so writing one over a zero changes nothing.
  private static func kept(_ price: Double?) -> Double? { price == 0 ? 0 : price }

  private func runUpdate(_ query: BookshopQuery, _ values: [String: Value], _ matches: [Int]) throws {
    let rows = try context.update(query.request(), values.map { ($0.key, $0.value) }, merges: true)
    try #require(rows.map(\.id) == matches.map(id))
  }

  /// Deletes what is stored, and with it what is pending of it.
  func batchDelete() throws {
    var query = BookshopQuery()
    query.entity = dice.pick(["Book", "Person", "Author"]) ?? "Book"
    let filters = query.entity == "Book" ? BookshopQuery.bookFilters : BookshopQuery.personFilters
    (query.format, query.holds) = dice.pick(filters) ?? filters[0]
    query.sort = [(query.entity == "Book" ? "title" : "name", dice.chance(1, of: 2))]
    let matches = Array(savedMatches(query).dropFirst(1).prefix(2))
    let request = try query.request()
    request.offset = 1
    request.limit = 2
    let rows = try context.delete(request, merges: true)
    try #require(rows.map(\.id) == matches.map(id))
    for number in matches {
      for keyPath in [\Bookshop.now, \Bookshop.saved] {
        self[keyPath: keyPath].books[number] = nil
        self[keyPath: keyPath].persons[number] = nil
        for book in self[keyPath: keyPath].books.keys where self[keyPath: keyPath].books[book]?.author == number {
          self[keyPath: keyPath].books[book]?.author = nil
        }
      }
      held[number] = nil
    }
  }

  /// Inserts books into the store.
  func batchInsert() throws {
    let titles = (0...dice.roll(3)).map { _ in dice.pick(Self.titles) ?? nil }
    let rows = try context.insertIntoStore(entityNamed: "Book", keys: ["title"], rowCount: titles.count, merges: true) {
      (_, row) throws(Failure) in
      titles[row].map { .text($0) } ?? .nil
    }
    for (row, title) in zip(rows, titles) {
      last += 1
      ids[last] = row.id
      now.books[last] = Book(title: title)
      saved.books[last] = Book(title: title)
    }
  }

  func forgetTouched() { touched = [] }

  func obtainPermanentIDs() throws { try context.obtainPermanentIDs() }
}

extension Context {
  @discardableResult
  func update(
    _ request: FetchRequest, _ values: [(key: String, value: Value)], merges: Bool
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try update(request, values.map { (key: $0.key, value: FormatArgument.value($0.value)) }, merges: merges)
  }
}
