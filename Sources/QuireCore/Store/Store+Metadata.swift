extension Store {
  /// The key under which the UUID of the file is found. The file has it beside its metadata.
  static let uuidKey = "NSStoreUUID"
  /// Keys that begin so say what a file is, and programs are not to change them.
  private static let reservedBeginnings = ["NSStore", "NSPersistence", "_NS"]

  /// All metadata: what is in the file now, with what was set and is not saved yet.
  func properties() throws(Failure) -> [String: PropertyListValue] {
    try withConnection { connection throws(Failure) in
      var properties = try Metadata.properties(on: connection)
      if xml != nil { properties = Store.propertiesOfXML(properties) }
      properties[Store.uuidKey] = .text(uuid.string)
      properties.apply(metadataChanges.pending)
      return properties
    }
  }

  /// Has the next save write a value into the metadata, or remove the key when there is none.
  func setProperty(_ key: String, to value: PropertyListValue?) throws(Failure) {
    if key.isEmpty || key.utf8.contains(0) {
      throw Failure(
        .invalidArgument,
        "The key '\(key)' cannot be in metadata: it is empty or has U+0000 in it. Choose another one.")
    }
    if let beginning = Store.reservedBeginnings.first(where: key.hasPrefix) {
      throw Failure(
        .invalidArgument,
        "The key '\(key)' of the metadata is the framework's, as all that begin with '\(beginning)'. "
          + "Choose another one.")
    }
    if let value, PropertyListValue.dictionary([key: value]).binary == nil {
      throw Failure(
        .invalidArgument,
        "The value of '\(key)' cannot be in metadata: a text in it has U+0000 in it. Remove that character.")
    }
    try checkOpen()
    try checkWritable()
    if value != nil {
      var together: [String: PropertyListValue] = [:]
      together.apply(metadataChanges.pending)
      together[key] = value
      try Store.checkReadable(together, "The value of '\(key)', with what was set before,")
    }
    metadataChanges.set(key, to: value)
  }

  /// Fails for what the next opening would refuse as damaged.
  private static func checkReadable(
    _ properties: [String: PropertyListValue], _ what: @autoclosure () -> String
  ) throws(Failure) {
    guard let binary = PropertyListValue.dictionary(properties).binary, PropertyListValue(binary: binary) == nil else {
      return
    }
    throw Failure(
      .invalidArgument,
      "\(what()) cannot be in metadata: there are too many values, too many lists in each other, or too many copies of "
        + "a text or of data for a reader. Set something smaller.")
  }

  /// Writes what was set, for a save that has nothing else to write.
  func saveProperties() throws(Failure) {
    if metadataChanges.isEmpty { return }
    _ = try write { _ throws(Failure) in }
  }

  /// Writes what was set inside the transaction of a save, and returns it.
  func writeProperties(on connection: Connection) throws(Failure) -> [String: PropertyListValue?] {
    if metadataChanges.isEmpty { return [:] }
    let changes = metadataChanges.pending
    var properties = try Metadata.properties(on: connection)
    properties.apply(changes)
    try Store.checkReadable(properties, "What was set, with what the file has,")
    try Metadata.write(properties, on: connection)
    return changes
  }

  /// The metadata of the store at `path`, of any model.
  static func properties(path: Text, busyTimeoutMilliseconds: Int32) throws(Failure) -> [String: PropertyListValue] {
    try otherwiseXML(path) { () throws(Failure) in
      try propertiesOfSQLite(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    } read: { bytes throws(Failure) in
      let found = try XMLStoreReader.information(of: bytes, path: path)
      var properties = propertiesOfXML(found.metadata)
      properties[uuidKey] = .text(found.uuid.string)
      return properties
    }
  }

  private static func propertiesOfSQLite(
    path: Text, busyTimeoutMilliseconds: Int32
  ) throws(Failure) -> [String: PropertyListValue] {
    let file = try StoreFile(path: path)
    try file.check(isReadOnly: true, mustExist: true)
    var options = Options()
    options.isReadOnly = true
    options.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    let connection = try readOnlyConnection(to: file, options: options)
    defer { connection.close() }
    do throws(Failure) {
      let metadata = try Metadata.read(from: connection, tables: connection.tables())
      var properties = try Metadata.properties(on: connection)
      properties[uuidKey] = .text(metadata.uuid.string)
      return properties
    } catch { throw connection.failureOfOpening(error) }
  }
}
