/// A sum of bytes in four lanes, each of which no change of a single word leaves as it was. Finds damage, not malice.
struct Checksum {
  /// So many bytes go through all lanes at a time.
  static let step = 32

  private var (a, b, c, d) = (UInt64(0), UInt64(1), UInt64(2), UInt64(3))

  var lanes: ContiguousArray<UInt64> { [a, b, c, d] }

  /// All lanes as one word.
  var word: UInt64 { Checksum.mixed(Checksum.mixed(Checksum.mixed(a, b), c), d) }

  private static func mixed(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    let product = (lane ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 29
  }

  /// Takes what comes next, a whole number of steps.
  @_optimize(speed)
  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    var (a, b, c, d) = (a, b, c, d)
    func word(_ place: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
    var place = 0
    while place &+ Checksum.step <= bytes.count {
      a = Checksum.mixed(a, word(place))
      b = Checksum.mixed(b, word(place &+ 8))
      c = Checksum.mixed(c, word(place &+ 16))
      d = Checksum.mixed(d, word(place &+ 24))
      place &+= Checksum.step
    }
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }

  mutating func take(_ word: UInt64) {
    a = Checksum.mixed(a, word)
    b = Checksum.mixed(b, word)
  }

  /// Takes bytes of any number, and their number.
  mutating func take(all bytes: UnsafeRawBufferPointer) {
    take(UInt64(bytes.count))
    take(bytes)
    let rest = bytes.count % Checksum.step
    if rest == 0 { return }
    withUnsafeTemporaryAllocation(byteCount: Checksum.step, alignment: 8) { filled in
      for place in 0..<Checksum.step { filled[place] = place < rest ? bytes[bytes.count - rest + place] : 0 }
      take(UnsafeRawBufferPointer(filled))
    }
  }
}
