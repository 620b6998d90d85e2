/// The sort keys of one block's rows. A row costs only the bytes that tell its key from those beside it. The bytes that
/// all have in common are there once, and the tie-break at the end follows from the row's id.
struct PackedKeys {
  /// The common beginning of all keys.
  private(set) var shared = SortKey()
  /// The next bytes of each key, up to the tie-break, end to end.
  private(set) var bytes = ContiguousArray<UInt8>()
  /// Where each of these pieces ends; empty while all have the same `width`.
  private(set) var ends = ContiguousArray<Int>()
  private(set) var width = 0
  /// Whether every key ends with the tie-break of its row, which is then left out here.
  private(set) var hasIDs = true

  init() {}

  init(shared: SortKey, bytes: ContiguousArray<UInt8>, ends: ContiguousArray<Int>, width: Int, hasIDs: Bool) {
    self.shared = shared
    self.bytes = bytes
    self.ends = ends
    self.width = width
    self.hasIDs = hasIDs
  }

  var byteCount: Int { bytes.count }

  /// Whether it has the keys of so many rows. For tests.
  func holds(_ count: Int) -> Bool {
    ends.isEmpty ? bytes.count == count * width : ends.count == count && ends.last == bytes.count
  }

  private func start(of row: Int) -> Int { ends.isEmpty ? row * width : row == 0 ? 0 : ends[row - 1] }
  private func piece(of row: Int) -> Range<Int> { start(of: row)..<start(of: row + 1) }

  func key(of row: Int, _ id: Int64) -> SortKey {
    var key = shared
    key.bytes.append(contentsOf: bytes[piece(of: row)])
    if hasIDs { key.append(tieBreak: id) }
    return key
  }

  /// Negative when the key of `row` sorts before `key`, zero when they are equal.
  func order(of row: Int, _ id: Int64, against key: SortKey) -> Int {
    var order = key.order(of: 0..<shared.bytes.count, in: shared.bytes, at: 0)
    if order != 0 { return order }
    let piece = piece(of: row)
    var place = shared.bytes.count
    order = key.order(of: piece, in: bytes, at: place)
    if order != 0 { return order }
    place += piece.count
    if hasIDs {
      order = key.order(ofTieBreak: id, at: place)
      if order != 0 { return order }
      place += SortKey.tieBreakSize
    }
    return place - key.bytes.count
  }

  /// `ids` are the rows that are there already.
  mutating func insert(_ key: SortKey, _ id: Int64, at row: Int, among ids: ContiguousArray<Int64>) {
    let endsWithID = key.ends(withTieBreak: id)
    if ids.isEmpty {
      let size = key.bytes.count - (endsWithID ? SortKey.tieBreakSize : 0)
      self = PackedKeys(
        shared: SortKey(bytes: ContiguousArray(key.bytes[..<size])), bytes: [], ends: [], width: 0, hasIDs: endsWithID)
      return
    }
    if hasIDs, !endsWithID { rebuild(ids, sharing: shared.bytes.count, hasIDs: false) }
    let size = key.bytes.count - (hasIDs ? SortKey.tieBreakSize : 0)
    var common = 0
    while common < min(shared.bytes.count, size), shared.bytes[common] == key.bytes[common] { common += 1 }
    if common < shared.bytes.count { rebuild(ids, sharing: common, hasIDs: hasIDs) }
    let piece = key.bytes[common..<size]
    if ends.isEmpty, piece.count != width { ends = ContiguousArray(ids.indices.map { start(of: $0 + 1) }) }
    let place = start(of: row)
    bytes.insert(contentsOf: piece, at: place)
    if ends.isEmpty { return }
    ends.insert(place, at: row)
    for later in row..<ends.count { ends[later] += piece.count }
  }

  /// The same keys, of which less is common.
  private mutating func rebuild(_ ids: ContiguousArray<Int64>, sharing common: Int, hasIDs: Bool) {
    var pieces = ContiguousArray<UInt8>()
    var ends = ContiguousArray<Int>()
    for (row, id) in ids.enumerated() {
      pieces.append(contentsOf: shared.bytes[common...])
      pieces.append(contentsOf: bytes[piece(of: row)])
      if self.hasIDs, !hasIDs {
        for place in 0..<SortKey.tieBreakSize { pieces.append(SortKey.tieBreak(id, byte: place)) }
      }
      ends.append(pieces.count)
    }
    let width = ends.first ?? 0
    let isUniform = self.ends.isEmpty
    self = PackedKeys(
      shared: SortKey(bytes: ContiguousArray(shared.bytes[..<common])), bytes: pieces, ends: isUniform ? [] : ends,
      width: width, hasIDs: hasIDs)
  }

  mutating func remove(at row: Int) {
    let piece = piece(of: row)
    bytes.removeSubrange(piece)
    if ends.isEmpty { return }
    ends.remove(at: row)
    for later in row..<ends.count { ends[later] -= piece.count }
  }

  /// Takes out the keys from `row` on.
  mutating func split(at row: Int) -> PackedKeys {
    let place = start(of: row)
    var upper = self
    upper.bytes = ContiguousArray(bytes[place...])
    bytes.removeSubrange(place...)
    if ends.isEmpty { return upper }
    upper.ends = ContiguousArray(ends[row...].map { $0 - place })
    ends.removeSubrange(row...)
    return upper
  }
}
