/// Statements that change members. Parameter 1 is the owner's key, 2 the member's.
extension RelationshipSQL {
  /// What makes the member one no longer. Empty where the member's own row says whose it is.
  var removals: [String] {
    switch storage {
    case .destination(let key, let order) where relationship.inverse == nil:
      let orderless = order.map { ", \($0) = NULL" } ?? ""
      return ["UPDATE \(table) SET \(key) = NULL\(orderless) WHERE Z_PK = ?2 AND \(key) = ?1"]
    case .owner, .destination: return []
    case .pairs(let pairs): return eitherWay(pairs) { "DELETE FROM \(pairs.name) WHERE \($0) = ?1 AND \($1) = ?2" }
    }
  }

  /// For a many-to-many relationship: yields a row when the two are paired.
  var pairExists: String {
    guard case .pairs(let pairs) = storage else { return "SELECT 1 WHERE ?1 IS NULL AND ?2 IS NULL" }
    return eitherWay(pairs) { "SELECT 1 FROM \(pairs.name) WHERE \($0) = ?1 AND \($1) = ?2" }
      .joined(separator: " UNION ALL ")
  }

  /// What gives the member the order key in parameter 3.
  var reorderings: [String] {
    switch storage {
    case .owner: return []
    case .destination(let key, let order):
      return order.map { ["UPDATE \(table) SET \($0) = ?3 WHERE \(key) = ?1 AND Z_PK = ?2"] } ?? []
    case .pairs(let pairs):
      guard let order = pairs.orderColumn else { return [] }
      let direct =
        "UPDATE \(pairs.name) SET \(order) = ?3 WHERE \(pairs.ownerColumn) = ?1 AND \(pairs.destinationColumn) = ?2"
      guard pairs.isReflexive, let reversed = pairs.inverseOrderColumn else { return [direct] }
      return [
        direct,
        "UPDATE \(pairs.name) SET \(reversed) = ?3 WHERE \(pairs.destinationColumn) = ?1 AND \(pairs.ownerColumn) = ?2",
      ]
    }
  }

  /// For a to-many relationship: what to run with the key of a deleted owner; with `many`, with an `IDList` of keys.
  func detachments(many: Bool = false) -> [String] {
    let isDeleted = many ? "IN (\(IDList.sql))" : "= ?"
    switch storage {
    case .destination(let key, let order) where relationship.inverse == nil:
      let orderless = order.map { ", \($0) = NULL" } ?? ""
      return ["UPDATE \(table) SET \(key) = NULL\(orderless) WHERE \(key) \(isDeleted)"]
    case .owner, .destination: return []
    case .pairs(let pairs):
      return eitherWay(pairs) { owner, _ in "DELETE FROM \(pairs.name) WHERE \(owner) \(isDeleted)" }
    }
  }

  /// A reflexive pair may be held either way round.
  private func eitherWay(_ pairs: Schema.JoinTable, _ make: (_ owner: String, _ member: String) -> String) -> [String] {
    let direct = make(pairs.ownerColumn, pairs.destinationColumn)
    return pairs.isReflexive ? [direct, make(pairs.destinationColumn, pairs.ownerColumn)] : [direct]
  }
}
