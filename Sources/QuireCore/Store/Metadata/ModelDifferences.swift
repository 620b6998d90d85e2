/// How the model of a file differs from another: by the model that the file keeps, or else as far as the tables show.
struct ModelDifferences {
  private static let mostNamed = 8

  private let schema: Schema
  private let tables: [String: Set<String>]
  private let connection: Connection
  private var sentences: [String] = []
  private var alike: [String] = []
  private var comparedTables: Set<String> = []

  /// Sentences about the entities of `model` with other hashes than the file has.
  static func sentences(
    about entities: [Entity], of model: Model, kept: Model?, tables: [String: Set<String>], on connection: Connection
  ) throws(Failure) -> String {
    if let kept {
      var comparison = ModelComparison(with: kept)
      for entity in entities { comparison.compare(entity) }
      if !comparison.sentences.isEmpty { return comparison.text }
    }
    var differences = ModelDifferences(
      schema: Schema(model: model, existingTables: tables), tables: tables, connection: connection)
    let names = Set(entities.map(\.name))
    for entity in entities {
      let count = differences.sentences.count
      try differences.compare(entity)
      // One that inherits differs with its parent.
      if differences.sentences.count == count, !names.contains(entity.parentName) {
        differences.alike.append(entity.name)
      }
    }
    if !differences.alike.isEmpty {
      differences.sentences.append(
        "The columns of \(list(differences.alike)) agree, so that it is something else that differs: whether a "
          + "property is optional, stored externally or preserved, the size of an integer, an inverse, a count or the "
          + "order of a relationship, a uniqueness constraint, a hash modifier, or what is abstract.")
    }
    return differences.sentences.joined(separator: " ")
  }

  private init(schema: Schema, tables: [String: Set<String>], connection: Connection) {
    self.schema = schema
    self.tables = tables
    self.connection = connection
  }

  /// Own properties alone: an inherited one that differs makes the ancestor differ too.
  private mutating func compare(_ entity: Entity) throws(Failure) {
    let table = schema.table(of: entity), types = try columnTypes(of: table)
    var absent: [String] = []
    for attribute in entity.ownAttributes where !attribute.isTransient {
      guard let type = types[schema.column(of: attribute)] else {
        absent.append("'\(attribute.qualifiedName)'")
        continue
      }
      if type != attribute.type.sqlType {
        sentences.append(
          "'\(attribute.qualifiedName)' is \(attribute.type.name) in the model, a column of type "
            + "\(attribute.type.sqlType), and its column in the file is of type \(type).")
      }
    }
    for relationship in entity.ownRelationships where !relationship.isTransient && !isPresent(relationship, types) {
      absent.append("'\(relationship.qualifiedName)'")
    }
    if !absent.isEmpty { sentences.append("The file has nothing for \(ModelDifferences.list(absent)).") }
    let known = comparedTables.insert(table).inserted ? surplus(in: table, types) : []
    if !known.isEmpty { sentences.append("The model has nothing for \(ModelDifferences.list(known)) of \(table).") }
  }

  private func isPresent(_ relationship: Relationship, _ types: [String: String]) -> Bool {
    if !relationship.isToMany { return types[schema.toOne(relationship).key] != nil }
    if relationship.isManyToMany { return tables[schema.joinTable(of: relationship).name] != nil }
    // One with a to-one inverse has no column of its own.
    if relationship.inverse != nil { return true }
    let destination = tables[schema.table(of: relationship.destination)]
    return destination?.contains(schema.ownerColumns(of: relationship).key) == true
  }

  /// The columns of properties that the model lacks. Others bear numbers of entities, which are other ones as soon as
  /// there is another entity.
  private func surplus(in table: String, _ types: [String: String]) -> [String] {
    let expected = Set(schema.tables.first { $0.name == table }?.columns.map(\.name) ?? [])
    return types.keys.filter { name in
      let letters = Array(name.utf8)
      return !expected.contains(name) && letters.count > 1 && letters[0] == UInt8(ascii: "Z")
        && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letters[1])
    }.sorted().map { "the column \($0) (\(types[$0] ?? ""))" }
  }

  private func columnTypes(of table: String) throws(Failure) -> [String: String] {
    let select = try connection.statement("SELECT name, type FROM pragma_table_info(?)")
    try select.bind(Text(table), at: 1)
    var types: [String: String] = [:]
    while try select.step() {
      if let name = select.text(at: 0), let type = select.text(at: 1) { types[name.string] = type.string }
    }
    return types
  }

  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(mostNamed).joined(separator: ", ")
    return names.count > mostNamed ? "\(shown) and \(names.count - mostNamed) more" : shown
  }
}
