/// Where a relationship is kept, and the SQL that follows it.
struct RelationshipSQL: Sendable {
  enum Storage: Sendable {
    /// A key in the owner's row.
    case owner(key: String)
    /// A key in the destination's row, with the order key if the relationship is ordered.
    case destination(key: String, order: String?)
    case pairs(Schema.JoinTable)
  }

  let relationship: Relationship
  let storage: Storage
  let ownerTable: String
  let table: String

  init(_ relationship: Relationship, schema: Schema) throws(Failure) {
    if relationship.isTransient {
      throw Failure(
        .invalidArgument,
        "Relationship '\(relationship.qualifiedName)' is transient, so the store knows nothing of it. "
          + "Use a stored relationship.", about: .property(relationship))
    }
    self.relationship = relationship
    ownerTable = schema.table(of: relationship.entity)
    table = schema.table(of: relationship.destination)
    if !relationship.isToMany {
      storage = .owner(key: schema.toOne(relationship).key)
    } else if relationship.isManyToMany {
      storage = .pairs(schema.joinTable(of: relationship))
    } else if let inverse = relationship.inverse {
      let columns = schema.toOne(inverse)
      storage = .destination(key: columns.key, order: relationship.isOrdered ? columns.order : nil)
    } else {
      let columns = schema.ownerColumns(of: relationship)
      storage = .destination(key: columns.key, order: columns.order)
    }
  }

  /// Selects key and entity of the destinations of the object that the one parameter names.
  var destinations: String {
    let condition = destinationCondition("d").map { " AND \($0.sql)" } ?? ""
    switch storage {
    case .owner(let key):
      return """
        SELECT d.Z_PK, d.Z_ENT FROM \(ownerTable) o JOIN \(table) d ON d.Z_PK = o.\(key) \
        WHERE o.Z_PK = ?1\(condition)
        """
    case .destination(let key, let order):
      return """
        SELECT d.Z_PK, d.Z_ENT FROM \(table) d WHERE d.\(key) = ?1\(condition) \
        ORDER BY \(order.map { "d.\($0), " } ?? "")d.Z_PK
        """
    case .pairs(let pairs):
      return """
        SELECT d.Z_PK, d.Z_ENT FROM (\(RelationshipSQL.members(pairs))) p JOIN \(table) d ON d.Z_PK = p.id\(condition) \
        ORDER BY p.place, d.Z_PK
        """
    }
  }

  /// Selects `columns` of a row layout, and behind them the key of the owner, for all destinations of some objects. The
  /// one parameter is a list of the ids of these objects. The rows come owner by owner, and within each as
  /// `destinations` orders them.
  func destinationsOfMany(_ columns: String) -> String {
    let row = RowLayout.alias
    let condition = destinationCondition(row).map { " AND \($0.sql)" } ?? ""
    switch storage {
    case .owner(let key):
      return """
        SELECT \(columns), o.Z_PK FROM \(ownerTable) o JOIN \(table) \(row) ON \(row).Z_PK = o.\(key) \
        WHERE o.Z_PK IN (\(RelationshipSQL.owners))\(condition) ORDER BY o.Z_PK
        """
    case .destination(let key, let order):
      return """
        SELECT \(columns), \(row).\(key) FROM \(table) \(row) \
        WHERE \(row).\(key) IN (\(RelationshipSQL.owners))\(condition) \
        ORDER BY \(row).\(key), \(order.map { "\(row).\($0), " } ?? "")\(row).Z_PK
        """
    case .pairs(let pairs):
      return """
        SELECT \(columns), p.owner FROM (\(RelationshipSQL.membersOfMany(pairs))) p \
        JOIN \(table) \(row) ON \(row).Z_PK = p.id\(condition) ORDER BY p.owner, p.place, \(row).Z_PK
        """
    }
  }

  private static let owners = "SELECT value FROM json_each(?1)"

  private static func membersOfMany(_ pairs: Schema.JoinTable) -> String {
    func side(_ owner: String, _ destination: String, _ order: String?) -> String {
      """
      SELECT \(owner) AS owner, \(destination) AS id, \(order ?? "NULL") AS place FROM \(pairs.name) \
      WHERE \(owner) IN (\(owners))
      """
    }
    let direct = side(pairs.ownerColumn, pairs.destinationColumn, pairs.orderColumn)
    if !pairs.isReflexive { return direct }
    let reversed = side(pairs.destinationColumn, pairs.ownerColumn, pairs.inverseOrderColumn)
    return "SELECT owner, id, min(place) AS place FROM (\(direct) UNION ALL \(reversed)) GROUP BY owner, id"
  }

  /// Selects `id` and `place` (the order key) of all destinations of the owner that the one parameter names.
  var places: String {
    switch storage {
    case .owner(let key): "SELECT \(key) AS id, NULL AS place FROM \(ownerTable) WHERE Z_PK = ?1"
    case .destination(let key, let order):
      "SELECT Z_PK AS id, \(order ?? "NULL") AS place FROM \(table) WHERE \(key) = ?1"
    case .pairs(let pairs): RelationshipSQL.members(pairs)
    }
  }

  /// Joins that lead from the row whose key is `owner` to the destinations, and the expression of their keys.
  func join(from owner: String, step: Int) -> (joins: String, key: String) {
    let row = "r\(step)"
    switch storage {
    case .owner(let key):
      return (" JOIN \(ownerTable) \(row) ON \(row).Z_PK = \(owner)", "\(row).\(key)")
    case .destination(let key, _):
      return (" JOIN \(table) \(row) ON \(row).\(key) = \(owner)", "\(row).Z_PK")
    case .pairs(let pairs) where pairs.isReflexive:
      let both = """
        SELECT \(pairs.ownerColumn) AS a, \(pairs.destinationColumn) AS b FROM \(pairs.name) \
        UNION SELECT \(pairs.destinationColumn), \(pairs.ownerColumn) FROM \(pairs.name)
        """
      return (" JOIN (\(both)) \(row) ON \(row).a = \(owner)", "\(row).b")
    case .pairs(let pairs):
      let joined = " JOIN \(pairs.name) \(row) ON \(row).\(pairs.ownerColumn) = \(owner)"
      return (joined, "\(row).\(pairs.destinationColumn)")
    }
  }

  /// A reflexive pair may be held either way round, and some files hold it both ways: each member counts once.
  private static func members(_ pairs: Schema.JoinTable) -> String {
    func side(_ owner: String, _ destination: String, _ order: String?) -> String {
      "SELECT \(destination) AS id, \(order ?? "NULL") AS place FROM \(pairs.name) WHERE \(owner) = ?1"
    }
    let direct = side(pairs.ownerColumn, pairs.destinationColumn, pairs.orderColumn)
    if !pairs.isReflexive { return direct }
    let reversed = side(pairs.destinationColumn, pairs.ownerColumn, pairs.inverseOrderColumn)
    return "SELECT id, min(place) AS place FROM (\(direct) UNION ALL \(reversed)) GROUP BY id"
  }

  /// Keeps out rows of the destination's table that are not of its kind. The plus keeps SQLite from the index on
  /// Z_ENT, which is never better than following the key.
  func destinationCondition(_ alias: String) -> SQLExpr? {
    let entity = relationship.destination
    if entity.parent == nil { return nil }
    return SQLExpr(.between(SQLExpr(.unindexed(.column(alias, "Z_ENT"))), entity.number, entity.lastNumber))
  }
}
