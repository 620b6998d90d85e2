@testable import QuireCore

/// A section rule, and what it makes of the objects of the bookshop, worked out in plain Swift.
struct SectionSketch {
  typealias Facts = Bookshop.Facts
  typealias Place = (order: BookshopQuery.Cell, name: String)

  let entity: String
  let format: String
  let grouping: SectionGrouping
  var isDescending = false
  /// Values, and how the sections are called.
  var fixed: [(value: Value, name: String)] = []
  /// Where a section stands among the others, and how it is called.
  let place: @Sendable (Facts, Int) -> Place

  func rule() throws -> SectionRule {
    try SectionRule(
      Expression.parse(Text(format)), grouping, isDescending: isDescending, fixed: fixed.map(\.value))
  }

  /// The numbers of objects, gathered: first the fixed sections, and of each the objects in the order that they have.
  func sections(_ numbers: [Int], _ facts: Facts) -> [(name: String, numbers: [Int])] {
    var named: [(name: String, numbers: [Int])] = fixed.map { ($0.name, []) }
    var others: [(place: Place, numbers: [Int])] = []
    for number in numbers {
      let place = place(facts, number)
      if let index = named.firstIndex(where: { $0.name == place.name }) {
        named[index].numbers.append(number)
      } else if let index = others.firstIndex(where: { $0.place.name == place.name }) {
        others[index].numbers.append(number)
      } else {
        others.append((place, [number]))
      }
    }
    others.sort { isDescending ? $1.place.order < $0.place.order : $0.place.order < $1.place.order }
    return named + others.map { ($0.place.name, $0.numbers) }
  }

  private static func text(_ text: String) -> Place { (BookshopQuery.Cell(text == "" ? nil : text), text) }

  private static func number(_ number: Double?, _ name: String) -> Place { (BookshopQuery.Cell(number), name) }

  @Sendable private static func letter(_ name: String?) -> Place {
    guard let name, let first = name.uppercased().first else { return text("") }
    return text(first == "\u{c9}" ? "E" : String(first))
  }

  @Sendable private static func step(_ value: Double?, width: Double, origin: Double) -> Place {
    guard let value else { return number(nil, "") }
    if value.isInfinite || value > 1e15 { return number(value, "\(value)") }
    let bound = origin + ((value - origin) / width).rounded(.down) * width
    return number(bound, "\(Int(bound))")
  }

  static let all: [SectionSketch] = [
    SectionSketch(entity: "Book", format: "author.name", grouping: .letter(locales: ["en"])) { facts, book in
      letter(facts.author(of: book)?.name)
    },
    SectionSketch(
      entity: "Book", format: "author.name", grouping: .letter(locales: ["de"]), isDescending: true,
      fixed: [(.text("Z"), "Z"), (.text("A"), "A"), (.text("Q"), "Q")]
    ) { facts, book in letter(facts.author(of: book)?.name) },
    SectionSketch(entity: "Book", format: "price", grouping: .step(width: 2, origin: 1), isDescending: true) {
      facts, book in step(facts.books[book]?.price, width: 2, origin: 1)
    },
    SectionSketch(entity: "Book", format: "price", grouping: .bounds([0, 2])) { facts, book in
      guard let price = facts.books[book]?.price else { return number(nil, "") }
      return price < 0 ? number(-.infinity, "<0") : price < 2 ? number(0, "0") : number(2, "2")
    },
    SectionSketch(
      entity: "Book", format: "TERNARY(price > 1, 'dear', 'cheap')", grouping: .value,
      fixed: [(.text("cheap"), "cheap"), (.text("free"), "free"), (.text("dear"), "dear")]
    ) { facts, book in text((facts.books[book]?.price ?? 0) > 1 ? "dear" : "cheap") },
    SectionSketch(entity: "Book", format: "author.books.@count", grouping: .value, isDescending: true) { facts, book in
      guard let author = facts.books[book]?.author else { return number(nil, "") }
      let count = facts.books.values.count { $0.author == author }
      return number(Double(count), "\(count)")
    },
    SectionSketch(entity: "Book", format: "title.length", grouping: .value) { facts, book in
      guard let length = facts.books[book]?.title?.unicodeScalars.count else { return number(nil, "") }
      return number(Double(length), "\(length)")
    },
    SectionSketch(entity: "Book", format: "author.age + 1", grouping: .value, fixed: [(.integer(31), "31")]) {
      facts, book in
      guard let age = facts.author(of: book)?.age else { return number(nil, "") }
      return number(Double(age + 1), "\(age + 1)")
    },
    SectionSketch(
      entity: "Person", format: "age", grouping: .step(width: 10, origin: 0), fixed: [(.integer(34), "30"), (.nil, "")]
    ) { facts, person in step((facts.persons[person]?.age).map(Double.init), width: 10, origin: 0) },
    SectionSketch(entity: "Person", format: "passport.number", grouping: .letter(locales: [""])) { facts, person in
      let number = (facts.persons[person]?.passport).flatMap { facts.passports[$0] ?? nil }
      return letter(number)
    },
  ]
}
