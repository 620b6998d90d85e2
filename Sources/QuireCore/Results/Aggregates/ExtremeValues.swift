/// The row with the least value, or the greatest, in each section and in the whole list. A change costs O(log N).
final class ExtremeValues {
  private let isGreatest: Bool
  private var heaps: ContiguousArray<PlacedHeap> = []
  private var places: ContiguousArray<Int32> = []
  /// The sections with values, by the first of each.
  private var whole = PlacedHeap()
  private var sectionPlaces: ContiguousArray<Int32> = []

  init(isGreatest: Bool) { self.isGreatest = isGreatest }

  /// The row; nil where there is no value. Without a section, of all.
  func row(of section: Int32?) -> Int32? {
    guard let section = section ?? whole.first, Int(section) < heaps.count else { return nil }
    return heaps[Int(section)].first
  }

  /// `values` are those of all rows.
  func insert(_ row: Int32, in section: Int32, _ values: ContiguousArray<Value>) {
    while places.count <= Int(row) { places.append(-1) }
    while heaps.count <= Int(section) {
      heaps.append(PlacedHeap())
      sectionPlaces.append(-1)
    }
    let isNew = heaps[Int(section)].first == nil
    heaps[Int(section)].insert(row, &places) { precedes($0, $1, values) }
    if isNew {
      whole.insert(section, &sectionPlaces) { sectionPrecedes($0, $1, values) }
    } else {
      whole.settle(Int(sectionPlaces[Int(section)]), &sectionPlaces) { sectionPrecedes($0, $1, values) }
    }
  }

  /// `values` has that of the row as well, still.
  func remove(_ row: Int32, from section: Int32, _ values: ContiguousArray<Value>) {
    heaps[Int(section)].remove(row, &places) { precedes($0, $1, values) }
    if heaps[Int(section)].first == nil {
      whole.remove(section, &sectionPlaces) { sectionPrecedes($0, $1, values) }
    } else {
      whole.settle(Int(sectionPlaces[Int(section)]), &sectionPlaces) { sectionPrecedes($0, $1, values) }
    }
  }

  private func precedes(_ left: Int32, _ right: Int32, _ values: ContiguousArray<Value>) -> Bool {
    Value.precedes(values[Int(left)], values[Int(right)], isGreatest)
  }

  private func sectionPrecedes(_ left: Int32, _ right: Int32, _ values: ContiguousArray<Value>) -> Bool {
    guard let left = heaps[Int(left)].first, let right = heaps[Int(right)].first else { return false }
    return precedes(left, right, values)
  }
}

extension Value {
  /// An order without ties, except between identical values. Between equal values the kind decides, as it does between
  /// values that have no order. NaN comes behind all.
  fileprivate static func precedes(_ left: Value, _ right: Value, _ isGreatest: Bool) -> Bool {
    let order: Int
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return isGreatest ? left > right : left < right
    case (.decimal(let left), .decimal(let right)): order = Decimal.order(left, right)
    default:
      let (left, right) = (left.widened, right.widened)
      if left.isNone != right.isNone { return right.isNone }
      let found = Value.order(left, right) ?? 0
      order = found == 0 ? left.rank - right.rank : found
    }
    return isGreatest ? order > 0 : order < 0
  }

  private var widened: Value { if case .float(let float) = self { .double(Double(float)) } else { self } }

  private var isNone: Bool {
    switch self {
    case .double(let double), .date(let double): double.isNaN
    default: false
    }
  }

  private var rank: Int {
    switch self {
    case .integer: 0
    case .boolean: 1
    case .double(let double): double.sign == .minus ? 2 : 3
    case .decimal: 4
    case .text: 5
    case .uri: 6
    case .date(let seconds): seconds.sign == .minus ? 7 : 8
    case .data: 9
    default: 10
    }
  }
}
