import CZlib

/// Raw deflate, without a header and a checksum: the form in which a store keeps its model.
enum Deflate {
  /// As much as is read of any file of a model: that of the largest one known has 350 kB.
  static let mostInflated = 16 << 20

  /// The bytes that were deflated. nil when they are damaged, cut, or more than `mostInflated`.
  static func inflate(_ deflated: Bytes) -> Bytes? {
    guard let count = UInt32(exactly: deflated.count) else { return nil }
    var stream = z_stream()
    guard quire_inflate_raw_init(&stream) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    stream.next_in = UnsafeMutablePointer(mutating: deflated.start)
    stream.avail_in = count
    // Deflate makes a thousandth of the size at best, so that the room grows with what is there.
    var room = [UInt8](repeating: 0, count: min(max(4 * deflated.count, 4096), mostInflated))
    var filled = 0
    while true {
      let made = room.withUnsafeMutableBufferPointer { room in
        stream.next_out = room.baseAddress.map { $0 + filled }
        stream.avail_out = UInt32(room.count - filled)
        return (status: CZlib.inflate(&stream, Z_NO_FLUSH), filled: room.count - Int(stream.avail_out))
      }
      filled = made.filled
      if made.status == Z_STREAM_END { return withExtendedLifetime(deflated) { Bytes(room.prefix(filled)) } }
      // With room left it has no input left.
      guard made.status == Z_OK, filled == room.count, room.count < mostInflated else { return nil }
      room += [UInt8](repeating: 0, count: min(room.count, mostInflated - room.count))
    }
  }

  /// nil when there is no memory for it.
  static func deflate(_ bytes: Bytes) -> Bytes? {
    guard let count = UInt32(exactly: bytes.count) else { return nil }
    var stream = z_stream()
    guard quire_deflate_raw_init(&stream) == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    stream.next_in = UnsafeMutablePointer(mutating: bytes.start)
    stream.avail_in = count
    var room = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(count))))
    let status = room.withUnsafeMutableBufferPointer { room in
      stream.next_out = room.baseAddress
      stream.avail_out = UInt32(room.count)
      return CZlib.deflate(&stream, Z_FINISH)
    }
    guard status == Z_STREAM_END else { return nil }
    return withExtendedLifetime(bytes) { Bytes(room.prefix(Int(stream.total_out))) }
  }
}
