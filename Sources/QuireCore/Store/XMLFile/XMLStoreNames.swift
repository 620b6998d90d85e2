/// What an XML store calls the entities and properties of a model: entities in upper case, properties in lower case.
struct XMLStoreNames: Sendable {
  /// An entity, and what objects of it have in the file.
  final class Members: Sendable {
    let entity: Entity
    /// Stored properties by slot.
    let written: [(name: String, property: Property)]
    let properties: [String: Property]

    init(_ entity: Entity) throws(Failure) {
      self.entity = entity
      var written: [(name: String, property: Property)] = [], properties: [String: Property] = [:]
      for property in entity.properties where !property.isTransient {
        let name = property.name.lowercased()
        if let attribute = property as? Attribute, attribute.type.xmlName == nil {
          throw Failure(
            .unsupported,
            "Attribute '\(attribute.qualifiedName)' is of type \(attribute.type.name), which no XML store has. Use "
              + "another type, or an SQLite store.", about: .property(attribute))
        }
        if let other = properties.updateValue(property, forKey: name) {
          throw Failure(
            .unsupported,
            "'\(property.qualifiedName)' and '\(other.qualifiedName)' have one name in an XML store, which writes "
              + "names of properties in lower case. Rename one, or use an SQLite store.", about: .property(property))
        }
        written.append((name, property))
      }
      self.written = written
      self.properties = properties
    }
  }

  /// By the name in the file.
  let types: [String: Members]
  private let byNumber: [Members]

  init(_ model: Model) throws(Failure) {
    var types: [String: Members] = [:], byNumber: [Members] = []
    for entity in model.numberedEntities {
      let members = try Members(entity)
      if let other = types.updateValue(members, forKey: XMLStoreNames.type(of: entity)) {
        throw Failure(
          .unsupported,
          "The entities '\(other.entity.name)' and '\(entity.name)' have one name in an XML store, which writes names "
            + "of entities in upper case. Rename one, or use an SQLite store.", about: .entity(entity))
      }
      byNumber.append(members)
    }
    self.types = types
    self.byNumber = byNumber
  }

  static func type(of entity: Entity) -> String { entity.name.uppercased() }

  subscript(entity: Entity) -> Members { byNumber[entity.number - 1] }
}

extension AttributeType {
  /// The name of the type in an XML store; nil for what no such store has.
  var xmlName: String? {
    switch self {
    case .integer16: "int16"
    case .integer32: "int32"
    case .integer64: "int64"
    case .decimal: "decimal"
    case .double: "double"
    case .float: "float"
    case .string: "string"
    case .boolean: "bool"
    case .date: "date"
    case .binary: "binary"
    case .transformable: "transformable"
    case .uuid: "uuid"
    case .uri: "uri"
    case .undefined, .composite: nil
    }
  }
}
