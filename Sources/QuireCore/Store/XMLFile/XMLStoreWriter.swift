/// Writes what is in the tables of a store as an XML store, as of the state that the connection shows.
struct XMLStoreWriter {
  private static let partSize = 1 << 18
  /// What every XML store of Core Data that was seen has.
  private static let version = 134_481_920
  /// Said by a file of SQLite of itself, and by no XML store.
  static let keysOfSQLite = ["NSStoreType", "NSStoreUUID", "_NSAutoVacuumLevel"]

  let uuid: Text
  let path: Text
  let schema: Schema
  let layouts: RowLayouts
  let names: XMLStoreNames

  /// Hands the parts of the document to `write`. Returns the number that the next new object must be above, which is no
  /// less than `lastNumber` where the numbers are the keys.
  func write(
    on connection: Connection, lastNumber: Int64, to write: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) -> Int64 {
    let numbers = try XMLStoreNumbers(schema: schema, on: connection)
    let last = numbers.isRenumbered ? numbers.last : max(lastNumber, numbers.last)
    var output: ContiguousArray<UInt8> = []
    output.reserveCapacity(XMLStoreWriter.partSize + (1 << 16))
    try appendHead(lastNumber: last, metadata: Metadata.properties(on: connection), to: &output)
    for table in schema.tables {
      let layout = layouts.layout(of: table.entity, includesSubentities: true)
      let select = try connection.statement(
        "SELECT \(layout.columns) FROM \(layout.table) \(RowLayout.alias) ORDER BY \(RowLayout.alias).Z_PK",
        isKept: false)
      var cursors: [ObjectIdentifier: MemberCursor] = [:]
      for relationship in table.entity.subtree.flatMap(\.ownRelationships)
      where relationship.isToMany && !relationship.isTransient {
        cursors[ObjectIdentifier(relationship)] = try MemberCursor(relationship, schema: schema, on: connection)
      }
      while try select.step() {
        try append(try layout.row(from: select), numbers, cursors, to: &output)
        if output.count >= XMLStoreWriter.partSize {
          try output.withUnsafeBufferPointer { part throws(Failure) in try write(part) }
          output.removeAll(keepingCapacity: true)
        }
      }
    }
    output.append(contentsOf: "</database>\n".utf8)
    try output.withUnsafeBufferPointer { part throws(Failure) in try write(part) }
    return last
  }

  private func appendHead(
    lastNumber: Int64, metadata: [String: PropertyListValue], to output: inout ContiguousArray<UInt8>
  ) throws(Failure) {
    var metadata = metadata
    for key in XMLStoreWriter.keysOfSQLite { metadata[key] = nil }
    let list: ContiguousArray<UInt8>
    do throws(PropertyListValue.XMLProblem) {
      list = try PropertyListValue.dictionary(metadata).xml()
    } catch {
      switch error {
      case .noMemory: throw Failure(.noMemory, "There is not enough memory to write '\(path)'.")
      case .controlCharacter:
        throw Failure(
          .unsupported,
          "The metadata cannot be written to '\(path)': a text in them has a control character, which no XML can have. "
            + "Remove that character. Nothing was saved.")
      }
    }
    output.append(
      contentsOf: """
        <?xml version="1.0" standalone="yes"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

        <database>
            <databaseInfo>
                <version>\(XMLStoreWriter.version)</version>
                <UUID>\(uuid)</UUID>
                <nextObjectID>\(lastNumber)</nextObjectID>
                <metadata>

        """.utf8)
    output.append(contentsOf: list)
    output.append(contentsOf: "        </metadata>\n    </databaseInfo>\n".utf8)
  }

  private func append(
    _ row: Row, _ numbers: XMLStoreNumbers, _ cursors: [ObjectIdentifier: MemberCursor],
    to output: inout ContiguousArray<UInt8>
  ) throws(Failure) {
    let root = row.entity.rootNumber
    guard let number = numbers.number(of: row.id, root: root) else { return }
    output.append(contentsOf: "    <object type=\"\(XMLStoreNames.type(of: row.entity))\" id=\"z\(number)\">\n".utf8)
    for (name, property) in names[row.entity].written {
      if let attribute = property as? Attribute {
        let value = row.values[attribute.slot]
        if value.isNil { continue }
        output.append(contentsOf: "        <attribute name=\"\(name)\" type=\"\(attribute.type.xmlName ?? "")\">".utf8)
        try XMLStoreValue.append(value, to: &output)
        output.append(contentsOf: "</attribute>\n".utf8)
      } else if let relationship = property as? Relationship {
        var members: [Int64] = []
        if relationship.isToMany {
          members = try cursors[ObjectIdentifier(relationship)]?.members(of: row.id) ?? []
        } else if case .object(let box) = row.values[relationship.slot] {
          members = [box.reference.id]
        }
        append(relationship, name, members, numbers, to: &output)
      }
    }
    output.append(contentsOf: "    </object>\n".utf8)
  }

  /// References to objects that are gone, which a delete rule may leave, are left out.
  private func append(
    _ relationship: Relationship, _ name: String, _ members: [Int64], _ numbers: XMLStoreNumbers,
    to output: inout ContiguousArray<UInt8>
  ) {
    let destination = relationship.destination
    let type = XMLStoreNames.type(of: destination)
    let counts = relationship.isToMany ? "\(relationship.minimumCount)/\(relationship.maximumCount)" : "1/1"
    output.append(
      contentsOf:
        "        <relationship name=\"\(name)\" type=\"\(counts)\" destination=\"\(type)\""
        .utf8)
    var isFirst = true
    for member in members {
      guard let number = numbers.number(of: member, root: destination.rootNumber) else { continue }
      output.append(contentsOf: (isFirst ? " idrefs=\"z\(number)" : " z\(number)").utf8)
      isFirst = false
    }
    output.append(contentsOf: (isFirst ? "></relationship>\n" : "\"></relationship>\n").utf8)
  }
}

/// The members of a to-many relationship, owner by owner.
private final class MemberCursor {
  private let statement: Statement
  private var owner: Int64?

  init(_ relationship: Relationship, schema: Schema, on connection: Connection) throws(Failure) {
    statement = try connection.statement(RelationshipSQL(relationship, schema: schema).everyMember, isKept: false)
    try advance()
  }

  private func advance() throws(Failure) { owner = try statement.step() ? statement.integer(at: 0) : nil }

  /// To be asked in the order of the owners.
  func members(of id: Int64) throws(Failure) -> [Int64] {
    while let next = owner, next < id { try advance() }
    var members: [Int64] = []
    while owner == id {
      members.append(statement.integer(at: 1))
      try advance()
    }
    return members
  }
}

extension RelationshipSQL {
  /// Selects the keys of owner and member for all members of a to-many relationship. They come owner by owner, and
  /// within each as `destinations` orders them.
  fileprivate var everyMember: String {
    let condition = destinationCondition("d").map { " AND \($0.sql)" } ?? ""
    switch storage {
    case .owner(let key): return "SELECT Z_PK, \(key) FROM \(ownerTable) WHERE \(key) IS NOT NULL ORDER BY Z_PK"
    case .destination(let key, let order):
      return """
        SELECT d.\(key), d.Z_PK FROM \(table) d WHERE d.\(key) IS NOT NULL\(condition) \
        ORDER BY d.\(key), \(order.map { "d.\($0), " } ?? "")d.Z_PK
        """
    case .pairs(let pairs):
      func side(_ owner: String, _ destination: String, _ order: String?) -> String {
        "SELECT \(owner) AS owner, \(destination) AS id, \(order ?? "NULL") AS place FROM \(pairs.name)"
      }
      var all = side(pairs.ownerColumn, pairs.destinationColumn, pairs.orderColumn)
      if pairs.isReflexive {
        let turned = side(pairs.destinationColumn, pairs.ownerColumn, pairs.inverseOrderColumn)
        all = "SELECT owner, id, min(place) AS place FROM (\(all) UNION ALL \(turned)) GROUP BY owner, id"
      }
      return """
        SELECT p.owner, d.Z_PK FROM (\(all)) p JOIN \(table) d ON d.Z_PK = p.id\(condition) \
        ORDER BY p.owner, p.place, d.Z_PK
        """
    }
  }
}
