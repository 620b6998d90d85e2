/// Which sections of two lists are the same: by name and by value or key, whatever makes them and orders them. Sections
/// do not move: of those that are in another order, the ones with the most rows stay.
private struct SectionPairs {
  /// For each new section the old one, or nil when it is new.
  var counterparts: [Int?] = []
  /// Old sections that are gone, ascending.
  var gone: [Int]

  init(_ old: ListSnapshot, _ new: ListSnapshot) {
    var named: [Text: [Int]] = [:]
    for (index, section) in old.sections.enumerated() { named[section.key.name, default: []].append(index) }
    for section in new.sections {
      let known = named[section.key.name]?.first {
        let key = old.sections[$0].key
        if key == section.key { return true }
        // The only section of a list without sections is not that of nil.
        return !key.order.bytes.isEmpty && !section.key.order.bytes.isEmpty
          && key.value.isIdentical(to: section.key.value)
      }
      counterparts.append(known)
      if let known { named[section.key.name]?.removeAll { $0 == known } }
    }
    let kept = SectionPairs.heaviestRun(of: counterparts, in: old.sections.map(\.count))
    for index in counterparts.indices where counterparts[index].map(kept.contains) == false {
      counterparts[index] = nil
    }
    gone = old.sections.indices.filter { !kept.contains($0) }
  }

  /// Of the run of ascending numbers with the greatest weight, its numbers. Each has its weight plus one, so that
  /// sections without rows stay where they can. O(n log n).
  private static func heaviestRun(of numbers: [Int?], in weights: [Int]) -> Set<Int> {
    let present = numbers.compactMap(\.self)
    if zip(present, present.dropFirst()).allSatisfy(<) { return Set(present) }
    var previous = [Int](repeating: -1, count: weights.count)
    var total = weights
    // A tree of maxima: at each place, where the heaviest run with an end in its range ends.
    var ends = [Int](repeating: -1, count: weights.count + 1)
    func isHeavier(_ one: Int, _ other: Int) -> Bool { other < 0 || one >= 0 && total[one] > total[other] }
    var last = -1
    for number in present {
      var place = number
      while place > 0 {
        if isHeavier(ends[place], previous[number]) { previous[number] = ends[place] }
        place &= place - 1
      }
      total[number] += 1 + (previous[number] < 0 ? 0 : total[previous[number]])
      place = number + 1
      while place < ends.count {
        if isHeavier(number, ends[place]) { ends[place] = number }
        place += place & -place
      }
      if isHeavier(number, last) { last = number }
    }
    var run: Set<Int> = []
    while last >= 0 {
      run.insert(last)
      last = previous[last]
    }
    return run
  }

  var areAllThere: Bool { gone.isEmpty && !counterparts.contains(nil) }

  /// The identity of a section of the new list among all sections of both lists; an old one is known by its index.
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
      newCount: new.count, oldSectionCount: old.sections.count, newSectionCount: new.sections.count
    ).drawing { new.ids(in: $0..<$0 + 1).first }
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

  /// The same where `changed` has all rows, by their new ids, that were reported in between. The others have kept their
  /// order, and are reported only where their section is not the same. `renamed` has the new ids of old rows that have
  /// others now. One look at each id.
  static func difference(
    from old: ListSnapshot, to new: ListSnapshot, changed: Set<Int64>, renamed: [Int64: Int64] = [:]
  ) -> ChangeSet {
    let pairs = SectionPairs(old, new)
    var oldPlaces: [Int64: TouchedRow.Place] = [:]
    var rows: [TouchedRow] = []
    if changed.isEmpty, pairs.areAllThere { return pairs.report(&rows, old, new) }
    let gone = Set(pairs.gone)
    for index in old.sections.indices {
      let start = old.sections[index].start, isGone = gone.contains(index)
      for (row, id) in old.ids(in: old.rows(of: index)).enumerated() {
        let id = renamed.isEmpty ? id : renamed[id] ?? id
        if !isGone, !changed.contains(id) { continue }
        oldPlaces[id] = TouchedRow.Place(identity: Int32(index), section: index, row: row, flat: start + row)
      }
    }
    for index in new.sections.indices {
      let start = new.sections[index].start, identity = pairs.identity(ofNew: index)
      let isNew = pairs.counterparts[index] == nil
      for (row, id) in new.ids(in: new.rows(of: index)).enumerated() where isNew || changed.contains(id) {
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
    if let reported = old.moment.changes(until: new.moment) {
      return difference(from: old, to: new, changed: reported.changed, renamed: reported.renamed)
        .telling(contentsMayDiffer: reported.contentsMayDiffer)
    }
    if let reported = new.moment.changes(until: old.moment) {
      // Backwards.
      let former = Dictionary(reported.renamed.map { ($1, $0) }) { first, _ in first }
      return difference(
        from: old, to: new, changed: Set(reported.changed.map { former[$0] ?? $0 }), renamed: former
      ).telling(contentsMayDiffer: reported.contentsMayDiffer)
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
