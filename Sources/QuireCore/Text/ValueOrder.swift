extension Value {
  /// Values of different classes are never equal and have no order.
  enum ComparisonClass: Sendable, Equatable {
    case number, text, date, data, uuid, object, list, dictionary

    var name: String {
      switch self {
      case .number: "a number"
      case .text: "text"
      case .date: "a date"
      case .data: "data"
      case .uuid: "a UUID"
      case .object: "an object"
      case .list: "a list"
      case .dictionary: "a dictionary"
      }
    }

    /// Objects, lists and dictionaries can be equal but not less or greater.
    var hasOrder: Bool { self != .object && self != .list && self != .dictionary }
  }

  /// nil for nil, which belongs with every class.
  var comparisonClass: ComparisonClass? {
    switch self {
    case .nil: nil
    case .integer, .boolean, .double, .float, .decimal: .number
    case .text, .uri: .text
    case .date: .date
    case .data, .external: .data
    case .uuid: .uuid
    case .object: .object
    case .list: .list
    }
  }

  var number: Number? {
    switch self {
    case .integer(let integer): .integer(integer)
    case .boolean(let boolean): .integer(boolean ? 1 : 0)
    case .double(let double): .real(double)
    case .float(let float): .float(float)
    case .decimal(let decimal): .real(decimal.double)
    default: nil
    }
  }

  /// The text of a text or a URI, which compare alike.
  var comparableText: Text? {
    switch self {
    case .text(let text), .uri(let text): text
    default: nil
    }
  }

  /// The meaning of `==`: nil equals nil alone, NaN equals nothing, text compares by code point.
  static func areEqual(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.nil, .nil): return true
    case (.nil, _), (_, .nil): return false
    case (.integer(let left), .integer(let right)): return left == right
    case (.text(let left), .text(let right)): return left == right
    case (.object(let left), .object(let right)): return left.reference == right.reference
    case (.list(let left), .list(let right)):
      return left.values.count == right.values.count
        && zip(left.values, right.values).allSatisfy { areEqual($0, $1) }
    default: return order(left, right) == 0
    }
  }

  /// Negative, zero or positive; nil where there is no order: nil, NaN, objects, lists, different classes.
  static func order(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.date(let left), .date(let right)):
      return left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
    case (.data(let left), .data(let right)), (.uuid(let left), .uuid(let right)):
      return Bytes.order(left, right)
    default:
      if let left = left.number, let right = right.number { return Number.order(left, right) }
      if let left = left.comparableText, let right = right.comparableText {
        return Bytes.order(left.bytes, right.bytes)
      }
      return nil
    }
  }

  /// Folds text, and texts in a list; leaves everything else alone.
  func folded(_ folding: TextFolding, with folder: TextFolder) -> Value {
    if folding.isEmpty { return self }
    switch self {
    case .text(let text), .uri(let text): return .text(folder.fold(text, folding))
    case .list(let list): return .list(list.values.map { $0.folded(folding, with: folder) })
    default: return self
    }
  }

  /// Whether two constants are the same in a predicate's tree, where 1 and YES are, and NaN and NaN.
  static func areSame(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.nil, .nil): true
    case (.integer, .integer), (.boolean, .boolean), (.integer, .boolean), (.boolean, .integer):
      areEqual(left, right)
    case (.double(let left), .double(let right)): left == right || (left.isNaN && right.isNaN)
    case (.float(let left), .float(let right)): left == right || (left.isNaN && right.isNaN)
    case (.date(let left), .date(let right)): left == right || (left.isNaN && right.isNaN)
    case (.decimal(let left), .decimal(let right)): left == right
    case (.text(let left), .text(let right)), (.uri(let left), .uri(let right)): left == right
    case (.data(let left), .data(let right)), (.uuid(let left), .uuid(let right)): left == right
    case (.object(let left), .object(let right)): left.reference == right.reference
    case (.list(let left), .list(let right)):
      left.values.count == right.values.count && zip(left.values, right.values).allSatisfy { areSame($0, $1) }
    default: false
    }
  }
}
