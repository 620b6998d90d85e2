extension SectionedIndex {
  /// Brings the list up to date with a batch, and reports it as one change set. O(k log N).
  ///
  /// A row that was not in the list and still is not does not count; of several changes of one id
  /// the last one holds.
  func apply(_ changes: [RowChange]) -> ChangeSet {
    defer { checkAfterChange() }
    let oldCount = count
    let oldSectionCount = sectionCount
    let changes = lastOfEach(changes)
    var rows: [TouchedRow] = []
    rows.reserveCapacity(changes.count)
    var moving: [Int] = []
    for (place, change) in changes.enumerated() {
      let spot = locate(change.id)
      rows.append(TouchedRow(id: change.id, isUpdated: change.isUpdated, old: spot.map(self.place)))
      if !keepsPlace(change, at: spot) { moving.append(place) }
    }

    for place in moving {
      if let (block, offset) = locate(changes[place].id) { removeRow(at: offset, of: block) }
    }
    var newSections: [Handle] = []
    for place in moving {
      guard let key = changes[place].newKey else { continue }
      let (section, isNew) = section(for: key.section)
      if isNew { newSections.append(section) }
      insertRow(changes[place].id, key.order, into: section)
    }
    let deletions = removeEmptiedSections(of: rows)
    for index in rows.indices { rows[index].new = moving.isEmpty ? rows[index].old : place(of: rows[index].id) }

    let insertions = newSections.map {
      SectionChange(
        kind: .insert, index: sectionOrder.rank(of: $0).position, key: key(of: $0))
    }
    return ChangeSet(
      changes: Classifier.classify(&rows) { changes[$0].names },
      sectionChanges: deletions + insertions.sorted { $0.index < $1.index },
      oldCount: oldCount, newCount: count, oldSectionCount: oldSectionCount,
      newSectionCount: sectionCount
    ).drawing { id(atFlat: $0) }
  }

  private func lastOfEach(_ changes: [RowChange]) -> [RowChange] {
    var ids = changes.map(\.id)
    ids.sort()
    if !ids.indices.dropFirst().contains(where: { ids[$0] == ids[$0 - 1] }) { return changes }
    var positions: [Int64: Int] = [:]
    for (position, change) in changes.enumerated() { positions[change.id] = position }
    return changes.enumerated().filter { positions[$1.id] == $0 }.map(\.element)
  }

  private func keepsPlace(_ change: RowChange, at spot: (block: Handle, offset: Int)?) -> Bool {
    if change.keepsPlace { return true }
    guard let key = change.newKey, let (block, offset) = spot else { return false }
    let section = self.key(of: section(of: block))
    return (!isSectioned || section == key.section)
      && self[block].order(of: offset, against: key.order) == 0
  }

  /// Takes out the sections that have lost their last row; descending by old index.
  private func removeEmptiedSections(of rows: [TouchedRow]) -> [SectionChange] {
    guard isSectioned else { return [] }
    var emptied: [Handle: Int] = [:]
    for case let old? in rows.lazy.map(\.old)
    where sectionOrder.ownWeight(of: old.identity) == 0 && !sections[Int(old.identity)].isFixed {
      emptied[old.identity] = old.section
    }
    return emptied.sorted { $0.value > $1.value }.map { section, index in
      let key = self.key(of: section)
      removeSection(section)
      return SectionChange(kind: .delete, index: index, key: key)
    }
  }
}
