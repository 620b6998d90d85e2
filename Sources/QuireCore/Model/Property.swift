/// An attribute or a relationship of an entity. Immutable once its model is frozen.
class Property: @unchecked Sendable {
  let name: String
  /// The same, for comparison with the names that callers pass.
  let nameText: Text
  let isOptional: Bool
  let isTransient: Bool
  let versionHashModifier: Text
  /// What it was called in an earlier model; empty when that was the same.
  let renamingIdentifier: Text
  private(set) var userInfo = UserInfo()
  /// A model before iOS 11 asks for an index of it. Set where a model of a file is read.
  var isIndexed = false
  /// That index is declared in no other way. Of a compiled model with fetch indexes these are all.
  var impliesIndex = false
  /// The entity that declares it; set when it is added.
  fileprivate(set) unowned var entity: Entity
  /// Place of its value in an object; the same for every entity that inherits it. Set by `Model.freeze`.
  var slot = -1

  init(
    name: String, entity: Entity, isOptional: Bool, isTransient: Bool, versionHashModifier: Text,
    renamingIdentifier: Text = ""
  ) {
    self.name = name
    nameText = Text(name)
    self.entity = entity
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.versionHashModifier = versionHashModifier
    self.renamingIdentifier = renamingIdentifier
  }

  // Called by `Model`, which has checked that it is not frozen.
  func setUserInfo(_ key: Text, to value: Text) { userInfo.set(key, to: value) }

  /// A list in the user info, of a property that is read from a file.
  func addUserInfo(_ key: Text, list: [Text]) { userInfo.add(key, list: list) }

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

extension Property {
  /// Whether the store calculates it, so that no call sets it.
  var isDerived: Bool { (self as? Attribute)?.derivation != nil }
}
