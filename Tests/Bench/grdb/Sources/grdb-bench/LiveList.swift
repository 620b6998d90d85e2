import Dispatch
import Foundation
import GRDB

/// A list that an observation keeps right: it fetches again after each change, and the difference says what to redraw.
final class LiveList {
  private(set) var shown = Shown()
  private(set) var changes = 0
  private let fetched = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "list")
  private var observation: AnyDatabaseCancellable?

  init(_ pool: DatabasePool) {
    let start = DispatchTime.now()
    observation = ValueObservation.tracking(Shown.fetch).start(
      in: pool, scheduling: .async(onQueue: queue),
      onError: { fatalError("\($0)") },
      onChange: { [weak self] in self?.show($0) })
    fetched.wait()
    // A pool may fetch and tell the first value twice; only then is what comes next the answer to a change.
    let taken = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) * 1e-9
    while fetched.wait(timeout: .now() + 0.5 + 3 * taken) == .success {}
  }

  private func show(_ new: Shown) {
    // The first value is shown whole. Beside nothing, a difference would take the square of the number of rows.
    guard !shown.ids.isEmpty else {
      shown = new
      fetched.signal()
      return
    }
    let rows = new.ids.difference(from: shown.ids).inferringMoves()
    let sections = new.sections.map(\.name).difference(from: shown.sections.map(\.name))
    changes += rows.count + sections.count
    shown = new
    fetched.signal()
  }

  /// Returns when the list has followed what `write` committed.
  func following(_ write: () throws -> Void) rethrows {
    try write()
    guard fetched.wait(timeout: .now() + 60) == .success else {
      fatalError("The observation was not told of a change within a minute.")
    }
  }
}
