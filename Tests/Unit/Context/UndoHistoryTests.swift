import Testing

@testable import QuireCore

@Suite("Undo: random histories")
struct UndoHistoryTests {
  @Test(
    "Undo and redo bring back every state that was, whatever came between",
    arguments: Dice.seeds(4) + [2077, 2081, 2147, 2168])
  func histories(seed: UInt64) throws {
    print("undo history: seed \(seed)")
    let history = try UndoHistory(seed: seed)
    // The context and what can be undone hold each other until nothing outside holds either.
    history.context.retainExternally()
    defer { history.context.releaseExternally() }
    for step in 0..<1500 {
      do {
        try history.step()
        try history.check()
      } catch {
        Issue.record("step \(step) of seed \(seed): \(error); \(history.log.suffix(12))")
        return
      }
    }
    do {
      try history.endGroups()
      try history.save()
      for isUndo in [true, false, true] {
        for _ in 0..<60 { try history.revert(isUndo: isUndo) }
        try history.save()
      }
    } catch {
      Issue.record("the end of seed \(seed): \(error); \(history.log.suffix(12))")
    }
  }

  @Test("Live lists replay what is undone and redone", arguments: Dice.seeds(3))
  func controllers(seed: UInt64) throws { try checkControllers(Bookshop(seed: seed), seed) }

  @Test("Live lists of a child replay it too", arguments: Dice.seeds(1), [1, 2])
  func controllersOfChildren(seed: UInt64, levels: Int) throws {
    try checkControllers(Bookshop(seed: seed, levels: levels), seed)
  }

  private func checkControllers(_ shop: Bookshop, _ seed: UInt64) throws {
    print("undone under controllers: seed \(seed)")
    shop.context.retainExternally()
    defer { shop.context.releaseExternally() }
    try shop.context.enableUndo(levels: 0)
    let probes = try ResultsControllerTests.probes(shop)
    var undoable: [Bookshop.Facts] = [], redoable: [Bookshop.Facts] = []
    var before = shop.now
    for round in 0..<200 {
      let moment = "round \(round) of seed \(seed)"
      if shop.dice.chance(1, of: 2) {
        for _ in 0..<(1 + shop.dice.roll(5)) {
          let present = shop.now
          try shop.change()
          if shop.now != present { redoable = [] }
        }
        try shop.context.process()
        if shop.now != before { undoable.append(before) }
        before = shop.now
      }
      switch shop.dice.roll(10) {
      case 0, 1: try ResultsControllerTests.assigningIDs(shop, probes) { try shop.save() }
      case 2 where shop.dice.chance(1, of: 3):
        try shop.rollback()
        (undoable, redoable, before) = ([], [], shop.now)
      case 3, 4, 5, 6:
        let state = undoable.popLast()
        try shop.context.undo()
        if let state {
          redoable.append(shop.now)
          shop.jump(to: state)
        }
      case 7, 8:
        let state = redoable.popLast()
        try shop.context.redo()
        if let state {
          undoable.append(shop.now)
          shop.jump(to: state)
        }
      default: break
      }
      before = shop.now
      for probe in probes { try probe.check(shop, moment) }
    }
  }
}
