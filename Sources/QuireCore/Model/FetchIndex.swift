/// A named index that a fetch can use; not part of the version hash.
struct FetchIndex: Sendable {
  /// The numbers are Core Data's.
  enum Kind: UInt32, Sendable {
    case binary = 0
    /// Of boxes: the numbers of each row are a point.
    case rTree = 1
  }

  /// What a row is ordered by.
  enum Target: Sendable {
    case property(String)
    /// The object itself: its primary key.
    case object
    /// The number of its entity.
    case entity
    case expression(any IndexExpression)

    /// By the name in a declaration. Core Data reserves `self` and `entity`, so that no property has them.
    init(named name: String) {
      switch name {
      case "self": self = .object
      case "entity": self = .entity
      default: self = .property(name)
      }
    }
  }

  struct Element: Sendable {
    let target: Target
    let isDescending: Bool

    init(_ target: Target, isDescending: Bool = false) {
      self.target = target
      self.isDescending = isDescending
    }

    init(property: String, isDescending: Bool) { self.init(.property(property), isDescending: isDescending) }

    /// The name of the property, if it is one.
    var property: String? {
      if case .property(let name) = target { name } else { nil }
    }
  }

  let name: Text
  let kind: Kind
  let elements: [Element]
  /// What the rows in it fulfil; nil for all rows.
  let condition: (any IndexCondition)?

  init(name: Text, kind: Kind = .binary, elements: [Element], condition: (any IndexCondition)? = nil) {
    self.name = name
    self.kind = kind
    self.elements = elements
    self.condition = condition
  }

  /// Whether it is the ordered index of all values of an attribute, and of nothing else.
  func isOf(_ attribute: Attribute) -> Bool {
    kind == .binary && condition == nil && elements.count == 1 && elements[0].property == attribute.name
  }
}

/// A predicate that a model keeps for an index. Of what it is made, higher layers know.
protocol IndexCondition: AnyObject, Sendable {
  /// Every key path that starts at the row.
  var keyPaths: [[String]] { get }
}

/// An expression that a model keeps for an index. Of what it is made, higher layers know.
protocol IndexExpression: AnyObject, Sendable {}
