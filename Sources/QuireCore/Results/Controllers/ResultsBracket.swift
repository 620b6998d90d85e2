/// One bracket of a controller, in steps that several controllers can take together.
///
/// The delegate may be replaced, and the controller released, by any of the calls.
final class ResultsBracket {
  let results: ResultsController
  private let involved: [Int64: ManagedObject]
  private let change: ([Int64: ManagedObject]) -> ChangeSet
  private var told: (any ResultsDelegate)?

  /// `change` brings the contents up to date; it is given the objects that got permanent ids since the bracket began,
  /// by temporary id.
  init(
    _ results: ResultsController, _ involved: [Int64: ManagedObject],
    _ change: @escaping ([Int64: ManagedObject]) -> ChangeSet
  ) {
    self.results = results
    self.involved = involved
    self.change = change
  }

  /// All steps at once.
  func run() {
    open()
    announce()
    deliver(apply())
    close()
  }

  func open() {
    results.bracket = involved
    results.assignedMeanwhile = [:]
  }

  func announce() {
    told = results.delegate
    told?.willChange(results)
    if results.delegate !== told {
      told = results.delegate
      told?.willChange(results)
    }
  }

  func apply() -> ChangeSet {
    let assigned = results.assignedMeanwhile ?? [:]
    results.assignedMeanwhile = nil
    for (temporary, object) in assigned where involved[temporary] != nil { results.bracket?[object.id] = object }
    let report = change(assigned)
    results.note(report)
    results.enqueue(report)
    return report
  }

  func deliver(_ report: ChangeSet) {
    // A delegate that is set now sees the new state and is notified of the changes after it.
    func isStillThere() -> Bool { told != nil && results.delegate === told }
    for change in report.sectionChanges where isStillThere() { told?.didChangeSection(change, in: results) }
    let step = 256, count = told?.hearsOfObjects == true ? report.changes.count : 0
    for start in stride(from: 0, to: count, by: step) where isStillThere() {
      let some = report.changes[start..<min(start + step, report.changes.count)]
      for (change, object) in zip(some, results.objects(of: some)) where isStillThere() {
        told?.didChangeObject(object, change, in: results)
      }
    }
    if isStillThere(), !report.aggregateChanges.isEmpty {
      told?.didChangeAggregates(report.aggregateChanges, in: results)
    }
    if isStillThere() { told?.didChange(results) }
    if isStillThere() { told?.didReport(report, in: results) }
  }

  func close() { results.bracket = nil }
}
