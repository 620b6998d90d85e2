import Testing

@testable import QuireCore

extension Context {
  /// The store, which is one on SQLite.
  var storeOnSQLite: Store { get throws { try #require(store as? Store) } }

  /// What it shows, by SQLite.
  var momentOnSQLite: SQLiteMoment { get throws { try #require(source.moment as? SQLiteMoment) } }
}
