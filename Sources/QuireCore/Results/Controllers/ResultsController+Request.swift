/// Showing another request.
extension ResultsController {
  /// Lists something else from now on, and tells the difference in a bracket. Before the first fetch there is nothing
  /// to tell.
  ///
  /// On failure it goes on with what it had. Objects keep their ids, so that both entities must be of one tree.
  func setRequest(_ request: FetchRequest, sections: Listing.Sectioning) throws(Failure) {
    try prepareToChange("be given another request")
    try show(awaitedRequest(request, sections: sections))
  }

  /// Has the rows of another request fetched in the background, and goes on with what it shows. The merge for which the
  /// descriptor of the context polls readable then shows them, and tells the difference. A later request takes its
  /// place. A request that only the context's thread can fetch is shown at once.
  ///
  /// Returns the number of the request, which `requestNumber` has when the list shows it.
  @discardableResult
  func beginRequest(_ request: FetchRequest, sections: Listing.Sectioning) throws(Failure) -> Int64 {
    try checkNotTelling("be given another request")
    let next = try awaitedRequest(request, sections: sections)
    let contents = ListContents(next.listing)
    if isFetched, contents.window == nil, contents.aggregates == nil, next.listing.definition.isForAnyThread,
      context.mayFetchInBackground
    {
      awaited?.withdraw()
      awaited = next
      try pursueAwaitedRequest()
    } else {
      try context.process()
      try show(next)
    }
    return next.number
  }

  private func awaitedRequest(
    _ request: FetchRequest, sections: Listing.Sectioning
  ) throws(Failure) -> AwaitedRequest {
    if withheld != nil {
      throw Failure(
        .invalidState, "The results controller is suspended; resume it before you give it another request.")
    }
    let listing = try Listing(request, sections, spareRows: self.listing.spareRows, in: context)
      .calculating(self.listing.aggregates, in: context)
    let root = query.entity.root
    if listing.query.entity.rootNumber != root.rootNumber {
      throw Failure(
        .invalidArgument,
        "A results controller of '\(root.name)' cannot list '\(listing.query.entity.name)', whose objects have ids of "
          + "their own. Make another one.")
    }
    lastRequest += 1
    return AwaitedRequest(
      lastRequest, listing, try ListWatch(listing.query, displaying: watch.displayed, of: context.store))
  }

  /// Shows another request now, and forgets one that is being fetched.
  private func show(_ next: AwaitedRequest) throws(Failure) {
    if isFetched {
      let fresh = try next.listing.contents(in: context)
      try context.notifying {
        take(next)
        replaceContents(with: fresh)
      }
    } else {
      take(next)
      contents = ListContents(next.listing)
    }
  }

  private func take(_ next: AwaitedRequest) {
    awaited?.withdraw()
    awaited = nil
    preparedRequest = nil
    watch = next.watch
    requestNumber = next.number
  }

  /// The bracket by which the list shows a request that was fetched in the background. Objects of the batch were
  /// changed by the merge.
  func bracket(of prepared: RequestPreparation, _ batch: ChangeBatch) throws(Failure) -> ResultsBracket? {
    let next = prepared.request
    preparedRequest = nil
    let fresh = ListContents(next.listing, prepared.index)
    let overlay: PendingOverlay
    do throws(Failure) {
      overlay = try PendingOverlay(next.listing.query, in: context)
      try next.listing.lay(overlay, over: fresh)
    } catch {
      next.withdraw()
      awaited = nil
      // What the merge has changed was looked at for this request alone.
      isAdrift = true
      throw error
    }
    take(next)
    // What the merge has changed is not known where the list lost track of it.
    let contentsMayDiffer = isAdrift
    isAdrift = false
    let objects = batch.changes(ofRoot: next.listing.query.entity.rootNumber).map(\.object)
    let involved = Dictionary(objects.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let isReported = overlay.isEmpty && involved.isEmpty && !contentsMayDiffer && prepared.isExact(for: self)
    return replacement(
      with: fresh, involved, updated: prepared.updated, report: isReported ? prepared.report : nil,
      contentsMayDiffer: contentsMayDiffer)
  }

  /// Where it could not be fetched in the background.
  func showAwaitedRequest() throws(Failure) {
    guard let next = awaited, withheld == nil else { return }
    do throws(Failure) { try show(next) } catch {
      next.withdraw()
      awaited = nil
      throw error
    }
  }

  /// Has the store's thread fetch the request.
  func pursueAwaitedRequest() throws(Failure) {
    guard let next = awaited else { return }
    do throws(Failure) {
      if try !context.beginFetch(anew: true) { try showAwaitedRequest() }
    } catch {
      next.withdraw()
      awaited = nil
      throw error
    }
  }
}
