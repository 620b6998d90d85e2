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

  /// `expr`, or a call of a part that returns the same.
  func fitted(_ expr: SQLExpr) -> SQLExpr {
    if expr.stack > SQLParting.most { parting.isNeeded = true }
    if !parting.isOn || expr.stack <= SQLParting.mostOfPart { return expr }
    return divided(expr) ?? expr
  }

  /// nil where that cannot be: it gathers rows from around it, or takes too many values of them.
  @inline(never)
  private func divided(_ expr: SQLExpr) -> SQLExpr? {
    guard let reach = SQLReach(of: expr, most: SQLCompiler.mostArguments) else { return nil }
    var numbers: [SQLName: Int] = [:]
    for name in reach.outer { numbers[name] = arguments.outerParameter() }
    var writer = SQLWriter(replacing: numbers)
    writer.put("SELECT ")
    writer.put(expr)
    let part = SQLPart(writer.text, outer: reach.outer.compactMap { numbers[$0] })
    let values = [arguments.parameter(part)] + reach.outer.map { SQLExpr(.column($0)) }
    return SQLExpr(.function(reach.isPure ? .part : .partAnew, values), isExact: expr.isExact)
  }
}

/// What a piece of SQL takes of the rows of tables that it does not read itself.
private struct SQLReach {
  /// Columns of these tables, each once.
  private(set) var outer: [SQLName] = []
  /// Returns the same value each time.
  private(set) var isPure = true

  /// nil where an aggregate gathers such columns, or there are more than `most`.
  init?(of expr: SQLExpr, most: Int) {
    var own: Set<String> = [], known: Set<SQLName> = []
    // The last is the next.
    var pending = [(expr: expr, isGathering: false)]
    while let (expr, isGathering) = pending.popLast() {
      var isGathering = isGathering
      switch expr.kind {
      case .column(let name):
        if name.alias.isEmpty || own.contains(name.alias) || known.contains(name) { continue }
        if isGathering { return nil }
        known.insert(name)
        outer.append(name)
        if outer.count > most { return nil }
      case .function(let function, _):
        if function.isAggregate { isGathering = true }
        if !function.isPure { isPure = false }
      default:
        // An alias is that of one table, so that it does not matter where in the piece it is.
        for select in expr.kind.selects { own.formUnion(select.query.aliases) }
      }
      for part in expr.kind.parts.reversed() { pending.append((part, isGathering)) }
    }
  }
}
