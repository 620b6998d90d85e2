@testable import QuireCore

/// An aggregate, with its value worked out from all rows in plain Swift.
struct AggregateSketch {
  typealias Facts = Bookshop.Facts

  let format: String
  let value: @Sendable (Facts, [Int]) -> Value

  static func all(_ entity: String) -> [AggregateSketch] { entity == "Book" ? books : persons }

  /// Parties have a name alone.
  private static let persons = [
    AggregateSketch(format: "count:(SELF)") { .integer(Int64($1.count)) },
    AggregateSketch(format: "count:(name)") { facts, rows in .integer(Int64(names(facts, rows).count)) },
    AggregateSketch(format: "min:(name)") { text(names($0, $1).min(by: precedes)) },
    AggregateSketch(format: "max:(name)") { text(names($0, $1).max(by: precedes)) },
  ]

  private static let books = [
    AggregateSketch(format: "count:(SELF)") { .integer(Int64($1.count)) },
    AggregateSketch(format: "count:(author)") { facts, rows in
      .integer(Int64(rows.count { facts.author(of: $0) != nil }))
    },
    AggregateSketch(format: "sum:(price)") { sum(prices($0, $1)) },
    AggregateSketch(format: "average:(price)") { average(prices($0, $1)) },
    AggregateSketch(format: "min:(price)") { number(prices($0, $1).min()) },
    AggregateSketch(format: "max:(price)") { number(prices($0, $1).max()) },
    AggregateSketch(format: "min:(title)") { facts, rows in
      text(rows.compactMap { facts.books[$0]?.title }.min(by: precedes))
    },
    AggregateSketch(format: "max:(author.name)") { facts, rows in
      text(rows.compactMap { facts.author(of: $0)?.name }.max(by: precedes))
    },
    AggregateSketch(format: "sum:(author.age)") { .integer(ages($0, $1).reduce(0, +)) },
    AggregateSketch(format: "max:(author.age)") { ages($0, $1).max().map { .integer($0) } ?? .nil },
    AggregateSketch(format: "sum:(price * author.age)") { facts, rows in
      sum(
        rows.compactMap { row in
          guard let price = facts.books[row]?.price, let age = facts.author(of: row)?.age else { return nil }
          return price * Double(age)
        })
    },
    // Others than those in the list take part.
    AggregateSketch(format: "max:(author.books.@count)") { facts, rows in
      let counts = rows.map { row in
        facts.books[row]?.author.map { author in Int64(facts.books.values.count { $0.author == author }) }
      }
      return counts.compactMap(\.self).max().map { .integer($0) } ?? .nil
    },
    AggregateSketch(format: "sum:(price) / count:(SELF)") { facts, rows in
      if rows.isEmpty { return .nil }
      if case .double(let sum) = sum(prices(facts, rows)) { return .double(sum / Double(rows.count)) }
      return .integer(0)
    },
  ]

  private static func prices(_ facts: Facts, _ rows: [Int]) -> [Double] { rows.compactMap { facts.books[$0]?.price } }
  private static func ages(_ facts: Facts, _ rows: [Int]) -> [Int64] { rows.compactMap { facts.author(of: $0)?.age } }
  private static func names(_ facts: Facts, _ rows: [Int]) -> [String] { rows.compactMap { facts.persons[$0]?.name } }
  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
  private static func text(_ text: String?) -> Value { text.map { .text($0) } ?? .nil }
  private static func number(_ number: Double?) -> Value { number.map { .double($0) } ?? .nil }
  private static func sum(_ numbers: [Double]) -> Value { numbers.isEmpty ? .integer(0) : .double(exactSum(numbers)) }
  private static func average(_ numbers: [Double]) -> Value {
    numbers.isEmpty ? .nil : .double(exactSum(numbers) / Double(numbers.count))
  }

  /// The nearest double to the sum: what rounding loses is added as numbers of their own, until nothing is lost.
  static func exactSum(_ numbers: [Double]) -> Double {
    if !numbers.allSatisfy(\.isFinite) { return numbers.filter { !$0.isFinite }.reduce(0, +) }
    var parts: [Double] = []
    for number in numbers {
      var next = number
      var rest: [Double] = []
      for part in parts {
        let (great, small) = abs(next) < abs(part) ? (part, next) : (next, part)
        next = great + small
        let lost = small - (next - great)
        if lost != 0 { rest.append(lost) }
      }
      parts = rest + [next]
    }
    var sum = parts.popLast() ?? 0
    while let part = parts.popLast() {
      let before = sum
      sum = before + part
      let lost = part - (sum - before)
      if lost == 0 { continue }
      // Halfway between two doubles, what is left decides.
      if let next = parts.last, (next < 0) == (lost < 0), (sum + 2 * lost) - sum == 2 * lost { sum += 2 * lost }
      break
    }
    return sum
  }
}

/// What a controller's aggregates are, and what they are told to have become.
struct AggregateMirror {
  var whole: [Value] = []
  var sections: [[Value]] = []

  init() {}

  init(_ controller: ResultsController) {
    let names = controller.listing.aggregates.formulas.map(\.name.string)
    func values(_ section: Int?) -> [Value] {
      names.map { (try? controller.aggregate($0, of: section).value) ?? .text("a failure") }
    }
    whole = values(nil)
    sections = (0..<controller.sectionCount).map { values($0) }
  }

  func isSame(as other: AggregateMirror) -> Bool {
    ([whole] + sections).elementsEqual([other.whole] + other.sections) { $0.elementsEqual($1, by: Value.areSame) }
  }

  /// Applies what was told; gives what is wrong with it.
  mutating func apply(_ report: ChangeSet, _ names: [Text]) -> String? {
    for change in report.sectionChanges {
      if change.kind == .delete { sections.remove(at: change.index) } else { sections.insert([], at: change.index) }
    }
    for change in report.aggregateChanges {
      guard let place = names.firstIndex(of: change.name) else { return "an aggregate without a name" }
      if change.section >= 0, sections[change.section].count < place { return "a new section without all aggregates" }
      if change.section >= 0, sections[change.section].count == place {
        sections[change.section].append(change.value)
        continue
      }
      let old = change.section < 0 ? whole[place] : sections[change.section][place]
      if change.value.isIdentical(to: old) { return "an aggregate that is told and has not changed" }
      if change.section < 0 { whole[place] = change.value } else { sections[change.section][place] = change.value }
    }
    return nil
  }
}
