/// A row that a statement reads: that of a table in FROM, or one that another row refers to.
final class SQLRow {
  let entity: Entity
  /// SQL of its primary key; NULL where there is no row.
  let key: String
  let keyStack: Int
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
    key = "\(alias).Z_PK"
    keyStack = SQLColumn.plainStack
  }

  init(entity: Entity, key: String, keyStack: Int = SQLColumn.plainStack, home: Int, joins: SQLJoins?) {
    self.entity = entity
    self.key = key
    self.keyStack = keyStack
    self.home = home
    self.joins = joins
  }
}
