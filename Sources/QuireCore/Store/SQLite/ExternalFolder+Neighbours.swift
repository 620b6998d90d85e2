extension ExternalFolder {
  /// The files of the folder that other stores name, such as plain copies of the store. nil where that cannot be known.
  func filesOfNeighbours() -> Set<ExternalFile>? {
    guard let neighbours else { return nil }
    var files: Set<ExternalFile> = []
    for path in neighbours {
      // A second connection without locks would end those of the first when it is closed.
      if OpenFiles.isOpen(path) { return nil }
      do throws(Failure) {
        let connection = try Connection.opened(
          path: Text(path), access: .readOnlyUnlocked, busyTimeoutMilliseconds: 0)
        defer { connection.close() }
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        files.formUnion(try connection.namedFiles())
      } catch {
        // Any other file may have such a name.
        if error.kind != .notAStore { return nil }
      }
    }
    return files
  }
}
