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
      } else if try !connection.tablesWrittenByTriggers().contains(Names.upper(name)) {
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

  /// Adds the triggers that the file lacks. Returns whether there were any.
  private static func addTriggers(for tree: RTree, on connection: Connection) throws(Failure) -> Bool {
    var hasAdded = false
    for event in RTree.Event.allCases {
      let isKept = tree.probes(of: event).allSatisfy { sql in
        connection.tablesWrittenByTriggers(of: [sql]).contains(Names.upper(tree.name))
      }
      if isKept { continue }
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
