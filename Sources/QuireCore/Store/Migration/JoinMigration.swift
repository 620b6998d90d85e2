/// How one join table comes to be.
struct JoinMigration {
  let relationship: Relationship
  let table: Schema.JoinTable
  /// What its pairs come from.
  private let origins: [Origin]
  private let models: ModelMapping
  private let target: Schema

  /// A relationship of the source whose pairs go over. `isMirrored`: its owners are the destinations here.
  struct Origin {
    let relationship: Relationship
    let isMirrored: Bool
  }

  init(_ relationship: Relationship, _ table: Schema.JoinTable, in models: ModelMapping, to target: Schema) {
    self.relationship = relationship
    self.table = table
    self.models = models
    self.target = target
    let own = models.storedSources(of: relationship)
    var origins = own.map { Origin(relationship: $0, isMirrored: false) }
    if let inverse = relationship.inverse, inverse !== relationship {
      // What has an inverse is in the file once.
      for former in models.storedSources(of: inverse) where !own.contains(where: { $0 === former.inverse }) {
        origins.append(Origin(relationship: former, isMirrored: true))
      }
    }
    self.origins = origins
  }

  /// The join table of the source that stays as it is; nil where this one is to be made.
  func kept(in source: Schema) -> String? {
    guard origins.count == 1, let origin = origins.first, origin.relationship.isManyToMany,
      conditions(origin).isEmpty
    else { return nil }
    let former = side(source.joinTable(of: origin.relationship), mirrored: origin.isMirrored)
    return former.name == table.name && former.ownerColumn == table.ownerColumn
      && former.destinationColumn == table.destinationColumn && former.orderColumn == table.orderColumn
      && former.inverseOrderColumn == table.inverseOrderColumn ? former.name : nil
  }

  /// Whether its rows are those of join tables, all of them. Others are read from tables of entities.
  private func side(_ table: Schema.JoinTable, mirrored: Bool) -> Schema.JoinTable {
    if !mirrored { return table }
    return Schema.JoinTable(
      name: table.name, ownerColumn: table.destinationColumn, destinationColumn: table.ownerColumn,
      orderColumn: table.inverseOrderColumn, inverseOrderColumn: table.orderColumn, isReflexive: table.isReflexive)
  }

  /// What fills the table, which is there. `place` tells where a table of the source is now, and whether the numbers of
  /// entities in it are those of the target.
  func insertions(from source: Schema, _ place: (String) -> (name: String, isRenumbered: Bool)) -> [String] {
    origins.map { origin in
      let pairs = pairs(of: origin, in: source, place)
      var columns = [table.ownerColumn, table.destinationColumn], values = ["pair.owner", "pair.destination"]
      for (column, order, list, member) in [
        (table.orderColumn, pairs.order, "owner", "destination"),
        (table.inverseOrderColumn, pairs.inverseOrder, "destination", "owner"),
      ] {
        guard let column else { continue }
        columns.append(column)
        values.append(
          order != nil
            ? "pair.\(list)_order"
            : "\(OrderKeys.spacing) * row_number() OVER (PARTITION BY pair.\(list) ORDER BY pair.\(member))")
      }
      let conditions = conditions(origin)
      // Rows of several relationships can have one pair.
      return "INSERT \(origins.count > 1 ? "OR IGNORE " : "")INTO \(table.name) (\(columns.joined(separator: ", "))) "
        + "SELECT \(values.joined(separator: ", ")) FROM (\(pairs.sql)) AS pair"
        + (conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
    } + (origins.count > 1 ? renumberings : [])
  }

  /// Members that come from several relationships can have one place in a list.
  private var renumberings: [String] {
    [
      (table.orderColumn, table.ownerColumn, table.destinationColumn),
      (table.inverseOrderColumn, table.destinationColumn, table.ownerColumn),
    ].compactMap { order, list, member in
      order.map { order in
        "UPDATE \(table.name) SET \(order) = numbered.place FROM (SELECT rowid AS id, \(OrderKeys.spacing) * "
          + "row_number() OVER (PARTITION BY \(list) ORDER BY \(order), \(member)) AS place FROM \(table.name)) "
          + "AS numbered WHERE numbered.id = \(table.name).rowid"
      }
    }
  }

  /// Pairs of objects that stay, where some do not.
  private func conditions(_ origin: Origin) -> [String] {
    let former = origin.relationship
    let owners = origin.isMirrored ? relationship.inverse ?? relationship : relationship
    var conditions: [String] = []
    func add(_ entity: Entity, _ column: String) {
      let numbers = entity.subtree.filter { !$0.isAbstract }.map(\.number)
      conditions.append(
        "EXISTS (SELECT 1 FROM \(target.table(of: entity)) AS kept WHERE kept.Z_PK = pair.\(column) "
          + "AND kept.Z_ENT IN (\(Repair.list(numbers))))")
    }
    let isOwnerLost = models.losesOwners(former, of: owners)
    let isDestinationLost = !models.removed(under: former.destination).isEmpty
    if isOwnerLost { add(owners.entity, origin.isMirrored ? "destination" : "owner") }
    if isDestinationLost { add(owners.destination, origin.isMirrored ? "owner" : "destination") }
    return conditions
  }

  private struct Pairs {
    let sql: String
    let order: String?
    let inverseOrder: String?
  }

  private func pairs(
    of origin: Origin, in source: Schema, _ place: (String) -> (name: String, isRenumbered: Bool)
  ) -> Pairs {
    let former = origin.relationship
    // Seen from `former`.
    let owner: String, destination: String, order: String?, inverseOrder: String?, from: String
    func rows(of entity: Entity, with key: String) -> String {
      let (table, isRenumbered) = place(source.table(of: entity))
      let numbers = entity.subtree.filter { !$0.isAbstract }.compactMap {
        isRenumbered ? models.target(of: $0)?.number : $0.number
      }
      return "\(table) WHERE \(key) IS NOT NULL AND Z_ENT IN (\(Repair.list(numbers)))"
    }
    if former.isManyToMany {
      let join = source.joinTable(of: former)
      (owner, destination, order, inverseOrder) = (
        join.ownerColumn, join.destinationColumn, join.orderColumn, join.inverseOrderColumn
      )
      from = place(join.name).name
    } else if !former.isToMany {
      let columns = source.toOne(former)
      (owner, destination, order, inverseOrder) = ("Z_PK", columns.key, nil, columns.order)
      from = rows(of: former.entity, with: columns.key)
    } else if let inverse = former.inverse {
      let columns = source.toOne(inverse)
      (owner, destination, order, inverseOrder) = (columns.key, "Z_PK", columns.order, nil)
      from = rows(of: inverse.entity, with: columns.key)
    } else {
      let columns = source.ownerColumns(of: former)
      (owner, destination, order, inverseOrder) = (columns.key, "Z_PK", columns.order, nil)
      from = rows(of: former.destination, with: columns.key)
    }
    let seen =
      origin.isMirrored ? (destination, owner, inverseOrder, order) : (owner, destination, order, inverseOrder)
    let columns =
      ["\(seen.0) AS owner", "\(seen.1) AS destination"] + (seen.2.map { ["\($0) AS owner_order"] } ?? [])
      + (seen.3.map { ["\($0) AS destination_order"] } ?? [])
    return Pairs(sql: "SELECT \(columns.joined(separator: ", ")) FROM \(from)", order: seen.2, inverseOrder: seen.3)
  }
}
