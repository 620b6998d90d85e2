extension SectionedIndex {
  /// Brings the list up to date with a batch, and reports it as one change set. O(k log N).
  ///
  /// A row that was not in the list and still is not does not count; of several changes of one id
  /// the last one holds.
  func apply(_ changes: [RowChange]) -> ChangeSet {
    let oldCount = count
    let oldSectionCount = sectionCount
    let changes = lastOfEach(changes)
    var rows: [TouchedRow] = []
    rows.reserveCapacity(changes.count)
    var moving: [RowChange] = []
    for change in changes {
      let spot = locate(change.id)
      rows.append(TouchedRow(id: change.id, isUpdated: change.isUpdated, old: spot.map(place)))
      if !keepsKey(change, at: spot) { moving.append(change) }
    }

    var newKeys: [(id: Int64, key: RowKey)] = []
    for change in moving {
      if let (block, offset) = locate(change.id) { removeRow(at: offset, of: block) }
      if let key = change.newKey { newKeys.append((change.id, key)) }
    }
    var newSections: [Handle] = []
    for (id, key) in newKeys {
      let (section, isNew) = section(for: key.section)
      if isNew { newSections.append(section) }
      insertRow(id, key.order, into: section)
    }
    let deletions = removeEmptiedSections(of: rows)
    for index in rows.indices { rows[index].new = moving.isEmpty ? rows[index].old : place(of: rows[index].id) }

    let insertions = newSections.map {
      SectionChange(
        kind: .insert, index: sectionOrder.rank(of: $0).position, key: sections[Int($0)].key)
    }
    return ChangeSet(
      changes: Classifier.classify(&rows),
      sectionChanges: deletions + insertions.sorted { $0.index < $1.index },
      oldCount: oldCount, newCount: count, oldSectionCount: oldSectionCount,
      newSectionCount: sectionCount)
  }

  private func lastOfEach(_ changes: [RowChange]) -> [RowChange] {
    guard changes.count > 1 else { return changes }
    var positions: [Int64: Int] = [:]
    positions.reserveCapacity(changes.count)
    for (position, change) in changes.enumerated() { positions[change.id] = position }
    if positions.count == changes.count { return changes }
    return changes.enumerated().filter { positions[$1.id] == $0 }.map(\.element)
  }

  private func keepsKey(_ change: RowChange, at spot: (block: Handle, offset: Int)?) -> Bool {
    guard let key = change.newKey, let (block, offset) = spot else { return false }
    let section = sections[Int(blocks[Int(block)].section)].key
    return (!isSectioned || section == key.section)
      && blocks[Int(block)].order(of: offset, against: key.order) == 0
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
      let key = sections[Int(section)].key
      removeSection(section)
      return SectionChange(kind: .delete, index: index, key: key)
    }
  }
}
