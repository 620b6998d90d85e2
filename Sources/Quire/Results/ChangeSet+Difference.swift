extension ChangeSet {
  /// What turns one list into another: a new query on the same controller, or two moments of one. O(N log N) at worst,
  /// but blocks that both share at the ends of a section cost next to nothing. The number of moves is the least
  /// possible.
  ///
  /// A section of the old list lives on in the new one when both its order and its name are the same. `renamed` has the
  /// new ids of old rows that have others now, `updated` the rows, by their new ids, that are worth a report when they
  /// keep their place.
  static func difference(
    from old: ListSnapshot, to new: ListSnapshot, renamed: [Int64: Int64] = [:], updated: Set<Int64> = []
  ) -> ChangeSet {
    var rest: [SectionKey: Int] = [:]
    for (index, section) in old.sections.enumerated() { rest[section.key] = index }
    var counterparts: [Int?] = []
    for section in new.sections {
      let same = rest[section.key]
      if let same, old.sections[same].key.name == section.key.name { rest[section.key] = nil }
      counterparts.append(same.flatMap { old.sections[$0].key.name == section.key.name ? $0 : nil })
    }

    // Where the rows were that are not in place at the ends of their sections.
    var oldPlaces: [Int64: TouchedRow.Place] = [:]
    var oldRows: [(id: Int64, place: TouchedRow.Place)] = []
    func add(_ section: Int, _ range: Range<Int>) {
      for (offset, id) in old.ids(in: range).enumerated() {
        let flat = range.lowerBound + offset
        let place = TouchedRow.Place(
          identity: Int32(section), section: section, row: flat - old.sections[section].start, flat: flat)
        let id = renamed[id] ?? id
        oldPlaces[id] = place
        oldRows.append((id, place))
      }
    }
    for section in rest.values.sorted() { add(section, old.rows(of: section)) }
    for case (let index, let same?) in counterparts.enumerated() {
      add(same, old.rows(of: same, besides: new, index))
    }

    var rows: [TouchedRow] = []
    var remaining: Set<Int64> = []
    for (index, same) in counterparts.enumerated() {
      let start = new.sections[index].start
      // A number that no section of the old list has.
      let identity = same.map { Int32($0) } ?? Int32(-2 - index)
      let changed = same.map { new.rows(of: index, besides: old, $0) } ?? new.rows(of: index)
      let section = new.ids(in: changed).enumerated().map { offset, id in
        let flat = changed.lowerBound + offset
        remaining.insert(id)
        return TouchedRow(
          id: id, isUpdated: updated.contains(id), old: oldPlaces[id],
          new: TouchedRow.Place(identity: identity, section: index, row: flat - start, flat: flat))
      }
      rows += touched(in: section)
      guard let same, !updated.isEmpty else { continue }
      rows += inPlace(index, same, besides: changed, old, new, updated)
    }
    for (id, place) in oldRows where !remaining.contains(id) { rows.append(TouchedRow(id: id, old: place)) }

    let deletions = rest.values.sorted(by: >).map {
      SectionChange(kind: .delete, index: $0, name: old.sections[$0].key.name)
    }
    let insertions = counterparts.enumerated().filter { $0.element == nil }.map {
      SectionChange(kind: .insert, index: $0.offset, name: new.sections[$0.offset].key.name)
    }
    return ChangeSet(
      changes: Classifier.classify(&rows), sectionChanges: deletions + insertions, oldCount: old.count,
      newCount: new.count, oldSectionCount: old.sections.count, newSectionCount: new.sections.count)
  }

  /// The difference of two moments, of one list or not. What rows show is known of moments of one list with no fetch in
  /// between; otherwise rows that keep their place are taken for unchanged.
  static func between(_ old: ListSnapshot, _ new: ListSnapshot) -> ChangeSet {
    if let (updated, renamed) = old.moment.changes(until: new.moment) {
      return difference(from: old, to: new, renamed: renamed, updated: updated)
    }
    if let (updated, renamed) = new.moment.changes(until: old.moment) {
      // Backwards.
      let former = Dictionary(renamed.map { ($1, $0) }) { first, _ in first }
      return difference(from: old, to: new, renamed: former, updated: Set(updated.map { former[$0] ?? $0 }))
    }
    return difference(from: old, to: new)
  }

  /// Leaves out the longest run of rows that were in this section and kept their order, but for the updated ones.
  private static func touched(in section: [TouchedRow]) -> [TouchedRow] {
    let stayed = section.indices.filter { section[$0].old?.identity == section[$0].new?.identity }
    let keeps = Classifier.longestIncreasingRun(of: stayed.map { section[$0].old?.flat ?? 0 })
    var isTouched = [Bool](repeating: true, count: section.count)
    for (position, row) in stayed.enumerated() where keeps[position] {
      isTouched[row] = section[row].isUpdated
    }
    return section.indices.filter { isTouched[$0] }.map { section[$0] }
  }

  /// The updated rows of a section outside of `changed`: they are at the same distance from its beginning, or its end.
  private static func inPlace(
    _ index: Int, _ same: Int, besides changed: Range<Int>, _ old: ListSnapshot, _ new: ListSnapshot,
    _ updated: Set<Int64>
  ) -> [TouchedRow] {
    let now = new.rows(of: index), before = old.rows(of: same)
    var rows: [TouchedRow] = []
    func add(_ range: Range<Int>, shiftedBy shift: Int) {
      for (offset, id) in new.ids(in: range).enumerated() where updated.contains(id) {
        let flat = range.lowerBound + offset
        func place(_ flat: Int, _ section: Int, _ start: Int) -> TouchedRow.Place {
          TouchedRow.Place(identity: Int32(same), section: section, row: flat - start, flat: flat)
        }
        rows.append(
          TouchedRow(
            id: id, old: place(flat - shift, same, before.lowerBound), new: place(flat, index, now.lowerBound)))
      }
    }
    add(now.lowerBound..<changed.lowerBound, shiftedBy: now.lowerBound - before.lowerBound)
    add(changed.upperBound..<now.upperBound, shiftedBy: now.upperBound - before.upperBound)
    return rows
  }
}
