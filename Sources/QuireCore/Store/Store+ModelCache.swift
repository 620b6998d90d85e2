extension Store {
  /// A model has less than this deflated, whatever it is; what is more is none.
  private static let mostOfModel: Int64 = 64 << 20

  /// The model that a store keeps of itself, as it lies in the file: deflated. nil when it keeps none, as those of
  /// frameworks before 2015 and those that were made without it. With it come the names of the tables. The file is left
  /// as it is.
  static func modelCache(ofFileAt path: Text) throws(Failure) -> (deflated: Bytes?, tables: Set<String>) {
    let file = try StoreFile(path: path)
    try file.check(isReadOnly: true, mustExist: true)
    let connection = try readOnlyConnection(to: file, options: Options(isReadOnly: true, mustExist: true))
    defer { connection.close() }
    do throws(Failure) {
      let tables = try connection.tables()
      return (try modelCache(on: connection, tables: tables), Set(tables.keys))
    } catch { throw connection.failureOfOpening(error) }
  }

  /// The same for a file that is open.
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
