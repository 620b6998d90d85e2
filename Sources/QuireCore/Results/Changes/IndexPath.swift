/// A row's place as the user sees it: the section, and the row within it.
struct IndexPath: Hashable, Comparable, Sendable {
  var section: Int
  var row: Int

  static func < (left: IndexPath, right: IndexPath) -> Bool {
    left.section != right.section ? left.section < right.section : left.row < right.row
  }
}
