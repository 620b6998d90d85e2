/// Why an object has other values than before, although no call has set them. Numbers as in Core Data.
struct SnapshotEvents: OptionSet, Sendable {
  let rawValue: UInt32

  static let undoInsertion = SnapshotEvents(rawValue: 2)
  static let undoDeletion = SnapshotEvents(rawValue: 4)
  static let undoUpdate = SnapshotEvents(rawValue: 8)
  static let rollback = SnapshotEvents(rawValue: 16)
  static let refresh = SnapshotEvents(rawValue: 32)
  static let mergePolicy = SnapshotEvents(rawValue: 64)
}
