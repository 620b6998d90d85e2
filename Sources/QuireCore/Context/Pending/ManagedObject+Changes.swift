extension ManagedObject {
  /// The stored properties that differ from what was last read or saved; of an inserted object those with a value.
  func changedProperties() throws(Failure) -> [Property] {
    try checkReadable()
    return entity.properties.filter(isChanged)
  }

  private func isChanged(_ property: Property) -> Bool {
    if property.isTransient || property.isDerived { return false }
    if let relationship = property as? Relationship, relationship.isToMany {
      return toMany[property.slot]?.isChanged == true || hasGainedOrLostMembers(of: relationship)
    }
    return state == .inserted ? !values[property.slot].isNil : committed[property.slot] != nil
  }

  /// Whether pending objects hold this one that did not, or the other way round; whether its members were read or not.
  private func hasGainedOrLostMembers(of relationship: Relationship) -> Bool {
    guard let inverse = relationship.inverse, !inverse.isToMany else { return false }
    return context.pending.holders(of: reference).contains { holder in
      if holder.isFault || !holder.entity.isKind(of: relationship.destination) { return false }
      func isSelf(_ value: Value) -> Bool {
        if case .object(let box) = value { return box.reference == reference }
        return false
      }
      let present = holder.values[inverse.slot]
      let wasMember = holder.isSaved && isSelf(holder.committed[inverse.slot] ?? present)
      return wasMember != (holder.isLive && isSelf(present))
    }
  }

  /// The value that was last read or saved; nil of an object that was never saved.
  func committedValue(of property: Property) throws(Failure) -> Value {
    if let relationship = property as? Relationship, relationship.isToMany {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is a to-many relationship; read its objects instead of a value.",
        about: .property(property))
    }
    try fulfil()
    try checkReadable()
    return state == .inserted ? .nil : committed[property.slot] ?? values[property.slot]
  }

  /// The members that were last read or saved, those that are to be deleted included; none of an object that was never
  /// saved.
  func committedObjects(of relationship: Relationship) throws(Failure) -> [ManagedObject] {
    try checkReadable()
    if state == .inserted { return [] }
    _ = try members(of: relationship)
    var objects: [ManagedObject] = []
    for reference in toMany[relationship.slot]?.saved ?? [] {
      if let object = try context.object(reference, of: relationship.destination), object.state != .gone {
        objects.append(object)
      }
    }
    if !relationship.isOrdered { objects.sort { $0.isBefore($1) } }
    return objects
  }
}
