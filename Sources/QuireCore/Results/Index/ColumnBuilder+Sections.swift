extension ColumnBuilder {
  /// The values of sections. Those of several kinds are replaced by their names.
  init(sectionValues sections: [SectionKey]) {
    var kind: Column.Kind?
    var isMixed = false
    for case let next? in sections.lazy.map({ Column.Kind(of: $0.value) }) {
      if let kind, kind != next { isMixed = true }
      kind = next
    }
    self.init(name: "value", kind: isMixed ? .text : kind ?? .text, capacity: sections.count)
    for section in sections { append(isMixed && !section.value.isNil ? .text(section.name) : section.value) }
  }
}
