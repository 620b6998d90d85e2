extension Schema {
  /// Makes sure that each R-Tree of a fetch index in the file follows what the connection writes.
  ///
  /// Core Data's have triggers in the file. Some applications write theirs themselves: these get the same triggers from
  /// the connection, so that the file stays as it is. Returns the name of one of these. Fails for an R-Tree of which
  /// the model does not say what is in it.
  func keepRTrees(on connection: Connection) throws(Failure) -> String? {
    let found = try connection.rTreesOfIndexes()
    let known = found.isEmpty ? [:] : Dictionary(rTrees().map { (Schema.plain($0.declaration), $0) }) { one, _ in one }
    var kept: String?
    for (name, declaration) in found {
      if let tree = known[Schema.plain(declaration)] {
        if try Schema.addTriggers(for: tree, on: connection) { kept = name }
      } else if try !isKeptByTriggers(name, on: connection) {
        throw Schema.failure(
          connection, name, "no trigger keeps, and of which the model does not say what is in it",
          ", or with a model that declares the index")
      }
    }
    return kept
  }

  /// Lets triggers write to R-Trees. Fails where the connection has some for `kept` and they may not.
  static func trustTriggers(keeping kept: String?, on connection: Connection) throws(Failure) {
    if try !connection.trustTriggersOfIndexes(), let kept {
      throw failure(connection, kept, "cannot be kept beside triggers of the file that SQLite does not trust")
    }
  }

  /// Whether triggers of the file follow each event of the table that an R-Tree is of, which its name tells.
  private func isKeptByTriggers(_ name: String, on connection: Connection) throws(Failure) -> Bool {
    let tables = try connection.tables()
    let owners = model.numberedEntities.filter { name.hasPrefix("Z_RT_\($0.name)_") }
    guard let owner = owners.max(by: { $0.name.utf8.count < $1.name.utf8.count }) else { return false }
    let columns = (tables[table(of: owner)] ?? []).filter { $0 != "Z_PK" }.sorted()
    let tree = RTree(name: name, table: table(of: owner), columns: columns.map(Names.quoted))
    return RTree.Event.allCases.allSatisfy { event in
      tree.probes(of: event).contains { Schema.isFollowed(by: tree, after: event, $0, on: connection) }
    }
  }

  /// Whether triggers change rows of the tree when the statement runs. One that only deletes follows no new value.
  private static func isFollowed(
    by tree: RTree, after event: RTree.Event, _ statement: String, on connection: Connection
  ) -> Bool {
    connection.tablesChangedByTriggers(of: [statement], deleting: event == .delete).contains(Names.upper(tree.name))
  }

  /// Adds the triggers that the file lacks. Returns whether there were any.
  private static func addTriggers(for tree: RTree, on connection: Connection) throws(Failure) -> Bool {
    var hasAdded = false
    for event in RTree.Event.allCases {
      if tree.probes(of: event).allSatisfy({ isFollowed(by: tree, after: event, $0, on: connection) }) { continue }
      try connection.execute(tree.trigger(after: event, isTemporary: true))
      hasAdded = true
    }
    return hasAdded
  }

  /// Without what does not count: case, blanks and quotes.
  private static func plain(_ sql: String) -> String {
    Names.upper(String(decoding: sql.utf8.filter { !Array(" \t\n\r\"".utf8).contains($0) }, as: UTF8.self))
  }

  private static func failure(
    _ connection: Connection, _ name: String, _ problem: String, _ remedy: String = ""
  ) -> Failure {
    Failure(
      .unsupported,
      "The store '\(connection.path)' has the R-Tree '\(name)', which \(problem). A save would leave its rows as they "
        + "are. Open the store for reading only\(remedy).")
  }
}
