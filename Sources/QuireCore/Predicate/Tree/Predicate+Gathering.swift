extension Predicate {
  /// From so many comparisons of one expression on, one IN answers faster than they do.
  private static let fewestGathered = 16

  /// The parts of an OR, with all of them that say `a == 1` of one expression, further ORs within included, as one
  /// `a IN {1, …}`. Programs write lists in this way, of thousands of parts, of each of which every row would be asked.
  static func gathered(or parts: [Predicate]) -> [Predicate] { gathered(parts, or: true) }

  /// The same for an AND of `a != 1`, or of `NOT a == 1`, which becomes `NOT a IN {1, …}`.
  static func gathered(and parts: [Predicate]) -> [Predicate] { gathered(parts, or: false) }

  private static func gathered(_ parts: [Predicate], or isOr: Bool) -> [Predicate] {
    var leaves: [Predicate] = []
    for part in parts { part.collectLeaves(or: isOr, into: &leaves) }
    if leaves.count < fewestGathered { return parts }
    var groups: [Group] = []
    var places: [String: Int] = [:]
    var last: (subject: Subject, place: Int?)?
    /// For each leaf its group, if it has one.
    var groupOfLeaf: [Int?] = []
    for leaf in leaves {
      guard let (subject, values) = leaf.membership(or: isOr) else {
        groupOfLeaf.append(nil)
        continue
      }
      if let last, last.subject == subject {
        groupOfLeaf.append(last.place)
      } else if !subject.left.isPure {
        // Evaluated twice, it may have another value.
        groupOfLeaf.append(nil)
      } else {
        let place = places[subject.text] ?? groups.count
        if place == groups.count {
          groups.append(Group(subject: subject))
          places[subject.text] = place
        }
        groupOfLeaf.append(place)
      }
      last = (subject, groupOfLeaf.last ?? nil)
      if let place = last?.place {
        groups[place].values += values
        groups[place].leafCount += 1
      }
    }
    if !groups.contains(where: \.isWorthIt) { return parts }
    var result: [Predicate] = []
    for (leaf, place) in zip(leaves, groupOfLeaf) {
      guard let place, groups[place].isWorthIt else {
        result.append(leaf)
        continue
      }
      if groups[place].isTaken { continue }
      groups[place].isTaken = true
      let membership = groups[place].membership
      result.append(isOr ? membership : .not(membership))
    }
    return result
  }

  /// The common part of comparisons that one IN can replace.
  private struct Subject: Equatable {
    let left: Expression
    let modifier: Comparison.Modifier
    let options: Comparison.Options

    var text: String { "\(modifier.rawValue) \(options.rawValue) \(left.text)" }
  }

  private struct Group {
    let subject: Subject
    var values: [Value] = []
    var leafCount = 0
    var isTaken = false

    var isWorthIt: Bool { leafCount >= Predicate.fewestGathered }

    var membership: Predicate {
      .comparison(
        Comparison(
          left: subject.left, operator: .isIn, right: .constant(.list(values)), modifier: subject.modifier,
          options: subject.options))
    }
  }

  private func collectLeaves(or isOr: Bool, into leaves: inout [Predicate]) {
    switch self {
    case .or(let parts) where isOr, .and(let parts) where !isOr:
      for part in parts { part.collectLeaves(or: isOr, into: &leaves) }
    default: leaves.append(self)
    }
  }

  /// What a leaf says is in a list; of a leaf of an AND, what it says is not.
  private func membership(or isOr: Bool) -> (Subject, [Value])? {
    switch self {
    case .comparison(let comparison):
      if isOr { return Predicate.membership(comparison, equality: .equal) }
      return comparison.modifier == .direct ? Predicate.membership(comparison, equality: .notEqual) : nil
    case .not(.comparison(let comparison)) where !isOr: return Predicate.membership(comparison, equality: .equal)
    default: return nil
    }
  }

  /// Under ALL each element is compared, so that several ALLs are no single one. A locale has no lists: `MemberSet`.
  private static func membership(
    _ comparison: Comparison, equality: Comparison.Operator
  ) -> (Subject, [Value])? {
    if comparison.modifier == .all || !comparison.options.isDisjoint(with: [.word, .localeSensitive]) { return nil }
    func found(_ left: Expression, _ values: [Value]) -> (Subject, [Value])? {
      if left.constantValue != nil || values.contains(where: { if case .list = $0 { true } else { false } }) {
        return nil
      }
      return (Subject(left: left, modifier: comparison.modifier, options: comparison.options), values)
    }
    if comparison.operator == equality {
      if let value = comparison.right.constantValue { return found(comparison.left, [value]) }
      // ANY is about the left side.
      guard comparison.modifier == .direct, let value = comparison.left.constantValue else { return nil }
      return found(comparison.right, [value])
    }
    guard comparison.operator == .isIn, equality == .equal,
      case .list(let list)? = comparison.right.constantValue
    else { return nil }
    return found(comparison.left, list.values)
  }
}
