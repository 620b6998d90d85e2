/// A piece of SQL that is run as a statement of its own, because it stands too deep in another.
///
/// The parser of SQLite, before 3.46, has a stack of a hundred entries and refuses what needs more; a subquery takes
/// about eight. A piece beyond that becomes a call of `quire_part`, which gets what the piece takes of the rows around.
final class SQLPart {
  let sql: String
  /// The numbers of the parameters that stand for what is taken of the rows around.
  let outer: [Int]

  init(_ sql: String, outer: [Int]) {
    self.sql = sql
    self.outer = outer
  }
}

/// Whether a compiler divides what it makes into parts.
struct SQLParting {
  /// What of the stack a piece may need before it has to be divided; the rest is for the statement around it.
  static let most = 76
  /// What a piece may need where division has begun, so that several meet in one statement.
  static let mostOfPart = 44

  var isOn = false
  /// A piece would have had to be divided.
  fileprivate(set) var isNeeded = false
}

extension SQLCompiler {
  /// Compiles in one piece, or if it is too deep for that, once more in parts.
  func inParts<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let argumentCount = arguments.all.count, leafCount = leaves.count
    let whole = try body()
    if parting.isOn || !parting.isNeeded { return whole }
    arguments.keepFirst(argumentCount)
    leaves.removeLast(leaves.count - leafCount)
    plainLeaves = plainLeaves.filter { $0.value < leafCount }
    parting.isOn = true
    return try body()
  }

  func fitted(_ fragment: SQLFragment) -> SQLFragment {
    let (sql, stack) = fitted(fragment.sql, stack: fragment.stack)
    return sql == fragment.sql ? fragment : SQLFragment(sql: sql, isExact: fragment.isExact, stack: stack)
  }

  /// `sql`, or a part that gives the same.
  func fitted(_ sql: String, stack: Int) -> (sql: String, stack: Int) {
    if stack > SQLParting.most { parting.isNeeded = true }
    guard parting.isOn, stack > SQLParting.mostOfPart, let piece = SQLPiece(sql, parameter: arguments.outerParameter)
    else { return (sql, stack) }
    let parameter = arguments.parameter(SQLPart("SELECT \(piece.sql)", outer: piece.outer.map(\.number)))
    let name = ProgramFunctions.part + (piece.isPure ? "" : ProgramFunctions.volatileSuffix)
    let list = ([parameter] + piece.outer.map(\.column)).joined(separator: ", ")
    return ("\(name)(\(list))", 5 + SQLColumn.plainStack)
  }
}

/// SQL with parameters in place of the columns of tables that it does not read itself.
private struct SQLPiece {
  private(set) var sql = ""
  private(set) var outer: [(column: String, number: Int)] = []
  /// Gives the same each time.
  private(set) var isPure = true

  private static let aggregates: Set<String> = [
    "count", "min", "max", AggregateFunctions.sum, AggregateFunctions.average, ProgramFunctions.pack,
  ]

  /// nil where that cannot be: it gathers rows from around it, or takes too many values of them.
  init?(_ text: String, parameter: () -> String) {
    let words = SQLPiece.words(of: text)
    var own: Set<String> = []
    for (place, word) in words.enumerated() where SQLPiece.isAlias(word) {
      if place + 1 == words.count || words[place + 1] != "." { own.insert(word) }
    }
    var parameters: [String: String] = [:]
    var isGathering = [false]
    var place = 0
    while place < words.count {
      let word = words[place]
      if SQLPiece.isAlias(word), !own.contains(word), place + 2 < words.count {
        if isGathering.last == true { return nil }
        let column = "\(word).\(words[place + 2])"
        let known = parameters[column] ?? parameter()
        if parameters.updateValue(known, forKey: column) == nil { outer.append((column, Int(known.dropFirst()) ?? 0)) }
        sql += known
        place += 3
        continue
      }
      if word == "(" {
        let isAggregate = place > 0 && SQLPiece.aggregates.contains(words[place - 1])
        isGathering.append(isAggregate || isGathering.last == true)
      } else if word == ")" {
        isGathering.removeLast()
      } else if word.hasSuffix(ProgramFunctions.volatileSuffix) {
        isPure = false
      }
      sql += word
      place += 1
    }
    if outer.count > SQLCompiler.mostArguments { return nil }
  }

  /// The names and numbers of a text, and what is between them, sign by sign.
  private static func words(of text: String) -> [String] {
    var words: [String] = []
    var word: [UInt8] = []
    func end() {
      if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
      word.removeAll(keepingCapacity: true)
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
        word.append(byte)
      default:
        end()
        words.append(String(UnicodeScalar(byte)))
      }
    }
    end()
    return words
  }

  /// The compiler calls tables t0, t1 and so on, and no column has such a name.
  private static func isAlias(_ word: String) -> Bool {
    let bytes = word.utf8
    return bytes.count > 1 && bytes.first == UInt8(ascii: "t")
      && bytes.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
