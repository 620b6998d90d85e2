/// Parts that the search text (`TextFolder.withSearchText`) of every text must contain for which an operator holds.
enum SearchLiterals {
  /// In no order; empty when nothing is known to be in all of them.
  static func of(_ operation: TextMatcher.Operation, _ pattern: Text, _ folding: TextFolding) -> [Text] {
    if folding.contains(.byLocale) { return [] }
    let folder = TextFolder()
    switch operation {
    case .contains, .beginsWith, .endsWith, .equal: return searched(pattern, folding, folder)
    case .like:
      return WildcardPattern(pattern, folding, folder).literals.flatMap {
        searched(Text(utf8: $0), folding, folder)
      }
    case .matches:
      // The expression is compiled from this text too.
      let source = folding.contains(.ignoreDiacritics) ? folder.fold(pattern, .ignoreDiacritics) : pattern
      return RegularExpressionLiterals(source).texts.flatMap { searched($0, folding, folder) }
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual: return []
    }
  }

  /// Folding of case makes a letter of the iota subscript, with `[d]` where no Greek letter is before it. The search
  /// text does not have it, and it may have made any iota. The text between two iotas is in both.
  private static func searched(_ literal: Text, _ folding: TextFolding, _ folder: TextFolder) -> [Text] {
    if !folding.contains(.ignoreCase) || literal.isASCII { return [folder.searchText(literal)] }
    let iota = Unicode.Scalar(0x3B9 as UInt16)
    let text = folder.searchText(folder.fold(literal, .ignoreCase)).string
    return text.unicodeScalars.split { $0 == iota }.map { Text(String($0)) }
  }
}

/// The parts of a regular expression that are in every text that it matches. Gives up where it is not sure.
struct RegularExpressionLiterals {
  private(set) var texts: [Text] = []
  private var rest: ArraySlice<Unicode.Scalar>
  private var run: [Unicode.Scalar] = []
  /// Whether the last thing read was one sign at the end of `run`.
  private var endsInSign = false

  init(_ pattern: Text) {
    rest = ArraySlice(pattern.string.unicodeScalars)
    while let sign = rest.popFirst() {
      if !read(sign) {
        texts = []
        return
      }
    }
    flush()
  }

  private mutating func flush() {
    if !run.isEmpty { texts.append(Text(String(String.UnicodeScalarView(run)))) }
    run = []
    endsInSign = false
  }

  /// False where it is not known what the rest means.
  private mutating func read(_ sign: Unicode.Scalar) -> Bool {
    switch sign {
    case ".", "^", "$": flush()
    case "|", ")", "]", "}": return false
    case "\\": return readEscape()
    case "[":
      flush()
      return skipSet()
    case "(":
      flush()
      return skipGroup()
    case "+":
      flush()
      skipManner()
    case "*", "?", "{":
      if sign == "{", !skipBounds() { return false }
      if endsInSign { run.removeLast() }
      flush()
      skipManner()
    default:
      run.append(sign)
      endsInSign = true
    }
    return true
  }

  /// A quantifier may be followed by a sign that makes it reluctant or possessive.
  private mutating func skipManner() {
    if let next = rest.first, next == "?" || next == "+" { rest.removeFirst() }
  }

  private mutating func skipBounds() -> Bool {
    while let sign = rest.popFirst() {
      if sign == "}" { return true }
      guard sign == "," || ("0"..."9").contains(sign) else { return false }
    }
    return false
  }

  private mutating func readEscape() -> Bool {
    guard let sign = rest.popFirst(), sign.isASCII else { return false }
    switch sign {
    case "d", "D", "s", "S", "w", "W", "b", "B", "A", "Z", "z", "h", "H", "v", "V", "t", "n", "r", "f", "R", "X":
      flush()
    case "a"..."z", "A"..."Z", "0"..."9": return false
    default:
      run.append(sign)
      endsInSign = true
    }
    return true
  }

  /// The first bracket is read.
  private mutating func skipSet() -> Bool {
    if rest.first == "^" { rest.removeFirst() }
    if rest.first == "]" { return false }
    var depth = 1
    while depth > 0 {
      guard let sign = rest.popFirst() else { return false }
      switch sign {
      case "[": depth += 1
      case "]": depth -= 1
      case "\\":
        // Quoted parts may have brackets in them.
        guard let next = rest.popFirst(), next != "Q" else { return false }
      default: break
      }
    }
    return true
  }

  /// The first parenthesis is read. What is in a group may be one of several or be repeated no time.
  private mutating func skipGroup() -> Bool {
    var depth = 1
    guard skipGroupStart() else { return false }
    while depth > 0 {
      guard let sign = rest.popFirst() else { return false }
      switch sign {
      case "(":
        depth += 1
        guard skipGroupStart() else { return false }
      case ")": depth -= 1
      case "[": guard skipSet() else { return false }
      case "\\":
        guard let next = rest.popFirst(), next != "Q" else { return false }
      default: break
      }
    }
    return true
  }

  /// Of the groups with a question mark only the plainest: others set flags, look around or are comments.
  private mutating func skipGroupStart() -> Bool {
    guard rest.first == "?" else { return true }
    rest.removeFirst()
    return rest.popFirst() == ":"
  }
}
