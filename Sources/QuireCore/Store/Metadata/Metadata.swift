/// The one row of Z_METADATA: which store this is, and which model made it.
struct Metadata {
  let uuid: Text
  /// Entity names with their 32-byte version hashes.
  let hashes: [String: [UInt8]]

  /// The oldest framework whose stores were seen with every key that is written here. The number is free to choose:
  /// it says which conventions a file follows, and nothing in the file depends on it.
  private static let frameworkVersion: Int64 = 1321
  private static let hashesVersion: Int64 = 3
  private static let hashesKey = "NSStoreModelVersionHashes"
  private static let digestKey = "NSStoreModelVersionHashesDigest"
  private static let checksumKey = "NSStoreModelVersionChecksumKey"
  private static let identifiersKey = "NSStoreModelVersionIdentifiers"
  private static let hashesVersionKey = "NSStoreModelVersionHashesVersion"

  /// Writes the row for a new store of `model`, with a new UUID.
  static func create(for model: Model, on connection: Connection) throws(Failure) {
    try insert(uuid: Text(UniqueIdentifier.random().text), properties(for: model), on: connection)
  }

  /// Writes the row for a store that was another file. What the file does not say of its model is that of `model`.
  static func create(
    for model: Model, uuid: Text, _ found: [String: PropertyListValue], on connection: Connection
  ) throws(Failure) {
    let made = properties(for: model)
    var properties = found[hashesKey] == nil ? found.merging(made) { $1 } : found
    for key in ["NSStoreType", "_NSAutoVacuumLevel"] { properties[key] = made[key] }
    properties[Store.uuidKey] = nil
    try insert(uuid: uuid, properties, on: connection)
  }

  private static func properties(for model: Model) -> [String: PropertyListValue] {
    let hashes = VersionHash(model: model)
    let hashesByName = hashes.byName.map { ($0.name, PropertyListValue.data(Bytes($0.hash))) }
    return [
      "NSStoreType": .text("SQLite"),
      hashesKey: .dictionary(Dictionary(uniqueKeysWithValues: hashesByName)),
      hashesVersionKey: .integer(hashesVersion),
      digestKey: .text(hashes.digest),
      checksumKey: .text(hashes.checksum),
      identifiersKey: identifiers(of: model),
      "NSPersistenceFrameworkVersion": .integer(frameworkVersion),
      "_NSAutoVacuumLevel": .text("2"),
    ]
  }

  private static func insert(
    uuid: Text, _ properties: [String: PropertyListValue], on connection: Connection
  ) throws(Failure) {
    let binary = try binary(properties, on: connection)
    let insert = try connection.statement("INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)")
    try insert.bind(uuid, at: 1)
    try insert.bind(binary, at: 2)
    try insert.run()
  }

  /// Reads the row of a file with these tables.
  static func read(from connection: Connection, tables: [String: Set<String>]) throws(Failure) -> Metadata {
    let path = connection.path
    func notAStore(_ reason: String) -> Failure {
      Failure(.notAStore, "'\(path)' is an SQLite database but not a store: \(reason). Check the path.")
    }
    guard let columns = tables["Z_METADATA"] else { throw notAStore("it has no table Z_METADATA") }
    for column in ["Z_VERSION", "Z_UUID", "Z_PLIST"] where !columns.contains(column) {
      throw notAStore("its table Z_METADATA has no column \(column)")
    }
    let select = try connection.statement("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
    guard try select.step() else { throw notAStore("its table Z_METADATA is empty") }
    guard let uuid = select.text(at: 0), ObjectURI.isUUID(uuid.bytes.buffer) else {
      throw notAStore("Z_UUID in its table Z_METADATA is not a UUID")
    }
    guard let list = select.data(at: 1).flatMap(PropertyListValue.init(binary:)), list.dictionary != nil else {
      throw notAStore("Z_PLIST in its table Z_METADATA is damaged")
    }
    let type = list["NSStoreType"]?.text
    guard type == "SQLite" else {
      throw notAStore("its metadata say that it is of type '\(type ?? "unknown")', not 'SQLite'")
    }
    guard let entries = list[hashesKey]?.dictionary, case let hashes = entries.compactMapValues(\.data),
      hashes.count == entries.count
    else { throw notAStore("its metadata have no \(hashesKey)") }
    if let version = list[hashesVersionKey]?.integer, version != hashesVersion {
      throw Failure(
        .unsupported,
        "The version hashes of the store '\(path)' are of version \(version); only version \(hashesVersion) is known.")
    }
    return Metadata(uuid: Text(uuid.string.uppercased()), hashes: hashes.mapValues { Array($0.buffer) })
  }

  /// All that the row has beside the UUID. For a file in which `read` has found a row.
  static func properties(on connection: Connection) throws(Failure) -> [String: PropertyListValue] {
    let select = try connection.statement("SELECT Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
    guard try select.step(), let found = select.data(at: 0).flatMap(PropertyListValue.init(binary:))?.dictionary else {
      throw Failure(
        .database, "The metadata of the store '\(connection.path)' are damaged. Restore the file from a backup.")
    }
    return found
  }

  /// Replaces what properties say of the model, as far as they say it. All else is another's.
  ///
  /// How Core Data hashes a derived attribute is not known. Where nothing has changed of one that the framework keeps,
  /// its hash stays.
  func replaceModel(
    in properties: inout [String: PropertyListValue], from source: Model, to target: Model,
    keepsForeignDerivations: Bool
  ) {
    let former = VersionHash(model: source), computed = VersionHash(model: target)
    let byName = computed.byName.map { name, hash in
      let isKept = keepsForeignDerivations && computed.agrees(with: former, onDerivedEntity: name)
      return (name: name, hash: isKept ? hashes[name] ?? hash : hash)
    }
    properties[Metadata.hashesKey] = .dictionary(
      Dictionary(uniqueKeysWithValues: byName.map { ($0.name, .data(Bytes($0.hash))) }))
    properties[Metadata.identifiersKey] = Metadata.identifiers(of: target)
    // Older frameworks know neither.
    if properties[Metadata.digestKey] != nil { properties[Metadata.digestKey] = .text(VersionHash.digest(of: byName)) }
    if properties[Metadata.checksumKey] != nil {
      properties[Metadata.checksumKey] = .text(VersionHash.checksum(of: byName))
    }
  }

  /// A model of a file has what the file says, even if that is nothing.
  private static func identifiers(of model: Model) -> PropertyListValue {
    var identifiers = model.versionIdentifiers.map(\.string)
    if identifiers.isEmpty, model.origin == .program { identifiers = [""] }
    return .array(identifiers.map { .text($0) })
  }

  /// Writes all of it again, keys of other programs included.
  static func write(_ properties: [String: PropertyListValue], on connection: Connection) throws(Failure) {
    let update = try connection.statement(
      "UPDATE Z_METADATA SET Z_PLIST = ? WHERE Z_VERSION = (SELECT min(Z_VERSION) FROM Z_METADATA)")
    try update.bind(try binary(properties, on: connection), at: 1)
    try update.run()
    if connection.changes == 0 { throw connection.ignoredFailure("Z_METADATA", doing: "write the metadata") }
  }

  private static func binary(
    _ properties: [String: PropertyListValue], on connection: Connection
  ) throws(Failure) -> Bytes {
    if let binary = PropertyListValue.dictionary(properties).binary { return binary }
    throw Failure(.database, "Could not write '\(connection.path)': there is not enough memory for its metadata.")
  }

  /// Throws a mismatch that names every entity which differs, or which only one of model and file has, and what the
  /// tables tell of it.
  ///
  /// How Core Data hashes a derived attribute is not known. For an entity that has one the file's own hash counts when
  /// the model that the file keeps has the same. Returns these entities.
  ///
  /// The tables of an XML store were made for the model, and tell nothing of the file.
  @discardableResult
  func check(
    _ model: Model, tables: [String: Set<String>], form: any ModelForm.Type, on connection: Connection,
    isXML: Bool = false
  ) throws(Failure) -> Set<String> {
    let computed = VersionHash(model: model), expected = computed.byName
    let names = Set(expected.map(\.name))
    var differing = expected.filter { hashes[$0.name] != nil && hashes[$0.name] != $0.hash }.map(\.name)
    let kept = differing.isEmpty ? nil : try keptModel(tables: tables, form: form, on: connection)
    let unknown = kept.map { unknownHashes(among: differing, of: computed, in: $0) } ?? []
    differing.removeAll(where: unknown.contains)
    let parts = [
      ("differ", differing),
      ("not in the file", expected.filter { hashes[$0.name] == nil }.map(\.name)),
      ("not in the model", hashes.keys.filter { !names.contains($0) }.sorted()),
    ]
    let differences = parts.filter { !$0.1.isEmpty }.map { "\($0.1.joined(separator: ", ")) (\($0.0))" }
    if differences.isEmpty { return unknown }
    let beginning =
      "The store '\(connection.path)' was made with another model. Entities: \(differences.joined(separator: "; ")). "
    if isXML {
      throw Failure(
        .modelMismatch,
        "\(beginning)Open it with the model that made it. XML stores are not migrated: convert it to a store of SQLite "
          + "with that model, and migrate that.")
    }
    let entities = model.numberedEntities.filter { differing.contains($0.name) }
    let details = try ModelDifferences.sentences(
      about: entities, of: model, kept: kept.flatMap(madeBy), tables: tables, on: connection)
    throw Failure(
      .modelMismatch,
      "\(beginning)\(details)\(details.isEmpty ? "" : " ")Open it with the model that made it, or migrate it.")
  }

  /// The model that the file keeps, where one can be read.
  private func keptModel(
    tables: [String: Set<String>], form: any ModelForm.Type, on connection: Connection
  ) throws(Failure) -> Model? {
    guard let deflated = try Store.modelCache(on: connection, tables: tables) else { return nil }
    return try? form.model(deflated: deflated, "the store '\(connection.path)'")
  }

  /// Of the entities with other hashes than the model those that are the same all the same, as the kept model says.
  /// Only the framework makes such.
  private func unknownHashes(among differing: [String], of computed: VersionHash, in kept: Model) -> Set<String> {
    if !computed.hasDerived(among: differing) { return [] }
    let found = VersionHash(model: kept)
    return Set(differing.filter { computed.agrees(with: found, onDerivedEntity: $0) })
  }

  /// The kept model, if it is the one that the hashes are of. Those of derived attributes are not known.
  private func madeBy(_ kept: Model) -> Model? {
    let found = VersionHash(model: kept)
    let others = found.byName.filter { hashes[$0.name] != $0.hash }.map(\.name)
    return others.allSatisfy { found.hasDerived(among: [$0]) } ? kept : nil
  }
}
