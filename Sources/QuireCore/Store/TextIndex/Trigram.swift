/// Three code points that follow each other in a search text.
struct Trigram: Hashable {
  /// Twenty-one bits each.
  private let points: UInt64

  private init(_ points: UInt64) { self.points = points }

  /// Each once, those that do not overlap first.
  static func all(in texts: [Text]) -> [Trigram] {
    var found: [Trigram] = []
    var known: Set<Trigram> = []
    for start in 0..<3 {
      for text in texts {
        let all = Trigram.all(in: text.bytes.buffer)
        for place in stride(from: start, to: all.count, by: 3) where known.insert(all[place]).inserted {
          found.append(all[place])
        }
      }
    }
    return found
  }

  static func all(in text: UnsafeBufferPointer<UInt8>) -> [Trigram] {
    var found: [Trigram] = []
    var points: UInt64 = 0
    var count = 0
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      points = (points << 21 | UInt64(scalar.value)) & ((1 << 63) - 1)
      count += 1
      if count >= 3 { found.append(Trigram(points)) }
    }
    return found
  }

  /// As FTS5 reads it in a query.
  var quoted: String {
    var quoted = "\""
    for shift: UInt64 in [42, 21, 0] {
      guard let scalar = Unicode.Scalar(UInt32(points >> shift & 0x1F_FFFF)) else { continue }
      quoted.unicodeScalars.append(scalar)
      if scalar == "\"" { quoted.unicodeScalars.append(scalar) }
    }
    return quoted + "\""
  }
}
