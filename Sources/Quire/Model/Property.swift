/// The attribute types of Core Data, with its numbers: they are part of the version hash.
enum AttributeType: UInt32, Sendable, CaseIterable {
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binary = 1000
  case uuid = 1100
  case uri = 1200
  case transformable = 1800

  var name: String {
    switch self {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    }
  }
}

/// What an object does to the objects it refers to when it is deleted. Numbers as in Core Data.
enum DeleteRule: UInt32, Sendable {
  case noAction = 0
  case nullify = 1
  case cascade = 2
  case deny = 3
}

/// An attribute or a relationship of an entity. Immutable once its model is frozen.
class Property: @unchecked Sendable {
  let name: String
  /// The same, for comparison with what callers give.
  let nameText: Text
  let isOptional: Bool
  let isTransient: Bool
  let versionHashModifier: String
  /// The entity that declares it; set when it is added.
  fileprivate(set) unowned var entity: Entity
  /// Place of its value in an object; the same for every entity that inherits it. Set by `Model.freeze`.
  var slot = -1

  init(name: String, entity: Entity, isOptional: Bool, isTransient: Bool, versionHashModifier: String) {
    self.name = name
    nameText = Text(name)
    self.entity = entity
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.versionHashModifier = versionHashModifier
  }

  /// `Entity.name`, as messages call it.
  var qualifiedName: String { "\(entity.name).\(name)" }
}

extension Offender {
  static func property(_ property: Property) -> Offender {
    Offender(entityName: property.entity.nameText, key: property.nameText)
  }

  static func entity(_ entity: Entity, key: String = "") -> Offender {
    Offender(entityName: entity.nameText, key: Text(key))
  }

  /// A row of the table of an entity.
  static func row(_ id: Int64, of entity: Entity, _ property: Property? = nil) -> Offender {
    Offender(
      entityName: entity.nameText, key: property?.nameText ?? Text(""),
      object: ObjectReferenceBox(ObjectReference(root: entity.rootNumber, id: id)))
  }
}

final class Attribute: Property, @unchecked Sendable {
  let type: AttributeType
  let defaultValue: Value
  /// The store keeps a text index of it. No part of the version hash.
  let isSearchable: Bool
  /// No part of the version hash either.
  let rules: AttributeRules
  /// What the store calculates it from; nil for an attribute that is set. No part of the version hash.
  let derivation: Derivation?

  init(
    name: String, entity: Entity, type: AttributeType, isOptional: Bool = false, isTransient: Bool = false,
    isSearchable: Bool = false, defaultValue: Value = .nil, rules: AttributeRules = AttributeRules(),
    derivation: Derivation? = nil, versionHashModifier: String = ""
  ) {
    self.type = type
    self.derivation = derivation
    self.rules = rules
    self.isSearchable = isSearchable
    self.defaultValue = defaultValue
    super.init(
      name: name, entity: entity, isOptional: isOptional, isTransient: isTransient,
      versionHashModifier: versionHashModifier)
  }
}

extension Property {
  /// Whether the store calculates it, so that nobody else sets it.
  var isDerived: Bool { (self as? Attribute)?.derivation != nil }
}

final class Relationship: Property, @unchecked Sendable {
  let destinationName: String
  /// Empty when there is no inverse.
  let inverseName: String
  let isToMany: Bool
  let isOrdered: Bool
  let minimumCount: Int
  /// 0 is unbounded; 1 for a to-one relationship.
  let maximumCount: Int
  let deleteRule: DeleteRule
  /// Resolved by `Model.freeze`.
  unowned(unsafe) var destination: Entity
  unowned(unsafe) var inverse: Relationship?

  init(
    name: String, entity: Entity, destinationName: String, inverseName: String = "", isToMany: Bool = false,
    isOrdered: Bool = false, isOptional: Bool = false, isTransient: Bool = false, minimumCount: Int = 0,
    maximumCount: Int = 0, deleteRule: DeleteRule = .nullify, versionHashModifier: String = ""
  ) {
    self.destinationName = destinationName
    self.inverseName = inverseName
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.minimumCount = minimumCount
    self.maximumCount = isToMany ? maximumCount : 1
    self.deleteRule = deleteRule
    self.destination = entity
    super.init(
      name: name, entity: entity, isOptional: isOptional, isTransient: isTransient,
      versionHashModifier: versionHashModifier)
  }

  /// Both ends are to-many: the pairs live in a join table.
  var isManyToMany: Bool { isToMany && inverse?.isToMany == true }
  /// Both ends are to-one: each row refers to the other.
  var isOneToOne: Bool { !isToMany && inverse?.isToMany == false }
  /// Whether deleting an object concerns those that it holds.
  var hasDeleteRule: Bool { deleteRule != .noAction && (deleteRule != .nullify || inverse != nil) }
}

/// A named index that a fetch can use; not part of the version hash.
struct FetchIndex: Sendable {
  struct Element: Sendable {
    let property: String
    let isDescending: Bool
  }

  let name: String
  let elements: [Element]
}
