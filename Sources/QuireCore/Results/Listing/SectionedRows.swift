/// Rows in sections, counted over all of them: a live list, or a kept state of one.
protocol SectionedRows: AnyObject {
  var count: Int { get }
  var sectionCount: Int { get }
  func ids(in window: Range<Int>) -> [Int64]
  /// nil beyond the last row.
  func sectionIndex(containingFlat flat: Int) -> Int?
  /// All sections as columns.
  func sectionsPage(nulSeparated: Bool) throws(Failure) -> Page
}
