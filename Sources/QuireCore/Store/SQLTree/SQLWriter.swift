/// Writes trees as the text of SQL.
struct SQLWriter: SQLSink {
  private var bytes: ContiguousArray<UInt8> = []
  /// The numbers of parameters that stand in the place of columns.
  private let replaced: [SQLName: Int]
  private var depth = 0

  /// Calls within calls reach so deep. What is below waits in a list, so that a deep tree fits into any stack.
  private static let greatestDepth = 12

  init(replacing replaced: [SQLName: Int] = [:]) {
    self.replaced = replaced
    bytes.reserveCapacity(256)
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  @_optimize(speed)
  mutating func put(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @_optimize(speed)
  mutating func put(name: String) {
    var name = name
    name.withUTF8 { bytes.append(contentsOf: $0) }
  }

  @_optimize(speed)
  mutating func put(_ number: Int) {
    guard (0..<10).contains(number) else { return put(name: String(number)) }
    bytes.append(UInt8(ascii: "0") + UInt8(number))
  }

  mutating func put(_ expr: SQLExpr) {
    if writeReplaced(expr) { return }
    if depth == SQLWriter.greatestDepth { return writeDeep(expr) }
    depth += 1
    put(expr.kind)
    depth -= 1
  }

  private mutating func writeReplaced(_ expr: SQLExpr) -> Bool {
    guard !replaced.isEmpty, let name = expr.name, let number = replaced[name] else { return false }
    put("?")
    put(number)
    return true
  }

  @inline(never)
  private mutating func writeDeep(_ expr: SQLExpr) {
    var pending = SQLWords()
    pending.put(expr)
    while let word = pending.popLast() {
      switch word {
      case .text(let text): put(text)
      case .name(let name): put(name: name)
      case .number(let number): put(number)
      case .expr(let expr): if !writeReplaced(expr) { pending.putReversed(expr.kind) }
      }
    }
  }
}

/// Words that are still to be written, the next as the last.
private struct SQLWords: SQLSink {
  enum Word {
    case text(StaticString)
    case name(String)
    case number(Int)
    case expr(SQLExpr)
  }

  private var words: [Word] = []

  mutating func put(_ text: StaticString) { words.append(.text(text)) }
  mutating func put(name: String) { words.append(.name(name)) }
  mutating func put(_ number: Int) { words.append(.number(number)) }
  mutating func put(_ expr: SQLExpr) { words.append(.expr(expr)) }

  mutating func popLast() -> Word? { words.popLast() }

  mutating func putReversed(_ kind: SQLExpr.Kind) {
    let start = words.count
    put(kind)
    words[start...].reverse()
  }
}

extension SQLExpr {
  var sql: String {
    var writer = SQLWriter()
    writer.put(self)
    return writer.text
  }
}
