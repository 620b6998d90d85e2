@testable import QuireCore

/// Sections by a key path, or a single one, as most tests have them.
extension ResultsController {
  convenience init(
    context: Context, request: FetchRequest, sectionKeyPath: String?, queuesChanges: Bool, spareRows: Int = 256,
    cacheName: Text? = nil
  ) throws(Failure) {
    try self.init(
      context: context, request: request, sections: sectionKeyPath.map { .keyPath($0) } ?? .none,
      queuesChanges: queuesChanges, spareRows: spareRows, cacheName: cacheName)
  }

  func setRequest(_ request: FetchRequest, sectionKeyPath: String?) throws(Failure) {
    try setRequest(request, sections: sectionKeyPath.map { .keyPath($0) } ?? .none)
  }
}
