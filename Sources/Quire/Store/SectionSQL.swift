/// The sections of one run of a plan, in which SQL calls for them row by row. For one statement at a time.
final class SectionScan {
  fileprivate let key: Expression
  private let maker: SectionMaker
  private var found: [SortKey: SectionKey] = [:]

  init(_ key: Expression, _ maker: SectionMaker) {
    self.key = key
    self.maker = maker
  }

  /// The bytes that order a section among the others.
  func order(of item: Item) throws(Failure) -> SortKey {
    let section = try maker.section(of: item.sectionValue(of: key))
    if found[section.order] == nil { found[section.order] = section }
    return section.order
  }

  /// The section of those bytes, which this gave.
  func section(_ order: SortKey) throws(Failure) -> SectionKey {
    if let section = found[order] { return section }
    throw Failure(.database, "A section that SQL passed on is damaged.")
  }
}

extension Item {
  /// The one value that `key` gives.
  func sectionValue(of key: Expression) throws(Failure) -> Value {
    if let value = scalar { return value }
    throw Failure(
      .invalidArgument,
      "\(key.text) gives \(kindName), which no section can be made of. Use one of the values, their number or another "
        + "calculation.")
  }
}

extension SQLCompiler {
  /// The column that orders rows by their sections; never NULL.
  func order(of sections: SectionScan, _ row: SQLRow) throws(Failure) -> String {
    try inParts { () throws(Failure) in
      let term = try term(sections.key, SQLScope(subject: row))
      if case .collection = term { _ = try Item.list([]).sectionValue(of: sections.key) }
      return try computed(argument(term, sections.key.text), .section(sections)).sql
    }
  }
}
