/// A piece of SQL as a tree. The compiler makes it and asks it; `SQLWriter` writes it once.
///
/// Nodes never change and may stand at several places. A chain has all its terms in one node.
final class SQLExpr {
  enum Kind {
    case truth(Bool)
    case integer(Int64)
    case parameter(Int)
    case column(SQLName)
    /// The number of rows: `count(*)`.
    case rows
    case function(SQLFunction, [SQLExpr])
    /// As a double.
    case real(SQLExpr)
    /// `+x`, for which SQLite uses no index.
    case unindexed(SQLExpr)
    /// A condition that a quarter of the rows meets.
    case likely(SQLExpr)
    case comparison(Sign, SQLExpr, SQLExpr)
    case isNull(SQLExpr)
    case between(SQLExpr, Int, Int)
    case membership(SQLExpr, SQLList, isNegated: Bool)
    case chain(Chain, [SQLExpr])
    case group(SQLExpr)
    case not(SQLExpr)
    case isNotTrue(SQLExpr)
    /// A value where a key is not NULL, otherwise NULL.
    case present(key: SQLExpr, SQLExpr)
    indirect case exists(SQLSelect)
    indirect case scalar(SQLSelect)
  }

  enum Sign {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// Of NULL, too.
    case same
    case match

    var text: StaticString {
      switch self {
      case .equal: " = "
      case .notEqual: " <> "
      case .less: " < "
      case .lessOrEqual: " <= "
      case .greater: " > "
      case .greaterOrEqual: " >= "
      case .same: " IS "
      case .match: " MATCH "
      }
    }

    init(_ relation: Relation) {
      switch relation {
      case .equal: self = .equal
      case .notEqual: self = .notEqual
      case .less: self = .less
      case .lessOrEqual: self = .lessOrEqual
      case .greater: self = .greater
      case .greaterOrEqual: self = .greaterOrEqual
      }
    }
  }

  enum Chain {
    case and, or
  }

  private(set) var kind: Kind
  /// How many entries SQLite's parser may need on its stack of a hundred to read this.
  let stack: Int
  /// True or false for every row, never NULL, so that NOT may be put before it.
  let isExact: Bool

  init(_ kind: Kind) {
    self.kind = kind
    stack = kind.stack
    isExact = kind.isExact
  }

  /// The same with what the tree does not show: that no operand is ever NULL, or that it does not matter.
  init(_ kind: Kind, isExact: Bool) {
    self.kind = kind
    stack = kind.stack
    self.isExact = isExact
  }

  /// Parts of a deep tree are let go one by one: calls within calls would need as deep a stack.
  deinit {
    if stack <= SQLExpr.shallow { return }
    var rest = kind.parts
    kind = .rows
    while var part = rest.popLast() {
      if part.stack > SQLExpr.shallow, isKnownUniquelyReferenced(&part) {
        rest += part.kind.parts
        part.kind = .rows
      }
    }
  }

  static func constant(_ holds: Bool) -> SQLExpr { SQLExpr(.truth(holds)) }

  static func column(_ alias: String, _ column: String) -> SQLExpr { SQLExpr(.column(SQLName(alias, column))) }

  static func compare(_ left: SQLExpr, _ sign: Sign, _ right: SQLExpr) -> SQLExpr {
    SQLExpr(.comparison(sign, left, right))
  }

  static func isNull(_ operand: SQLExpr) -> SQLExpr { SQLExpr(.isNull(operand.presence)) }

  static func call(_ function: SQLFunction, _ arguments: SQLExpr...) -> SQLExpr {
    SQLExpr(.function(function, arguments))
  }

  /// `isExact` where the operand is never NULL.
  static func member(_ operand: SQLExpr, of list: SQLList, isExact: Bool = false) -> SQLExpr {
    SQLExpr(.membership(operand, list, isNegated: false), isExact: isExact)
  }

  // MARK: Questions

  /// What is NULL for the same rows, and reads no files beside the store.
  private var presence: SQLExpr {
    switch kind {
    case .function(.external, let arguments): return arguments.last ?? self
    case .scalar(let select):
      guard case .function(.external, _) = select.value.kind else { return self }
      return SQLExpr(.scalar(SQLSelect(value: select.value.presence, name: select.name, query: select.query)))
    default: return self
    }
  }

  /// Of a column.
  var name: SQLName? {
    if case .column(let name) = kind { name } else { nil }
  }

  var isTrue: Bool {
    if case .truth(true) = kind { true } else { false }
  }

  var isFalse: Bool {
    if case .truth(false) = kind { true } else { false }
  }

  /// Another way to the rows that it holds for, where a list of keys that are known comes before a test.
  var keyedSearch: SQLKeyedSearch? {
    guard case .chain(.and, let parts) = kind, parts.count == 2,
      case .membership(let key, .searched(let keys), isNegated: false) = parts[0].kind
    else { return nil }
    return SQLKeyedSearch(key: key, keys: keys, test: parts[1])
  }

  // MARK: Logic

  /// What is deeper needs more of the parser's stack in the middle of a chain than it is worth.
  private static let shallow = 20

  var negated: SQLExpr {
    if isTrue || isFalse { return .constant(isFalse) }
    // What stands behind its operand costs the parser less than what stands before it.
    return isExact && stack < 30 ? SQLExpr(.not(self)) : SQLExpr(.isNotTrue(self))
  }

  /// SQLite allows a tree of expressions a thousand levels deep and makes a level of every AND, hence the groups.
  private static let longestChain = 32

  static func chain(_ chain: Chain, _ parts: [SQLExpr]) -> SQLExpr {
    let deciding = parts.first { chain == .and ? $0.isFalse : $0.isTrue }
    if let deciding { return deciding }
    var parts = parts.filter { !$0.isTrue && !$0.isFalse }
    if parts.count < 2 { return parts.first ?? .constant(chain == .and) }
    // What comes first in a chain costs the parser least.
    if parts.contains(where: { $0.stack > shallow }) { parts.sort { $0.stack > $1.stack } }
    while parts.count > longestChain {
      parts = stride(from: 0, to: parts.count, by: longestChain).map { start in
        let group = parts[start..<min(start + longestChain, parts.count)]
        return group.count == 1 ? group[start] : SQLExpr(.chain(chain, Array(group)))
      }
    }
    return SQLExpr(.chain(chain, parts))
  }
}
