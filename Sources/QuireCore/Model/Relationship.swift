/// The effect of an object's deletion on the objects it refers to. The numbers are Core Data's.
enum DeleteRule: UInt32, Sendable {
  case noAction = 0
  case nullify = 1
  case cascade = 2
  case deny = 3
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
  /// The same as the version hash has it, where `unbounded` is no bound either.
  let declaredMaximumCount: Int
  let deleteRule: DeleteRule
  /// Whether the join table is named after it and not after its inverse, whatever the rule says. Set before a model is
  /// shared.
  var namesJoinTable: Bool
  /// Resolved by `Model.freeze`.
  unowned(unsafe) var destination: Entity
  unowned(unsafe) var inverse: Relationship?

  /// What models that were made by a program of Core Data have for no bound, where Xcode writes 0.
  static let unbounded = -1

  init(
    name: String, entity: Entity, destinationName: String, inverseName: String = "", isToMany: Bool = false,
    isOrdered: Bool = false, isOptional: Bool = false, isTransient: Bool = false, minimumCount: Int = 0,
    maximumCount: Int = 0, deleteRule: DeleteRule = .nullify, namesJoinTable: Bool = false,
    versionHashModifier: Text = "", renamingIdentifier: Text = ""
  ) {
    self.destinationName = destinationName
    self.inverseName = inverseName
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.minimumCount = minimumCount
    declaredMaximumCount = isToMany ? maximumCount : 1
    self.maximumCount = declaredMaximumCount == Relationship.unbounded ? 0 : declaredMaximumCount
    self.deleteRule = deleteRule
    self.namesJoinTable = namesJoinTable
    self.destination = entity
    super.init(
      name: name, entity: entity, isOptional: isOptional, isTransient: isTransient,
      versionHashModifier: versionHashModifier, renamingIdentifier: renamingIdentifier)
  }

  /// Both ends are to-many: the pairs live in a join table.
  var isManyToMany: Bool { isToMany && inverse?.isToMany == true }
  /// Both ends are to-one: each row refers to the other.
  var isOneToOne: Bool { !isToMany && inverse?.isToMany == false }
  /// Whether deleting an object concerns those that it holds.
  var hasDeleteRule: Bool { deleteRule != .noAction && (deleteRule != .nullify || inverse != nil) }
}
