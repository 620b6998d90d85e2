extension ChangeSet {
  /// Of a list that did not change.
  convenience init(unchanged count: Int, sections: Int) {
    self.init(
      changes: [], sectionChanges: [], oldCount: count, newCount: count, oldSectionCount: sections,
      newSectionCount: sections)
  }

  /// The changes of a list that consists of others, one behind the other. Sections and rows of each count from where
  /// that list begins. A row that left one for another is a delete there and an insert here.
  convenience init(joining sets: [ChangeSet]) {
    var parts: [Part] = []
    var end = Part(oldSection: 0, oldFlat: 0, newSection: 0, newFlat: 0)
    for set in sets {
      parts.append(end)
      end = Part(
        oldSection: end.oldSection + set.oldSectionCount, oldFlat: end.oldFlat + set.oldCount,
        newSection: end.newSection + set.newSectionCount, newFlat: end.newFlat + set.newCount)
    }
    var changes: [Change] = []
    var sectionChanges: [SectionChange] = []
    func add(_ place: Int, _ kind: Change.Kind, _ sectionKind: SectionChange.Kind? = nil) {
      let part = parts[place]
      for var change in sets[place].changes where change.kind == kind {
        if change.oldFlat >= 0 {
          change.oldSection += part.oldSection
          change.oldFlat += part.oldFlat
        }
        if change.newFlat >= 0 {
          change.newSection += part.newSection
          change.newFlat += part.newFlat
        }
        changes.append(change)
      }
      for var change in sets[place].sectionChanges where change.kind == sectionKind {
        change.index += change.kind == .delete ? part.oldSection : part.newSection
        sectionChanges.append(change)
      }
    }
    for place in sets.indices.reversed() { add(place, .delete, .delete) }
    for place in sets.indices { add(place, .insert, .insert) }
    for kind in [Change.Kind.move, .update] { for place in sets.indices { add(place, kind) } }
    self.init(
      changes: changes, sectionChanges: sectionChanges, oldCount: end.oldFlat, newCount: end.newFlat,
      oldSectionCount: end.oldSection, newSectionCount: end.newSection, parts: parts,
      contentsMayDiffer: sets.contains(where: \.contentsMayDiffer))
  }

  /// The list that a change of a row, or of a section, happened in.
  func part(of change: Change) -> Int {
    change.oldSection >= 0 ? part(ofOld: change.oldSection) : part(ofNew: change.newSection)
  }

  func part(of change: SectionChange) -> Int {
    change.kind == .delete ? part(ofOld: change.index) : part(ofNew: change.index)
  }

  private func part(ofOld section: Int) -> Int { parts.partitionPoint { $0.oldSection <= section } - 1 }
  private func part(ofNew section: Int) -> Int { parts.partitionPoint { $0.newSection <= section } - 1 }
}
