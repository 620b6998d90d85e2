extension Store {
  /// Checks the whole file. Text indexes that do not lead to every row are made anew, or not used any more in a store
  /// that is open for reading only. The result is how many. Any other damage is a failure.
  func check() throws(Failure) -> Int {
    try withConnection { connection throws(Failure) in
      if connection.isInTransaction {
        throw Failure(
          .invalidState, "The store '\(path)' cannot be checked while it reads or saves. Check it afterwards.")
      }
      var mended = 0
      var failure: Failure?
      do throws(Failure) { mended = try textIndexes.checkAll(on: connection) } catch {
        // The texts may be damaged, too, of which there is more to say.
        if !error.mayBeDamage { throw error }
        failure = error
      }
      var found: [Failure] = []
      let select = try connection.statement("PRAGMA integrity_check")
      while try select.step() {
        // Several findings may come in one row, below the name of the database.
        for finding in (select.text(at: 0)?.string ?? "").split(separator: "\n")
        where finding != "ok" && !finding.hasPrefix("***") {
          found.append(Failure(.database, String(finding), databaseCode: ResultCode.corrupt))
        }
      }
      if let first = found.first {
        throw Failure(
          .database,
          "The file of the store '\(path)' is damaged; SQLite tells of \(found.count) "
            + "finding\(found.count == 1 ? "" : "s"), the first being '\(first.message)'. Restore it from a backup.",
          databaseCode: ResultCode.corrupt, details: found)
      }
      if let failure { throw failure }
      if mended > 0 { renewMoments() }
      return mended
    }
  }
}
