/// A row that a statement reads: that of a table in FROM, or one that another row refers to.
final class SQLRow {
  let entity: Entity
  /// Its primary key; NULL where there is no row.
  let key: SQLExpr
  /// Its table is in FROM for its own sake, so that there is a row.
  let isPresent: Bool
  let home: Int
  /// Where tables are joined that hold what is asked of it; nil to ask by a subquery.
  let joins: SQLJoins?
  /// Its table in FROM, once there is one.
  var alias: String?

  init(entity: Entity, alias: String, home: Int, joins: SQLJoins) {
    self.entity = entity
    self.alias = alias
    self.home = home
    self.joins = joins
    key = .column(alias, "Z_PK")
    isPresent = true
  }

  init(entity: Entity, key: SQLExpr, home: Int, joins: SQLJoins?) {
    self.entity = entity
    self.key = key
    isPresent = false
    self.home = home
    self.joins = joins
  }
}
