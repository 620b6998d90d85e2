/// What a list was asked to be. It never changes, and any thread may make a listing of it.
struct ListDefinition: @unchecked Sendable {
  /// A copy, which nothing else has.
  let request: FetchRequest
  let sectioning: Listing.Sectioning

  init(_ request: FetchRequest, _ sectioning: Listing.Sectioning) {
    self.request = request.copy()
    self.sectioning = sectioning
  }

  /// Without what would have the thread of the store let go of the program's: it calls no function of that.
  var forThreadOfStore: ListDefinition {
    let copy = ListDefinition(request, sectioning)
    copy.request.progress = nil
    return copy
  }

  /// Whether a thread of the store can make a list of it: nothing of it calls the program, and all rows count.
  var isForAnyThread: Bool {
    if request.limit != nil || request.offset != 0 { return false }
    if request.predicate?.sides.contains(where: \.callsProgram) == true { return false }
    if case .rule(let rule) = sectioning, rule.key.callsProgram { return false }
    return true
  }
}

extension Listing {
  /// The rule by which rows are gathered.
  enum Sectioning {
    case none
    /// Values of a key path, in the order of the first sort key where that is the same.
    case keyPath(String)
    case rule(SectionRule)
  }
}
