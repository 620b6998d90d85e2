/// Which sections of two lists are the same: by key and by name.
private struct SectionPairs {
  /// For each new section the old one, or nil when it is new.
  var counterparts: [Int?] = []
  /// Old sections that are gone, ascending.
  var gone: [Int]

  init(_ old: ListSnapshot, _ new: ListSnapshot) {
    var rest: [SectionKey: Int] = [:]
    for (index, section) in old.sections.enumerated() { rest[section.key] = index }
    for section in new.sections {
      if let same = rest[section.key], old.sections[same].key.name == section.key.name {
        rest[section.key] = nil
        counterparts.append(same)
      } else {
        counterparts.append(nil)
      }
    }
    gone = rest.values.sorted()
  }

  /// What tells a section of the new list from all others of both lists; an old one is known by its index.
  func identity(ofNew index: Int) -> CountedForest.Handle {
    counterparts[index].map { CountedForest.Handle($0) } ?? CountedForest.Handle(-2 - index)
  }

  func report(_ rows: inout [TouchedRow], _ old: ListSnapshot, _ new: ListSnapshot) -> ChangeSet {
    let deletions = gone.reversed().map {
      SectionChange(kind: .delete, index: $0, key: old.sections[$0].key)
    }
    let insertions = counterparts.indices.filter { counterparts[$0] == nil }.map {
      SectionChange(kind: .insert, index: $0, key: new.sections[$0].key)
    }
    return ChangeSet(
      changes: Classifier.classify(&rows), sectionChanges: deletions + insertions, oldCount: old.count,
      newCount: new.count, oldSectionCount: old.sections.count, newSectionCount: new.sections.count)
  }
}

extension ChangeSet {
  /// What turns one list into another, of which nothing else is known. O(N log N) at worst, but blocks that both share
  /// at the ends of a section cost next to nothing. The number of moves is the least possible.
  ///
  /// `updated` has the rows that are worth a report when they keep their place.
  static func difference(from old: ListSnapshot, to new: ListSnapshot, updated: Set<Int64> = []) -> ChangeSet {
    let pairs = SectionPairs(old, new)

    // Where the rows were that are not in place at the ends of their sections.
    var oldPlaces: [Int64: TouchedRow.Place] = [:]
    var oldRows: [(id: Int64, place: TouchedRow.Place)] = []
    func add(_ section: Int, _ range: Range<Int>) {
      for (offset, id) in old.ids(in: range).enumerated() {
        let flat = range.lowerBound + offset
        let place = TouchedRow.Place(
          identity: Int32(section), section: section, row: flat - old.sections[section].start, flat: flat)
        oldPlaces[id] = place
        oldRows.append((id, place))
      }
    }
    for section in pairs.gone { add(section, old.rows(of: section)) }
    for case (let index, let same?) in pairs.counterparts.enumerated() {
      add(same, old.rows(of: same, besides: new, index))
    }

    var rows: [TouchedRow] = []
    var remaining: Set<Int64> = []
    for (index, same) in pairs.counterparts.enumerated() {
      let start = new.sections[index].start
      let identity = pairs.identity(ofNew: index)
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

    return pairs.report(&rows, old, new)
  }

  /// The same where `changed` has all rows, by their new ids, that were reported in between: the others have kept their
  /// order, and of those nothing is told. `renamed` has the new ids of old rows that have others now. One look at each
  /// id.
  private static func difference(
    from old: ListSnapshot, to new: ListSnapshot, changed: Set<Int64>, renamed: [Int64: Int64]
  ) -> ChangeSet {
    let pairs = SectionPairs(old, new)
    var oldPlaces: [Int64: TouchedRow.Place] = [:]
    var rows: [TouchedRow] = []
    if changed.isEmpty { return pairs.report(&rows, old, new) }
    for index in old.sections.indices {
      let start = old.sections[index].start
      for (row, id) in old.ids(in: old.rows(of: index)).enumerated() {
        let id = renamed.isEmpty ? id : renamed[id] ?? id
        if !changed.contains(id) { continue }
        oldPlaces[id] = TouchedRow.Place(identity: Int32(index), section: index, row: row, flat: start + row)
      }
    }
    for index in new.sections.indices {
      let start = new.sections[index].start, identity = pairs.identity(ofNew: index)
      for (row, id) in new.ids(in: new.rows(of: index)).enumerated() where changed.contains(id) {
        let place = TouchedRow.Place(identity: identity, section: index, row: row, flat: start + row)
        rows.append(TouchedRow(id: id, old: oldPlaces.removeValue(forKey: id), new: place))
      }
    }
    for (id, place) in oldPlaces { rows.append(TouchedRow(id: id, old: place)) }
    return pairs.report(&rows, old, new)
  }

  /// The difference of two moments, of one list or not. What was reported is known of moments of one list with no fetch
  /// in between; otherwise rows that keep their place are taken for unchanged.
  static func between(_ old: ListSnapshot, _ new: ListSnapshot) -> ChangeSet {
    if let (changed, renamed) = old.moment.changes(until: new.moment) {
      return difference(from: old, to: new, changed: changed, renamed: renamed)
    }
    if let (changed, renamed) = new.moment.changes(until: old.moment) {
      // Backwards.
      let former = Dictionary(renamed.map { ($1, $0) }) { first, _ in first }
      return difference(from: old, to: new, changed: Set(changed.map { former[$0] ?? $0 }), renamed: former)
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
