import Glibc

extension Store {
  /// Writes the store at `path` into a new file at `target`, as one of the other type. The source is left as it is.
  static func convert(
    path: Text, model: Model?, to target: Text, type: StoreType?, form: any ModelForm.Type
  ) throws(Failure) {
    if path == ":memory:" || target == ":memory:" {
      throw Failure(.invalidArgument, "A store in memory has no file to be converted. Give the paths of files.")
    }
    let file = try StoreFile(path: target)
    try file.checkIsFree()
    let source = try open(path: path, model: model, options: Options(isReadOnly: true, mustExist: true), form: form)
    defer { try? source.close() }
    let sourceType: StoreType = source.xml == nil ? .sqlite : .xml
    if sourceType == type {
      throw Failure(
        .invalidArgument,
        "The store '\(path)' is of the type \(sourceType.name) already. Copy it, or give another type.")
    }
    try source.withConnection { connection throws(Failure) in
      if sourceType == .sqlite {
        try connection.snapshot { () throws(Failure) in try source.copyXML(to: file) }
      } else {
        try source.copySQLite(to: file, form: form)
      }
    }
  }

  /// Writes what is saved as an XML store, in a file that appears as a whole. For the thread that has the lock.
  func copyXML(to target: StoreFile) throws(Failure) {
    try target.checkIsFree()
    let writer = XMLStoreWriter(
      uuid: uuid, path: target.path, schema: schema, layouts: layouts, names: try XMLStoreNames(model))
    // Numbers of objects that are gone belong to no object again.
    let select = try connection.statement("SELECT max(CAST(ifnull(Z_MAX, 0) AS INTEGER)) FROM Z_PRIMARYKEY")
    let highest = try select.step() ? select.integer(at: 0) : 0
    select.reset()
    let copy = XMLStoreFile(path: target.path, isReadOnly: false, isDurable: true)
    try copy.replace(mode: mode) { write throws(Failure) in
      _ = try writer.write(
        on: connection, lastNumber: xml?.lastNumber ?? max(highest, XMLStoreNumbers.beforeFirst), to: write)
    }
  }

  /// The same as a file of SQLite, from an XML store.
  private func copySQLite(to target: StoreFile, form: any ModelForm.Type) throws(Failure) {
    let temporary = try target.makeTemporary(mode: mode)
    do throws(Failure) {
      _ = try copy(connection, to: temporary, for: target.path) { copy throws(Failure) in
        try Store.writeModelCache(of: model, in: form, on: copy)
      }
      unlink(temporary + "-journal")
      try target.place(temporary)
    } catch {
      for ending in ["", "-journal"] { unlink(temporary + ending) }
      throw error
    }
  }

  /// The permissions of the file.
  private var mode: mode_t? {
    var status = stat()
    return stat(location.string, &status) == 0 ? status.st_mode : nil
  }
}
