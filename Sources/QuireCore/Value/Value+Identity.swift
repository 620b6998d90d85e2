extension Value {
  /// Whether the two are one and the same value, kind and bits included: what decides if a write changes anything.
  ///
  /// Stricter than equality in predicates, where 1 equals 1.0, and defined for NaN.
  func isIdentical(to other: Value) -> Bool {
    switch (self, other) {
    case (.nil, .nil): true
    case (.integer(let left), .integer(let right)): left == right
    case (.boolean(let left), .boolean(let right)): left == right
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.date(let left), .date(let right)): left.bitPattern == right.bitPattern
    case (.decimal(let left), .decimal(let right)): left == right
    case (.text(let left), .text(let right)), (.uri(let left), .uri(let right)): left == right
    case (.data(let left), .data(let right)), (.uuid(let left), .uuid(let right)): left == right
    case (.external(let left), .external(let right)): left.isSame(as: right)
    case (.external(let left), .data(let right)), (.data(let right), .external(let left)): left.holds(right)
    case (.object(let left), .object(let right)): left.reference == right.reference
    case (.list(let left), .list(let right)):
      left.values.count == right.values.count
        && zip(left.values, right.values).allSatisfy { $0.isIdentical(to: $1) }
    default: false
    }
  }
}
