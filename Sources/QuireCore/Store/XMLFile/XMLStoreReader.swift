/// Reads an XML store into the tables of an empty database, as a program of Core Data would have written them.
///
/// The opening that follows takes the database for a file of another program: it makes text indexes and triggers, and
/// calculates what is derived.
final class XMLStoreReader {
  /// What the file says of itself.
  struct Information {
    let uuid: Text
    let metadata: [String: PropertyListValue]
    /// No object that is new may have this number, or a lower one.
    var lastNumber: Int64
  }

  /// The objects that have a to-many relationship, and the members that each names.
  final class Members {
    let relationship: Relationship
    var owners: [(owner: Int64, element: Int32, range: Range<Int>)] = []
    var members: [Int64] = []

    init(_ relationship: Relationship) { self.relationship = relationship }
  }

  let scanner: XMLStoreScanner
  let path: Text
  let connection: Connection
  let schema: Schema
  let names: XMLStoreNames
  private let external: ExternalStorage
  /// The numbers of the elements that the objects are.
  private(set) var places: [Int64: Int32] = [:]
  var members: [ObjectIdentifier: Members] = [:]
  private var writers: [Int: Statement] = [:]
  private var text: ContiguousArray<UInt8> = []

  init(
    _ bytes: Bytes, path: Text, into connection: Connection, schema: Schema, names: XMLStoreNames
  ) throws(Failure) {
    self.path = path
    self.connection = connection
    self.schema = schema
    self.names = names
    external = ExternalStorage(model: schema.model, folder: nil)
    scanner = try XMLStoreScanner(bytes, path: path)
  }

  /// `check` is called with what the file says of itself, before any object is read.
  func read(check: (Information) throws(Failure) -> Void) throws(Failure) -> Information {
    guard var information = try XMLStoreReader.information(scanner, path) else {
      throw scanner.damaged("the file has no element 'databaseInfo' before its objects")
    }
    try check(information)
    reading: while true {
      switch try scanner.next() {
      case .text: continue
      case .end: break reading
      case .begin("object"): try readObject(isEmpty: false)
      case .empty("object"): try readObject(isEmpty: true)
      case .begin(let name), .empty(let name): throw scanner.damaged("'\(name)' is no element of an XML store")
      case .finished: throw scanner.damaged("the file ends in the midst of its objects")
      }
    }
    while true { if case .finished = try scanner.next() { break } }
    try relate()
    information.lastNumber = max(information.lastNumber, places.keys.max() ?? 0)
    return information
  }

  func damaged(_ problem: String, object id: Int64) -> Failure {
    scanner.damaged(problem, at: places[id].map { Int($0) })
  }

  // MARK: Information

  /// What the file with these bytes says of itself, of whatever model.
  static func information(of bytes: Bytes, path: Text) throws(Failure) -> Information {
    let scanner = try XMLStoreScanner(bytes, path: path)
    if let information = try information(scanner, path) { return information }
    throw scanner.damaged("the file has no element 'databaseInfo'")
  }

  /// Leaves the scanner behind the information. nil where there is none.
  private static func information(_ scanner: XMLStoreScanner, _ path: Text) throws(Failure) -> Information? {
    var text: ContiguousArray<UInt8> = []
    while true {
      switch try scanner.next() {
      case .text: continue
      case .begin("database"): break
      case .begin(let name), .empty(let name):
        throw Failure(
          .notAStore,
          "'\(path)' is XML, but no store: its outermost element is '\(name)', not 'database'. Check the path.")
      case .end, .finished: return nil
      }
      break
    }
    while true {
      switch try scanner.next() {
      case .text: continue
      case .begin("databaseInfo"): break
      default: return nil
      }
      break
    }
    var uuid: Text?, metadata: [String: PropertyListValue] = [:], lastNumber: Int64 = 0
    while true {
      switch try scanner.next() {
      case .text: continue
      case .begin("UUID"):
        try scanner.text(of: "UUID", into: &text)
        let found = String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace }
        guard ObjectURI.isUUID(found.utf8) else { throw scanner.damaged("'\(found)' is no UUID") }
        uuid = Text(found.uppercased())
      case .begin("nextObjectID"):
        try scanner.text(of: "nextObjectID", into: &text)
        let found = String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace }
        guard let number = Int64(found), number >= 0, number < Int64.max else {
          throw scanner.damaged("'\(found)' is no number of an object")
        }
        lastNumber = number
      case .begin("metadata"): metadata = try readMetadata(scanner)
      case .begin: try scanner.skip()
      case .empty: continue
      case .end:
        guard let uuid else { throw scanner.damaged("the element 'databaseInfo' has no 'UUID'") }
        return Information(uuid: uuid, metadata: metadata, lastNumber: lastNumber)
      case .finished: throw scanner.damaged("the file ends in the element 'databaseInfo'")
      }
    }
  }

  private static func readMetadata(_ scanner: XMLStoreScanner) throws(Failure) -> [String: PropertyListValue] {
    var found: [String: PropertyListValue] = [:]
    while true {
      switch try scanner.next() {
      case .text, .empty: continue
      case .begin("plist"):
        let place = scanner.element
        guard let xml = scanner.outerXML(), let list = PropertyListValue(xml)?.dictionary else {
          throw scanner.damaged("the metadata are no property list", at: place)
        }
        found = list
        try scanner.skip()
      case .begin(let name): throw scanner.damaged("an element '\(name)' is in the metadata")
      case .end: return found
      case .finished: throw scanner.damaged("the file ends in its metadata")
      }
    }
  }

  // MARK: Objects

  private func readObject(isEmpty: Bool) throws(Failure) {
    let place = scanner.element, attributes = scanner.attributes()
    guard let type = attributes["type"], let members = names.types[type.uppercased()] else {
      throw scanner.damaged("the model has no entity '\(attributes["type"] ?? "")'")
    }
    let entity = members.entity
    if entity.isAbstract { throw scanner.damaged("the entity '\(entity.name)' is abstract and has no objects") }
    guard let id = XMLStoreReader.number(attributes["id"] ?? "") else {
      throw scanner.damaged("'\(attributes["id"] ?? "")' is no id of an object, which is 'z' and a number")
    }
    if places.updateValue(Int32(clamping: place), forKey: id) != nil {
      throw scanner.damaged("there is a second object 'z\(id)'")
    }
    var values = ContiguousArray<Value>(repeating: .nil, count: entity.properties.count)
    var seen: Set<Int> = []
    reading: while !isEmpty {
      switch try scanner.next() {
      case .text: continue
      case .end: break reading
      case .begin(let name): try readProperty(name, isEmpty: false, of: members, id, &values, &seen)
      case .empty(let name): try readProperty(name, isEmpty: true, of: members, id, &values, &seen)
      case .finished: throw scanner.damaged("the file ends in the object 'z\(id)'")
      }
    }
    try insert(values, of: members, id: id)
  }

  /// nil for what is no id.
  static func number(_ id: some StringProtocol) -> Int64? {
    guard id.utf8.first == UInt8(ascii: "z"), let digit = id.utf8.dropFirst().first, (49...57).contains(digit),
      let number = Int64(id.dropFirst()), number < Int64.max
    else { return nil }
    return number
  }

  private func readProperty(
    _ element: String, isEmpty: Bool, of members: XMLStoreNames.Members, _ id: Int64,
    _ values: inout ContiguousArray<Value>, _ seen: inout Set<Int>
  ) throws(Failure) {
    guard element == "attribute" || element == "relationship" else {
      throw scanner.damaged("'\(element)' is no element of an object")
    }
    let found = scanner.attributes(), name = found["name"] ?? ""
    guard let property = members.properties[name.lowercased()],
      (property is Attribute) == (element == "attribute")
    else { throw scanner.damaged("the entity '\(members.entity.name)' has no \(element) '\(name)'") }
    if !seen.insert(property.slot).inserted { throw scanner.damaged("the object 'z\(id)' has '\(name)' twice") }
    let place = scanner.element
    text.removeAll(keepingCapacity: true)
    if !isEmpty { try scanner.text(of: element, into: &text) }
    if let attribute = property as? Attribute {
      let expected = attribute.type.xmlName ?? ""
      if let type = found["type"], type != expected, XMLStoreReader.types.contains(type) {
        throw scanner.damaged(
          "'\(attribute.qualifiedName)' is of the type '\(type)' there, and of '\(expected)' in the model", at: place)
      }
      let value = text.withUnsafeBufferPointer { XMLStoreValue.value($0, as: attribute.type) }
      guard let value else {
        throw scanner.damaged(
          "'\(attribute.qualifiedName)' of the object 'z\(id)' is no value of the type '\(expected)'", at: place)
      }
      values[attribute.slot] = value
    } else if let relationship = property as? Relationship {
      if let destination = found["destination"],
        destination.uppercased() != XMLStoreNames.type(of: relationship.destination)
      {
        throw scanner.damaged(
          "'\(relationship.qualifiedName)' leads to '\(destination)' there, and to "
            + "'\(relationship.destination.name)' in the model", at: place)
      }
      try note(found["idrefs"] ?? "", of: relationship, id, place, &values)
    }
  }

  private static let types = Set(AttributeType.allCases.compactMap(\.xmlName))

  private func note(
    _ references: String, of relationship: Relationship, _ id: Int64, _ place: Int,
    _ values: inout ContiguousArray<Value>
  ) throws(Failure) {
    var found: [Int64] = []
    for reference in references.utf8.split(whereSeparator: XMLStoreValue.isSpace) {
      let written = String(decoding: reference, as: UTF8.self)
      guard let number = XMLStoreReader.number(written) else {
        throw scanner.damaged("'\(written)' is no id of an object, which is 'z' and a number", at: place)
      }
      found.append(number)
    }
    guard let first = found.first else { return }
    if !relationship.isToMany {
      if found.count > 1 {
        throw scanner.damaged(
          "'\(relationship.qualifiedName)' leads to \(found.count) objects, and is to-one", at: place)
      }
      values[relationship.slot] = .object(ObjectReference(root: relationship.destination.rootNumber, id: first))
      return
    }
    let key = ObjectIdentifier(relationship)
    let list = members[key] ?? Members(relationship)
    members[key] = list
    list.owners.append((id, Int32(clamping: place), list.members.count..<(list.members.count + found.count)))
    list.members += found
  }

  /// Without what follows from other rows: entity numbers and order keys.
  private func insert(
    _ values: ContiguousArray<Value>, of members: XMLStoreNames.Members, id: Int64
  ) throws(Failure) {
    let entity = members.entity
    let stored = members.written.filter { schema.valueColumn(of: $0.property) != nil }
    let statement: Statement
    if let known = writers[entity.number] {
      statement = known
    } else {
      let columns = stored.map { ", \(schema.valueColumn(of: $0.property) ?? "")" }.joined()
      let parameters = String(repeating: ", ?", count: stored.count)
      statement = try connection.statement(
        "INSERT INTO \(schema.table(of: entity)) (Z_PK, Z_ENT, Z_OPT\(columns)) "
          + "VALUES (?, \(entity.number), \(SaveRequest.Insert.savedVersion)\(parameters))", isKept: false)
      writers[entity.number] = statement
    }
    try statement.bind(id, at: 1)
    for (place, (_, property)) in stored.enumerated() {
      let value = values[property.slot]
      try statement.bind(property.externalColumn == nil ? value : external.stored(value), at: place + 2)
    }
    do throws(Failure) { try statement.run() } catch {
      if error.kind != .constraint { throw error }
      throw damaged("another object has the values of 'z\(id)' that are to be unique", object: id)
    }
  }
}
