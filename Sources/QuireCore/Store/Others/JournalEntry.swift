/// What a save has changed, as bytes in the change journal.
///
/// Numbers are in groups of seven bits, the lowest first; the highest bit of a byte says that more follow. There is a
/// part for each kind of change and each entity: the kind (a `ChangeJournal.Kind`), the number of the entity, for
/// members the length and the UTF-8 of the name of the relationship, and the number of ranges of ids. A range has its
/// distance from the end of the one before, doubled (less one for a negative one), and how many ids follow its first.
enum JournalEntry {
  /// nil where that is too much.
  static func encoded(_ change: StoreChange) -> Bytes? {
    // What takes the place of a row that is gone is no insertion to others.
    if change.isUnknown || !change.rootsWithoutOwners.isEmpty || !change.returned.isEmpty { return nil }
    var bytes: ContiguousArray<UInt8> = []
    for (kind, rows) in [
      (ChangeJournal.Kind.insert, change.inserted), (.update, change.updated), (.delete, change.deleted),
    ] where !rows.isEmpty {
      for (entity, ids) in idsByEntity(rows) {
        append(number: kind.rawValue, to: &bytes)
        append(number: Int64(entity), to: &bytes)
        append(ids: ids, to: &bytes)
        if bytes.count > ChangeJournal.mostBytes { return nil }
      }
    }
    for (relationship, owners) in change.membershipChanges where !owners.isEmpty {
      append(number: ChangeJournal.Kind.members.rawValue, to: &bytes)
      append(number: Int64(relationship.entity.number), to: &bytes)
      append(number: Int64(relationship.name.utf8.count), to: &bytes)
      bytes += relationship.name.utf8
      append(ids: owners.map(\.id), to: &bytes)
      if bytes.count > ChangeJournal.mostBytes { return nil }
    }
    return Bytes(bytes)
  }

  private static func idsByEntity(_ rows: ContiguousArray<RowIdentifier>) -> [(entity: Int32, ids: [Int64])] {
    // Mostly all are of one entity.
    if let first = rows.first, rows.allSatisfy({ $0.entity == first.entity }) {
      return [(first.entity, rows.map(\.id))]
    }
    return Dictionary(grouping: rows, by: \.entity).sorted { $0.key < $1.key }.map { ($0, $1.map(\.id)) }
  }

  private static func append(number: Int64, to bytes: inout ContiguousArray<UInt8>) {
    var rest = UInt64(bitPattern: number)
    while rest > 0x7F {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func append(ids: [Int64], to bytes: inout ContiguousArray<UInt8>) {
    let isOrdered = zip(ids, ids.dropFirst()).allSatisfy(<)
    let ids = isOrdered ? ids : Set(ids).sorted()
    var ranges: [(first: Int64, last: Int64)] = []
    for id in ids {
      if let last = ranges.last?.last, last == id - 1 {
        ranges[ranges.count - 1].last = id
      } else {
        ranges.append((id, id))
      }
    }
    append(number: Int64(ranges.count), to: &bytes)
    var end: Int64 = 0
    for (first, last) in ranges {
      let distance = first &- end
      append(number: (distance << 1) ^ (distance >> 63), to: &bytes)
      append(number: last &- first, to: &bytes)
      end = last
      if bytes.count > ChangeJournal.mostBytes { return }
    }
  }

  /// nil for what is none, or names what the model does not have.
  static func decoded(_ bytes: Bytes, _ model: Model) -> StoreChange? {
    withExtendedLifetime(bytes) {
      var reader = Reader(rest: bytes.buffer[...])
      var change = StoreChange()
      while !reader.rest.isEmpty {
        guard let kind = reader.number().flatMap(ChangeJournal.Kind.init), let number = reader.number(),
          let entity = Int(exactly: number).flatMap(model.entity(numbered:))
        else { return nil }
        var relationship: Relationship?
        if kind == .members {
          guard let name = reader.text(), let found = try? entity.property(named: name) as? Relationship else {
            return nil
          }
          relationship = found
        }
        guard let ids = reader.ids() else { return nil }
        let rows = ids.lazy.map { RowIdentifier(id: $0, entity: Int32(entity.number)) }
        switch kind {
        case .insert: change.inserted += rows
        case .update: change.updated += rows
        case .delete: change.deleted += rows
        case .members: if let relationship { change.membershipChanges.append((relationship, Array(rows))) }
        case .save, .furtherSave, .open, .setting: return nil
        }
      }
      return change
    }
  }

  private struct Reader {
    var rest: Slice<UnsafeBufferPointer<UInt8>>

    /// The most ids that an entry may name. Any program may write to the table.
    private static let mostIDs: Int64 = 1 << 24

    mutating func number() -> Int64? {
      var value: UInt64 = 0, shift: UInt64 = 0
      while let byte = rest.popFirst(), shift < 64 {
        value |= UInt64(byte & 0x7F) << shift
        if byte & 0x80 == 0 { return Int64(bitPattern: value) }
        shift += 7
      }
      return nil
    }

    mutating func text() -> String? {
      guard let number = number(), let count = Int(exactly: number), count >= 0, count <= rest.count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return String(decoding: rest.prefix(count), as: UTF8.self)
    }

    mutating func ids() -> [Int64]? {
      guard let count = number(), count >= 0, count <= Int64(rest.count) else { return nil }
      var ids: [Int64] = []
      var end: Int64 = 0, total: Int64 = 0
      for _ in 0..<count {
        guard let doubled = number(), let length = number(), length >= 0, length < Reader.mostIDs - total else {
          return nil
        }
        let distance = Int64(bitPattern: UInt64(bitPattern: doubled) >> 1) ^ -(doubled & 1)
        let first = end &+ distance
        let (last, overflow) = first.addingReportingOverflow(length)
        if overflow { return nil }
        total += length + 1
        ids += first...last
        end = last
      }
      return ids
    }
  }
}
