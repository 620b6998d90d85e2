import Glibc

/// A name that SQLite or the library uses beside a store. SQLite takes what is there for its own: it reads it, waits
/// for it, or deletes it when the store is opened next.
///
/// Any file counts as a store here. Whether it is one is in the file, and to close a file ends SQLite's locks on it.
struct NameBesideStore {
  /// The path of the store.
  let store: String
  /// What the name is for.
  let use: String

  /// Fails where a file that is made at a path would have such a name.
  static func check(_ path: Text) throws(Failure) {
    guard let found = NameBesideStore(path.string) else { return }
    throw Failure(
      .cannotOpen,
      "Could not make '\(path)': the name belongs to the store '\(found.store)', for \(found.use). "
        + "Choose another path.")
  }

  /// nil for a name that belongs to no file.
  private init?(_ path: String) {
    guard let (folder, name) = NameBesideStore.resolved(path) else { return nil }
    if let (end, use) = NameBesideStore.ending(of: name), NameBesideStore.isFile("\(folder)/\(name[..<end])") {
      store = "\(folder)/\(name[..<end])"
      self.use = use
    } else if let store = NameBesideStore.storeOfFolder(in: "\(folder)/\(name)") {
      self.store = store
      use = "files with large values"
    } else {
      return nil
    }
  }

  /// The folder of a path without links, "" for the root, and the name in it. A link of that name is followed, even
  /// where it leads to no file yet. nil where there is no such folder.
  private static func resolved(_ path: String) -> (folder: String, name: String)? {
    var path = path
    for _ in 0..<mostLinks {
      guard let resolved = realpath(FileSystem.folder(of: path), nil) else { return nil }
      defer { free(resolved) }
      var folder = String(cString: resolved)
      if folder == "/" { folder = "" }
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
      let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
      let next = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { target -> String? in
        guard let start = target.baseAddress else { return nil }
        let count = readlink("\(folder)/\(name)", start, Int(PATH_MAX))
        if count < 0 { return nil }
        start[count] = 0
        return String(cString: start)
      }
      guard let next else { return (folder, name) }
      path = next.utf8.first == UInt8(ascii: "/") ? next : "\(folder)/\(next)"
    }
    return nil
  }

  /// As many as Linux follows.
  private static let mostLinks = 40

  /// Where the name of a store ends in a longer name that would be one of its files, and what that file is for.
  private static func ending(of name: String) -> (end: String.Index, use: String)? {
    for (ending, use) in [
      ("-wal", "SQLite's write-ahead log"), ("-shm", "the index of SQLite's log"), ("-journal", "SQLite's journal"),
    ] where name.utf8.count > ending.utf8.count && name.hasSuffix(ending) {
      return (name.utf8.index(name.endIndex, offsetBy: -ending.utf8.count), use)
    }
    return CacheFile.endOfStore(in: name).map { ($0, "the cache of a list") }
  }

  /// A store that keeps its large values in a folder that a path leads through, or that it names.
  private static func storeOfFolder(in path: String) -> String? {
    let end = "_SUPPORT"
    var place = path.startIndex
    while place < path.endIndex {
      let start = path.utf8.index(after: place)
      let next = path[start...].utf8.firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
      let part = path[start..<next]
      if part.utf8.first == UInt8(ascii: "."), part.utf8.count > end.utf8.count + 1, part.hasSuffix(end) {
        // The folder has the name of the store without its last ending.
        let store = "\(path[...place])\(part.dropFirst().dropLast(end.count))."
        if let found = ExternalFolder(of: Text(store)).neighbours?.min() { return found }
      }
      place = next
    }
    return nil
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
