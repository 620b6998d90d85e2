extension Store {
  /// A model has less than this deflated, whatever it is; what is more is none.
  private static let mostOfModel: Int64 = 64 << 20

  /// Whether a file is a database of SQLite. It is SQLite that looks: a program that shares this copy with the library
  /// may have the file open, and to close it besides SQLite would end the locks of the program.
  static func isDatabase(fileAt path: Text) throws(Failure) -> Bool {
    let connection = try Connection(path: path, access: .immutable, busyTimeoutMilliseconds: 0)
    defer { connection.close() }
    return connection.fileHeader(magic.count) == magic
  }

  private static let magic = Array("SQLite format 3\0".utf8)

  /// The model that a store keeps of itself, frozen. The file is left as it is.
  static func keptModel(ofFileAt path: Text, form: any ModelForm.Type) throws(Failure) -> Model {
    let file = try StoreFile(path: path)
    try file.check(isReadOnly: true, mustExist: true)
    let connection = try readOnlyConnection(to: file, options: Options(isReadOnly: true, mustExist: true))
    defer { connection.close() }
    do throws(Failure) {
      return try keptModel(on: connection, tables: connection.tables(), form: form)
    } catch { throw connection.failureOfOpening(error) }
  }

  /// The same for a file that is open. Stores of frameworks before 2015 keep none, nor do those of Quire from before it
  /// wrote any.
  static func keptModel(
    on connection: Connection, tables: [String: Set<String>], form: any ModelForm.Type
  ) throws(Failure) -> Model {
    guard let deflated = try modelCache(on: connection, tables: tables) else {
      throw Failure(
        .invalidModel, "The store '\(connection.path)' keeps no model. Give the model that made it.")
    }
    let model = try form.model(deflated: deflated, "the store '\(connection.path)'")
    JoinLayout.note(Set(tables.keys), in: model)
    return model
  }

  /// The kept model as it lies in the file: deflated. nil when there is none.
  static func modelCache(on connection: Connection, tables: [String: Set<String>]) throws(Failure) -> Bytes? {
    guard tables["Z_MODELCACHE"]?.contains("Z_CONTENT") == true else { return nil }
    let select = try connection.statement(
      "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE typeof(Z_CONTENT) = 'blob' AND length(Z_CONTENT) <= \(mostOfModel)")
    return try select.step() ? select.data(at: 0) : nil
  }

  /// Writes the model into a new file. One with U+0000 in a text cannot be kept: it has to be given at each opening.
  static func writeModelCache(
    of model: Model, in form: any ModelForm.Type, on connection: Connection
  ) throws(Failure) {
    guard let deflated = try? form.deflated(model) else { return }
    let insert = try connection.statement("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
    try insert.bind(deflated, at: 1)
    try insert.run()
  }
}
