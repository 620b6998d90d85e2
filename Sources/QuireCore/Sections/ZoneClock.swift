/// Moments between which the clocks of a time zone show one offset. In seconds since 1970; the end is no part of it.
struct OffsetSpan: Equatable {
  let start: Int64
  let end: Int64
  /// The seconds by which the clocks are ahead of UTC: more than -25 hours and less than 26.
  let offset: Int64

  func contains(_ moment: Int64) -> Bool { start <= moment && moment < end }
}

/// Returns the offset that the clocks of a time zone show.
protocol ZoneClock: AnyObject {
  /// The span around a moment. The moments next to it may have the same offset.
  func span(around moment: Int64) throws(Failure) -> OffsetSpan
}

/// The offsets of a zone as a TZif file has them: a table of changes, and a rule for the time after the last of them.
final class ZoneTable: ZoneClock, Sendable {
  /// When the offset changes, ascending.
  private let changes: ContiguousArray<Int64>
  /// The offset before the first change, and from each change on.
  private let offsets: ContiguousArray<Int32>
  /// For the time from the last change on.
  private let rule: ZoneRule?

  static let utc = ZoneTable(changes: [], offsets: [0], rule: nil)

  /// Up to this year the changes by a rule are added to the table, where they are found faster.
  private static let lastYearInTable = 2100

  /// There is one more offset than there are changes.
  init(changes: ContiguousArray<Int64>, offsets: ContiguousArray<Int32>, rule: ZoneRule?) {
    assert(offsets.count == changes.count + 1)
    var changes = changes, offsets = offsets
    if let rule, rule.summer != nil, var last = changes.last {
      // No date is before the year 1.
      let first = max(0, CalendarDay(number: Int(last.dividedDown(by: ZoneRule.day))).year - 1)
      for change in (first...max(first, ZoneTable.lastYearInTable)).lazy.flatMap(rule.changes) {
        if change.moment > last {
          changes.append(change.moment)
          offsets.append(Int32(change.offset))
          last = change.moment
        } else if change.moment == last {
          offsets[changes.count] = Int32(change.offset)
        }
      }
    }
    self.changes = changes
    self.offsets = offsets
    self.rule = rule
  }

  func span(around moment: Int64) -> OffsetSpan {
    let place = changes.partitionPoint { $0 <= moment }
    let start = place == 0 ? Int64.min : changes[place - 1]
    if place < changes.count { return OffsetSpan(start: start, end: changes[place], offset: Int64(offsets[place])) }
    guard let rule else { return OffsetSpan(start: start, end: .max, offset: Int64(offsets[place])) }
    let span = rule.span(around: moment)
    return OffsetSpan(start: max(start, span.start), end: span.end, offset: span.offset)
  }
}
