/// One word, sign or literal of a format.
struct PredicateToken: Equatable {
  enum Kind: Equatable {
    case end
    case sign(String)
    /// A key or a keyword.
    case word(String)
    /// `#word`, which is a key whatever the word, or `#"any text"`.
    case escapedKey(String)
    /// `modulus:by:`.
    case selector(String)
    case variable(String)
    /// `@count`, with its sign.
    case collectionOperator(String)
    case text(Text)
    /// Its magnitude; one too large for this is a real.
    case integer(UInt64)
    case real(Double)
    case placeholder(Placeholder)
  }

  let kind: Kind
  let offset: Int

  var keyword: Keyword? {
    if case .word(let word) = kind { Keyword(word: word) } else { nil }
  }

  func isSign(_ sign: String) -> Bool { kind == .sign(sign) }
}
