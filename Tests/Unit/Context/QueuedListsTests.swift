import Testing

@testable import QuireCore

/// A live list whose last reference goes in the midst of a look at it, as when another thread releases it just then.
private final class VanishingList: ChangeSource {
  let number: Int64
  var references: [VanishingList] = []
  private let atEnd: () -> Void

  init(number: Int64, atEnd: @escaping () -> Void = {}) {
    self.number = number
    self.atEnd = atEnd
  }

  /// The reference of the look is the last one when this returns.
  var hasQueuedChanges: Bool {
    references = []
    return false
  }

  deinit { atEnd() }
}

private final class LastingList: ChangeSource {
  let number: Int64
  var hasQueuedChanges = true

  init(number: Int64) { self.number = number }
}

@Suite("The lists of a context that have queued changes")
struct QueuedListsTests {
  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
  }

  /// Notes a list that nothing but itself holds, and that runs `atEnd` when it goes.
  private func noteVanishing(_ atEnd: @escaping () -> Void) {
    let list = VanishingList(number: context.queuedLists.takeNumber(), atEnd: atEnd)
    list.references = [list]
    context.queuedLists.note(list)
  }

  private func noteLasting() -> LastingList {
    let list = LastingList(number: context.queuedLists.takeNumber())
    context.queuedLists.note(list)
    return list
  }

  @Test("Those with changes come by their numbers, and those without are left out")
  func order() {
    let lists = (0..<40).map { _ in noteLasting() }
    for list in lists where list.number % 3 != 0 { list.hasQueuedChanges = false }
    var seen: [Int64] = [], last: Int64 = 0
    while let next = context.queuedLists.next(after: last) {
      seen.append(next)
      last = next
    }
    #expect(seen == lists.map(\.number).filter { $0 % 3 == 0 })
  }

  @Test("The end of a list asks for the lists and queues changes", arguments: [0, 1] as [Int64])
  func endWithinALook(after number: Int64) {
    let first = noteLasting()
    let late = LastingList(number: context.queuedLists.takeNumber())
    var seen: [Int64?] = []
    let context = context
    for _ in 0..<3 {
      noteVanishing {
        context.queuedLists.note(late)
        seen.append(context.queuedLists.next(after: 0))
      }
    }
    let last = noteLasting()
    let found = context.queuedLists.next(after: number)
    #expect(number == 0 ? found == first.number : found == late.number || found == last.number)
    #expect(seen == [first.number, first.number, first.number])
    #expect(context.queuedLists.next(after: first.number) == late.number)
    #expect(context.queuedLists.next(after: late.number) == last.number)
    #expect(context.queuedLists.next(after: last.number) == nil)
  }

  @Test("The end of a list queues changes while another one is noted")
  func endWithinANote() {
    let late = LastingList(number: context.queuedLists.takeNumber())
    var ends = 0
    let context = context
    for _ in 0..<40 {
      noteVanishing {
        ends += 1
        context.queuedLists.note(late)
      }
    }
    let last = noteLasting()
    #expect(ends > 0)
    #expect(context.queuedLists.next(after: 0) == late.number)
    #expect(context.queuedLists.next(after: late.number) == last.number)
  }
}
