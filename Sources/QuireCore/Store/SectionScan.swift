/// The sections of one run of a plan, in which SQL calls for them row by row. For one statement at a time.
final class SectionScan {
  let key: Expression
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
