/// A piece of a WHERE clause. Its arguments are in the `SQLArguments` of its statement.
struct SQLFragment {
  var sql: String
  /// True or false for every row, never NULL, so that NOT may be put before it.
  var isExact: Bool
  /// How many entries SQLite's parser may need on its stack of a hundred to read this; see `SQLPart`.
  var stack = 8
  /// Set where the whole of it can also be found from keys that are known.
  var keyed: SQLKeyedSearch?

  static func constant(_ holds: Bool) -> SQLFragment {
    SQLFragment(sql: holds ? "1" : "0", isExact: true, stack: 1)
  }

  var isTrue: Bool { sql == "1" }
  var isFalse: Bool { sql == "0" }

  var negated: SQLFragment {
    if isTrue || isFalse { return .constant(isFalse) }
    // What stands behind its operand costs the parser less than what stands before it.
    if isExact, stack < 30 {
      return SQLFragment(sql: "NOT (\(sql))", isExact: true, stack: stack + 2)
    }
    return SQLFragment(sql: "(\(sql)) IS NOT TRUE", isExact: true, stack: stack + 1)
  }

  enum Chain: String {
    case and = "AND"
    case or = "OR"
  }

  /// SQLite allows a tree of expressions a thousand levels deep and makes a level of every AND, hence the groups.
  private static let longestChain = 32
  private static let shallow = 20

  static func chain(_ chain: Chain, _ parts: [SQLFragment]) -> SQLFragment {
    let deciding = parts.first { chain == .and ? $0.isFalse : $0.isTrue }
    if let deciding { return deciding }
    var parts = parts.filter { !$0.isTrue && !$0.isFalse }
    if parts.count < 2 { return parts.first ?? .constant(chain == .and) }
    // What comes first in a chain costs the parser least.
    if parts.contains(where: { $0.stack > shallow }) { parts.sort { $0.stack > $1.stack } }
    while parts.count > longestChain {
      parts = stride(from: 0, to: parts.count, by: longestChain).map { start in
        let group = parts[start..<min(start + longestChain, parts.count)]
        return group.count == 1 ? group[start] : joined(chain, Array(group))
      }
    }
    return joined(chain, parts)
  }

  private static func joined(_ chain: Chain, _ parts: [SQLFragment]) -> SQLFragment {
    var result = SQLFragment(sql: "", isExact: true, stack: 0)
    for (place, part) in parts.enumerated() {
      if place > 0 { result.sql += " \(chain.rawValue) " }
      result.sql += "(\(part.sql))"
      result.isExact = result.isExact && part.isExact
      result.stack = max(result.stack, part.stack + (place == 0 ? 1 : 3))
    }
    return result
  }
}
