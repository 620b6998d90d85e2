/// The aggregates of a list, of each section and of the whole, and the values that they are made of. A change costs
/// what it touches, in O(log N), and never a look at the other rows.
final class AggregateTable {
  typealias Handle = SectionedIndex.Handle

  /// The values of one expression, by the slots of the rows.
  private final class Column {
    var values = ContiguousArray<Value>()
    /// By section; the first is of the whole list, unless that has but one.
    var tallies = ContiguousArray<AggregateTally>()
    var isSummed = false
    var least: ExtremeValues?
    var greatest: ExtremeValues?
  }

  private let plan: AggregatePlan
  private let columns: [Column]
  private let isSectioned: Bool
  private var slots = RowMap()
  private var freed: [Int32] = []
  /// Where the rows are shown, by slot; none for rows that are only known.
  private var sections = ContiguousArray<Handle>()
  /// Rows that are shown, by section.
  private var sizes = ContiguousArray<Int>()
  /// What is known of rows and not taken on yet; without values, rows that may be known no more.
  private var staged: [Int64: [Value]] = [:]
  /// What was asked for since the last change.
  private(set) var lent: [Int: (value: Value, text: Text)] = [:]

  init(_ plan: AggregatePlan, isSectioned: Bool) {
    self.plan = plan
    self.isSectioned = isSectioned
    columns = plan.columns.map { _ in Column() }
    for part in plan.formulas.flatMap(\.parts) {
      let column = columns[part.column]
      switch part.kind {
      case .count: break
      case .sum, .average: column.isSummed = true
      case .min: column.least = column.least ?? ExtremeValues(isGreatest: false)
      case .max: column.greatest = column.greatest ?? ExtremeValues(isGreatest: true)
      }
    }
  }

  // MARK: Taking on

  /// What was read of a row that is, or will be, among those that are known. What is shown stays as it is.
  func take(_ id: Int64, _ values: [Value]) {
    if slots[id] >= 0 { staged[id] = values } else { _ = addRow(id, values) }
  }

  /// Forgets what was read.
  func removeAll() {
    (slots, freed, sections, staged) = (RowMap(), [], [], [:])
    for column in columns { column.values = [] }
  }

  /// Rows that may have ceased to be known.
  func doubt(_ ids: [Int64]) { for id in ids where staged[id] == nil { staged[id] = [] } }

  /// The row's values as they were last found out.
  func values(of id: Int64) -> [Value]? {
    if let values = staged[id], !values.isEmpty { return values }
    let slot = slots[id]
    return slot < 0 ? nil : columns.map { $0.values[Int(slot)] }
  }

  func rename(_ temporary: Int64, to id: Int64) {
    if let values = staged.removeValue(forKey: temporary) { staged[id] = values }
    let slot = slots[temporary]
    if slot < 0 { return }
    slots.remove(temporary)
    slots.set(slot, for: id)
  }

  /// The rows of a list that was read just now.
  func load(_ contents: ListContents) {
    contents.index.forEachBlock { _, _, ids in for id in ids { settle(id, contents) } }
    staged = [:]
  }

  /// Brings everything up to date with what became of rows, of which `shown` has those that are, or were, shown.
  func apply(_ changes: [RowChange], shown: [RowChange], _ contents: ListContents) -> [AggregateChange] {
    let total = results(of: nil)
    var former: [Handle: [Value]] = [:]
    func note(_ section: Handle) {
      if former[section] != nil { return }
      let isThere = size(of: section) > 0 || contents.index.isPermanent(section)
      former[section] = isThere ? results(of: section) : []
    }
    for change in changes { staged[change.id] = change.newKey == nil ? [] : change.values }
    doubt(shown.map(\.id))
    for id in staged.keys { settle(id, contents, note) }
    staged = [:]
    var found = difference(-1, total, results(of: nil))
    for (section, old) in former where size(of: section) > 0 || contents.index.isPermanent(section) {
      let place = contents.index.sectionOrder.rank(of: section).position
      found += difference(place, old, results(of: section))
    }
    // Lent text lasts until the next report.
    if !found.isEmpty { lent = [:] }
    return found.sorted { $0.section < $1.section }
  }

  /// The differences of these aggregates, those of `contents`, from those of another list, by the sections that came
  /// and went.
  func changes(
    from other: ListContents, in contents: ListContents, _ sectionChanges: [SectionChange]
  ) -> [AggregateChange] {
    guard let table = other.aggregates else { return [] }
    var gone: Set<Int> = [], come: Set<Int> = []
    for change in sectionChanges {
      if change.kind == .delete { gone.insert(change.index) } else { come.insert(change.index) }
    }
    // The others are the same, in their order.
    let stayed = other.index.sectionHandles().enumerated().filter { !gone.contains($0.offset) }
    var next = 0
    var found = difference(-1, table.results(of: nil), results(of: nil))
    for (place, section) in contents.index.sectionHandles().enumerated() {
      var old: [Value] = []
      if !come.contains(place), next < stayed.count {
        old = table.results(of: stayed[next].element)
        next += 1
      }
      found += difference(place, old, results(of: section))
    }
    return found
  }

  private func difference(_ section: Int, _ old: [Value], _ new: [Value]) -> [AggregateChange] {
    var found: [AggregateChange] = []
    for (place, value) in new.enumerated() where place >= old.count || !value.isIdentical(to: old[place]) {
      found.append(AggregateChange(section: section, name: plan.formulas[place].name, value: value))
    }
    return found
  }

  // MARK: Rows

  private func addRow(_ id: Int64, _ values: [Value]) -> Int32 {
    let slot = freed.popLast() ?? Int32(sections.count)
    if Int(slot) == sections.count {
      sections.append(CountedForest.none)
      for column in columns { column.values.append(.nil) }
    }
    slots.set(slot, for: id)
    for (column, value) in zip(columns, values) { column.values[Int(slot)] = value }
    return slot
  }

  /// Puts a row where the list has it.
  private func settle(_ id: Int64, _ contents: ListContents, _ note: (Handle) -> Void = { _ in }) {
    let block = contents.index.blockOfRow[id]
    let section = block < 0 ? CountedForest.none : contents.index.section(of: block)
    let values = staged[id] ?? []
    var slot = slots[id]
    if slot >= 0 {
      let old = sections[Int(slot)]
      let isSame = values.isEmpty || zip(columns, values).allSatisfy { $0.values[Int(slot)].isIdentical(to: $1) }
      if isSame, section == old, section >= 0 { return }
      if old >= 0 {
        note(old)
        count(slot, in: old, isTaken: true)
      }
      if section < 0, !contents.contains(id) {
        slots.remove(id)
        sections[Int(slot)] = CountedForest.none
        for column in columns { column.values[Int(slot)] = .nil }
        freed.append(slot)
        return
      }
      for (column, value) in zip(columns, values) { column.values[Int(slot)] = value }
    } else {
      if values.isEmpty || !contents.contains(id) { return }
      slot = addRow(id, values)
    }
    sections[Int(slot)] = section
    if section < 0 { return }
    note(section)
    count(slot, in: section, isTaken: false)
  }

  private func count(_ slot: Int32, in section: Handle, isTaken: Bool) {
    while sizes.count <= Int(section) { sizes.append(0) }
    sizes[Int(section)] += isTaken ? -1 : 1
    for column in columns {
      let value = column.values[Int(slot)]
      if value.isNil { continue }
      while column.tallies.count <= Int(section) + 1 { column.tallies.append(AggregateTally()) }
      column.tallies[Int(section) + 1].add(value, isTaken: isTaken, isSummed: column.isSummed)
      if isSectioned { column.tallies[0].add(value, isTaken: isTaken, isSummed: column.isSummed) }
      guard value.comparisonClass?.hasOrder == true else { continue }
      if isTaken {
        column.least?.remove(slot, from: section, column.values)
        column.greatest?.remove(slot, from: section, column.values)
      } else {
        column.least?.insert(slot, in: section, column.values)
        column.greatest?.insert(slot, in: section, column.values)
      }
    }
  }

  // MARK: Reading

  private func size(of section: Handle) -> Int { Int(section) < sizes.count ? sizes[Int(section)] : 0 }

  /// A value of a section, or of the whole list, and the text of a decimal; both last until the next change.
  func value(of name: String, in section: Handle?) throws(Failure) -> (value: Value, text: Text) {
    let place = try plan.place(of: name)
    let key = (Int(section ?? -1) + 1) * plan.formulas.count + place
    if let known = lent[key] { return known }
    let value = try result(plan.formulas[place], of: section)
    var text: Text = ""
    if case .decimal(let decimal) = value { text = Text(decimal.description) }
    lent[key] = (value, text)
    return (value, text)
  }

  /// An empty list in place of what cannot be calculated.
  private func results(of section: Handle?) -> [Value] {
    plan.formulas.map { (try? result($0, of: section)) ?? .list([]) }
  }

  private func result(_ formula: AggregatePlan.Formula, of section: Handle?) throws(Failure) -> Value {
    var scope = Scope(subject: .nil, variables: [:])
    for part in formula.parts { scope.arguments.append(.value(try value(of: part, in: section))) }
    if let value = try formula.node.item(&scope).scalar { return value }
    throw Failure(.invalidPredicate, "The aggregate '\(formula.name)' gives a list, which is no value.")
  }

  private func value(of part: AggregatePlan.Part, in section: Handle?) throws(Failure) -> Value {
    let column = columns[part.column]
    let section = isSectioned ? section : section ?? 0
    let place = Int(section ?? -1) + 1
    let tally = place < column.tallies.count ? column.tallies[place] : AggregateTally()
    if let problem = tally.problem(part.kind) {
      throw Failure(.invalidPredicate, "\(part.expression.text) is asked of \(problem).")
    }
    switch part.kind {
    case .count: return .integer(Int64(tally.count))
    case .sum: return tally.sum
    case .average: return tally.average
    case .min, .max:
      let extreme = part.kind == .min ? column.least : column.greatest
      return extreme?.row(of: section).map { column.values[Int($0)] } ?? .nil
    }
  }

  // MARK: Invariants

  /// Every broken promise as a sentence; empty when it is sound. For tests.
  func checkInvariants(_ contents: ListContents) -> [String] {
    var problems: [String] = []
    let fresh = AggregateTable(plan, isSectioned: isSectioned)
    contents.index.forEachBlock { section, _, ids in
      for id in ids {
        let slot = slots[id]
        if slot < 0 || sections[Int(slot)] != section {
          problems.append("Row \(id) is counted elsewhere than it is shown.")
          continue
        }
        fresh.take(id, values(of: id) ?? [])
      }
    }
    fresh.load(contents)
    for section in [nil] + contents.index.sectionHandles().map({ Optional($0) }) {
      if !difference(0, fresh.results(of: section), results(of: section)).isEmpty {
        problems.append("Section \(section ?? -1) has \(results(of: section)), not \(fresh.results(of: section)).")
      }
    }
    let rows = contents.window?.rows ?? contents.index
    if slots.count != rows.count { problems.append("\(slots.count) rows have values, and \(rows.count) are known.") }
    return problems
  }
}

extension SectionedIndex {
  /// Whether a section is there even without rows.
  fileprivate func isPermanent(_ section: Handle) -> Bool { !isSectioned || sections[Int(section)].isFixed }
}
