extension ChangeSet {
  /// What turns one list into another: a new query on the same controller, or a batch so large that
  /// fetching again is cheaper. O(N log N); the number of moves is the least possible.
  ///
  /// A section of the old list lives on in the new one when both its order and its name are the
  /// same. `isUpdated` tells whether a row that keeps its place is worth a report.
  static func difference(
    from old: SectionedIndex, to new: SectionedIndex, isUpdated: (Int64) -> Bool
  ) -> ChangeSet {
    var oldSections: [SectionKey: (identity: CountedForest.Handle, index: Int)] = [:]
    for (index, section) in old.sectionHandles().enumerated() {
      oldSections[old.sections[Int(section)].key] = (section, index)
    }

    var rows: [TouchedRow] = []
    var insertions: [SectionChange] = []
    var start = 0
    for (index, section) in new.sectionHandles().enumerated() {
      let key = new.sections[Int(section)].key
      // A number that no section of the old list has.
      var identity = -2 - section
      if let same = oldSections[key], old.sections[Int(same.identity)].key.name == key.name {
        identity = same.identity
        oldSections[key] = nil
      } else {
        insertions.append(SectionChange(kind: .insert, index: index, name: key.name))
      }
      let end = start + new.sectionOrder.ownWeight(of: section)
      let section = new.ids(in: start..<end).enumerated().map { row, id in
        TouchedRow(
          id: id, isUpdated: isUpdated(id), old: old.place(of: id),
          new: TouchedRow.Place(identity: identity, section: index, row: row, flat: start + row))
      }
      rows += touched(in: section)
      start = end
    }
    for id in old.ids(in: 0..<old.count) where !new.contains(id) {
      rows.append(TouchedRow(id: id, old: old.place(of: id)))
    }

    let deletions = oldSections.values.map { section in
      SectionChange(
        kind: .delete, index: section.index, name: old.sections[Int(section.identity)].key.name)
    }
    return ChangeSet(
      changes: Classifier.classify(&rows),
      sectionChanges: deletions.sorted { $0.index > $1.index } + insertions,
      oldCount: old.count, newCount: new.count,
      oldSectionCount: old.sectionCount, newSectionCount: new.sectionCount)
  }

  /// Leaves out the longest run of rows that were in this section and kept their order, but for the
  /// updated ones.
  private static func touched(in section: [TouchedRow]) -> [TouchedRow] {
    let stayed = section.indices.filter { section[$0].old?.identity == section[$0].new?.identity }
    let keeps = Classifier.longestIncreasingRun(of: stayed.map { section[$0].old?.flat ?? 0 })
    var isTouched = [Bool](repeating: true, count: section.count)
    for (position, row) in stayed.enumerated() where keeps[position] {
      isTouched[row] = section[row].isUpdated
    }
    return section.indices.filter { isTouched[$0] }.map { section[$0] }
  }
}
