import Foundation

/// The rows and changes that every contender has; `sample.py` and `quotes.c` make the same.
struct Sample {
  let author: String
  let title: String
  let created: Date
  let price: Double

  init(_ place: Int, of rows: Int) {
    // A multiplication by a large odd number scatters the authors and titles over the rows.
    let mixed = Int((UInt64(place) &* 0x9E37_79B9_7F4A_7C15) >> 20)
    let number = String(mixed % max(1, rows / 50))
    author = "Author " + String(repeating: "0", count: max(0, 6 - number.count)) + number
    title = "Title \(mixed % 100_000_007) of the collected works"
    created = Date(timeIntervalSince1970: Double(1_500_000_000 + mixed % 100_000_000))
    price = Double(mixed % 100_000) / 100
  }

  /// How many new rows a transaction writes.
  static let atOnce = 10_000
  static let window = 50

  static func changedID(_ turn: Int, of rows: Int) -> Int64 { Int64(turn * 7919 % rows + 1) }

  static func newAuthor(_ turn: Int, of rows: Int) -> String { Sample(turn * 104_729 + 17, of: rows).author }

  static func windowPlace(_ turn: Int, of rows: Int) -> Int { turn * 104_729 % max(1, rows - window) }
}

/// Tells lists apart that have other numbers, or the same in another order.
func checksum(_ numbers: some Sequence<Int64>) -> UInt32 {
  numbers.reduce(0) { $0 &* 31 &+ UInt32(truncatingIfNeeded: $1) }
}

func told(_ ids: [Int64]) -> String { "\(ids.count) ids \(checksum(ids))" }
