@testable import QuireCore

/// A TZif file in words. Offsets are in seconds; a change names its offset by its place.
struct ZoneFileSketch {
  var version = "2"
  var offsets: [Int64] = [0]
  var changes: [(time: Int64, type: UInt8)] = []
  var leaps: [(time: Int64, seconds: Int64)] = []
  var footer: String? = ""
  /// What the block for readers of the first version has.
  var oldOffsets: [Int64] = [0]
  var oldChanges: [(time: Int64, type: UInt8)] = []

  var bytes: [UInt8] {
    if version == "1" { return block(oldOffsets, oldChanges, [], timeSize: 4, version: 0) }
    var bytes = block(oldOffsets, oldChanges, [], timeSize: 4, version: version.utf8.first!)
    bytes += block(offsets, changes, leaps, timeSize: 8, version: version.utf8.first!)
    if let footer { bytes += Array("\n\(footer)\n".utf8) }
    return bytes
  }

  func table() throws(ZoneFile.Damage) -> ZoneTable { try ZoneFile.table(in: bytes) }

  private func block(
    _ offsets: [Int64], _ changes: [(time: Int64, type: UInt8)], _ leaps: [(time: Int64, seconds: Int64)],
    timeSize: Int, version: UInt8
  ) -> [UInt8] {
    func number(_ number: Int64, _ size: Int) -> [UInt8] {
      (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
    }
    let name = Array("ABC\0".utf8)
    var bytes = ZoneFile.mark + [version] + [UInt8](repeating: 0, count: 15)
    for count in [0, 0, leaps.count, changes.count, offsets.count, name.count] { bytes += number(Int64(count), 4) }
    for change in changes { bytes += number(change.time, timeSize) }
    for change in changes { bytes.append(change.type) }
    for offset in offsets { bytes += number(offset, 4) + [0, 0] }
    bytes += name
    for leap in leaps { bytes += number(leap.time, timeSize) + number(leap.seconds, 4) }
    return bytes
  }
}
