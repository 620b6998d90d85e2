/// The blocks that FTS5 keeps of an index, summed up segment by segment. The sums are noted with each writing to the
/// index. They reveal a block that was lost, garbled or exchanged since, which FTS5 itself often does not notice.
struct TextIndexSums: Equatable {
  /// By the number of the segment; 0 is what belongs to none: the structure, the averages and the settings.
  private var sums: [Int64: UInt64] = [:]

  /// The key of a block begins with its segment; what follows are these bits.
  static let segmentShift: Int64 = 37

  /// Of the whole index.
  init(of index: TextIndex, on connection: Connection) throws(Failure) {
    let shift = TextIndexSums.segmentShift
    try add(Int64.min >> shift...Int64.max >> shift, of: index, on: connection)
  }

  /// Takes up anew the segments that were written to.
  mutating func update(_ segments: Set<Int64>, of index: TextIndex, on connection: Connection) throws(Failure) {
    for segment in segments.union([0]) {
      sums[segment] = nil
      try add(segment...segment, of: index, on: connection)
    }
  }

  private mutating func add(
    _ segments: ClosedRange<Int64>, of index: TextIndex, on connection: Connection
  ) throws(Failure) {
    let low = segments.lowerBound << TextIndexSums.segmentShift
    let high = segments.upperBound << TextIndexSums.segmentShift | (1 << TextIndexSums.segmentShift - 1)
    let blocks = try connection.statement(
      "SELECT id, block FROM \(index.name)_data WHERE id BETWEEN ? AND ? ORDER BY id")
    try blocks.bind(low, at: 1)
    try blocks.bind(high, at: 2)
    try add(blocks) { $0.integer(at: 0) >> TextIndexSums.segmentShift }
    let terms = try connection.statement(
      "SELECT segid, term, pgno FROM \(index.name)_idx WHERE segid BETWEEN ? AND ? ORDER BY segid, term")
    try terms.bind(segments.lowerBound, at: 1)
    try terms.bind(segments.upperBound, at: 2)
    try add(terms) { $0.integer(at: 0) }
    if segments.contains(0) {
      try add(try connection.statement("SELECT k, v FROM \(index.name)_config ORDER BY k")) { _ in 0 }
    }
  }

  private mutating func add(_ rows: Statement, segment: (Statement) -> Int64) throws(Failure) {
    var current: Int64?
    var checksum = Checksum()
    func end() { if let current { sums[current, default: 0] = sums[current, default: 0] &* 31 &+ checksum.word } }
    while try rows.step() {
      let number = segment(rows)
      if number != current {
        end()
        current = number
        checksum = Checksum()
      }
      for column in 0..<rows.columnCount { rows.add(column, to: &checksum) }
    }
    end()
  }

  // MARK: The file

  init?(_ bytes: Bytes?) {
    guard let bytes, bytes.count % 16 == 0 else { return nil }
    let words = UnsafeRawBufferPointer(bytes.buffer)
    for place in stride(from: 0, to: words.count, by: 16) {
      let segment = Int64(littleEndian: words.loadUnaligned(fromByteOffset: place, as: Int64.self))
      sums[segment] = UInt64(littleEndian: words.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self))
    }
  }

  var bytes: Bytes {
    var bytes = ContiguousArray<UInt8>()
    for (segment, sum) in sums.sorted(by: { $0.key < $1.key }) {
      withUnsafeBytes(of: segment.littleEndian) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: sum.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return Bytes(bytes)
  }
}

extension Statement {
  /// Adds a column as the file has it, and its type.
  fileprivate func add(_ column: Int, to checksum: inout Checksum) {
    guard let cell = cell(at: column) else { return }
    checksum.take(UInt64(storage(column)))
    if isInteger(at: column) { return checksum.take(UInt64(bitPattern: integer(at: column))) }
    checksum.take(all: UnsafeRawBufferPointer(SQLValue.data(cell)))
  }
}

extension Connection {
  /// The segments of an index that `body` has FTS5 write to.
  func segmentsWritten(of index: TextIndex, by body: () throws(Failure) -> Void) throws(Failure) -> Set<Int64> {
    var segments: Set<Int64> = []
    try noteWrites(to: "\(index.name)_data") { segments.insert($0 >> TextIndexSums.segmentShift) } by: {
      () throws(Failure) in
      try body()
      // FTS5 keeps what is new in memory until a rollback to here is possible.
      try execute("SAVEPOINT quire_flush; RELEASE quire_flush")
    }
    return segments
  }
}
