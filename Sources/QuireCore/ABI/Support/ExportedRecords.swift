import CQuire

// The records of change sets as C sees them.

extension Change {
  /// The change as C sees it, for the time of a call.
  func withExported(_ body: (UnsafePointer<quire_change>) -> Void) {
    withExtendedLifetime(self) {
      keys.map(\.lent).withUnsafeBufferPointer { keys in
        let exported = quire_change(self, keys)
        withUnsafePointer(to: exported, body)
      }
    }
  }
}

extension SectionChange {
  /// The same for a section.
  func withExported(_ body: (UnsafePointer<quire_section_change>) -> Void) {
    withExtendedLifetime(self) { withUnsafePointer(to: quire_section_change(self), body) }
  }
}

extension ChangeSet {
  /// The whole change set as C sees it, for the time of a call, or longer where the callback retains it.
  func withExported(_ body: (UnsafePointer<quire_changes>) -> Void) {
    let exported = ExportedChanges(self)
    withExtendedLifetime(exported) { body(UnsafePointer(UnsafeMutablePointer<quire_changes>.lending(exported))) }
  }
}

extension quire_change {
  /// `keys` are those of the change, as C sees them.
  init(_ change: Change, _ keys: UnsafeBufferPointer<quire_string>) {
    self.init(
      kind: UInt32(change.kind.rawValue), key_count: UInt32(clamping: keys.count), id: change.id,
      old_section: Int64(change.oldSection), old_row: Int64(change.oldRow), old_flat: Int64(change.oldFlat),
      new_section: Int64(change.newSection), new_row: Int64(change.newRow), new_flat: Int64(change.newFlat),
      keys: keys.isEmpty ? nil : keys.baseAddress)
  }
}

extension quire_section_change {
  init(_ change: SectionChange) {
    self.init(
      kind: UInt32(change.kind.rawValue), reserved: 0, index: Int64(change.index), name: change.name.lent,
      value: (try? exported(change.value, nameOf: change.name)) ?? quire_value())
  }
}

extension quire_aggregate_change {
  init(_ change: AggregateChange) {
    self.init(
      section: Int64(change.section), name: change.name.lent,
      value: (try? exported(change.value, nameOf: change.text)) ?? quire_value())
  }
}

extension quire_step {
  /// Without the ids of a range.
  init(_ step: Step) {
    self.init(
      kind: UInt32(step.kind.rawValue), reserved: 0, id: step.id, section: Int64(step.section), row: Int64(step.row),
      to_section: Int64(step.toSection), to_row: Int64(step.toRow), flat: Int64(step.flat), to_flat: Int64(step.toFlat),
      removed: Int64(step.removed), inserted: Int64(step.inserted), removed_ids: nil, inserted_ids: nil)
  }
}
