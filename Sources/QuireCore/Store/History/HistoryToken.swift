/// A place in a history: behind a transaction.
struct HistoryPlace: Equatable, Sendable {
  let number: Int64
  /// Of that transaction, in seconds since 2001. 0 where it is gone. An older copy of the file that has come to as many
  /// transactions since has another one under the number.
  let timestamp: Double
}

/// Names a place in the history of a store: what a program keeps, to go on from there.
struct HistoryToken: Sendable {
  static let size = 40
  private static let signature: [UInt8] = Array("QHT".utf8) + [2]

  let place: HistoryPlace
  /// Of the store.
  private let name: [UInt8]

  init(_ place: HistoryPlace, ofStore uuid: Text) {
    self.place = place
    name = HistoryToken.name(uuid)
  }

  /// Reads one. Fails for bytes that were not made by `bytes`.
  init(_ bytes: [UInt8]) throws(Failure) {
    guard bytes.count == HistoryToken.size, Array(bytes.prefix(4)) == HistoryToken.signature,
      Array(bytes.suffix(4)) == HistoryToken.checksum(bytes.dropLast(4))
    else {
      throw Failure(
        .invalidArgument,
        "The history token is damaged: \(bytes.count) bytes that no store has given. Without a token all of the "
          + "history is fetched.")
    }
    name = Array(bytes[4..<20])
    let words = [20, 28].map { start in bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    place = HistoryPlace(number: Int64(bitPattern: words[0]), timestamp: Double(bitPattern: words[1]))
  }

  var bytes: [UInt8] {
    let known =
      HistoryToken.signature + name + HistoryToken.bytes(UInt64(bitPattern: place.number))
      + HistoryToken.bytes(place.timestamp.bitPattern)
    return known + HistoryToken.checksum(known[...])
  }

  func check(isOf uuid: Text) throws(Failure) {
    if name == HistoryToken.name(uuid) { return }
    throw Failure(
      .invalidArgument,
      "The history token is of another store than the one with the UUID \(uuid). Without a token all of the history "
        + "is fetched.")
  }

  /// The sixteen bytes of a UUID. Programs may have given a file some other text.
  private static func name(_ uuid: Text) -> [UInt8] {
    let digits = uuid.bytes.buffer.filter { $0 != UInt8(ascii: "-") }
    let text = String(decoding: digits, as: UTF8.self)
    if UniqueIdentifier(uuid.bytes.buffer) != nil, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    {
      return bytes(high) + bytes(low)
    }
    return bytes(hash(uuid.bytes.buffer, 0)) + bytes(hash(uuid.bytes.buffer, 1))
  }

  private static func bytes(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
  }

  private static func checksum(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array(self.bytes(hash(bytes, 2)).suffix(4)) }

  /// FNV-1a.
  private static func hash(_ bytes: some Sequence<UInt8>, _ seed: UInt8) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in [seed] + bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }
}
