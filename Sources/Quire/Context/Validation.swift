/// The rules of an entity that an object must fulfil when it is saved.
enum Validation {
  /// Checks everything a save would write; all that is wrong comes in one failure.
  static func check(_ context: Context) throws(Failure) {
    var failures: [Failure] = []
    for object in context.inserted { try check(object, all: true, &failures) }
    for object in context.updated { try check(object, all: false, &failures) }
    for object in context.uncounted where object.state == .saved {
      for relationship in object.entity.relationships
      where relationship.isToMany && object.toMany[relationship.slot]?.isChanged != true {
        try checkCount(of: relationship, in: object, &failures)
      }
    }
    for object in context.deleted { try checkDeny(object, &failures) }
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first }
    throw Failure(
      .validation, "\(failures.count) rules are broken, the first: \(first.message)", details: failures)
  }

  /// Of a saved object only what changed is checked: what is wrong in the file already does not hinder a save.
  private static func check(_ object: ManagedObject, all: Bool, _ failures: inout [Failure]) throws(Failure) {
    for property in object.entity.properties {
      let slot = property.slot
      if let relationship = property as? Relationship, relationship.isToMany {
        if all || object.toMany[slot]?.isChanged == true {
          try checkCount(of: relationship, in: object, &failures)
        }
      } else if all || object.committed[slot] != nil, !property.isOptional, object.values[slot].isNil {
        failures.append(
          Failure(.validation, "'\(property.qualifiedName)' of \(object.summary) is mandatory but has no value."))
      }
    }
  }

  private static func checkCount(
    of relationship: Relationship, in object: ManagedObject, _ failures: inout [Failure]
  ) throws(Failure) {
    if relationship.isOptional, relationship.minimumCount == 0, relationship.maximumCount == 0 { return }
    let count = try object.objects(of: relationship).count
    if count == 0, relationship.isOptional { return }
    // A mandatory relationship needs one object even when no minimum is given.
    let minimum = max(relationship.minimumCount, relationship.isOptional ? 0 : 1)
    let subject = "'\(relationship.qualifiedName)' of \(object.summary)"
    if count < minimum {
      failures.append(Failure(.validation, "\(subject) needs at least \(minimum) objects but has \(count)."))
    }
    if relationship.maximumCount > 0, count > relationship.maximumCount {
      failures.append(
        Failure(.validation, "\(subject) may have at most \(relationship.maximumCount) objects but has \(count)."))
    }
  }

  private static func checkDeny(_ object: ManagedObject, _ failures: inout [Failure]) throws(Failure) {
    for relationship in object.entity.relationships where relationship.deleteRule == .deny {
      let remaining = try object.remainingObjects(of: relationship).count
      if remaining > 0 {
        failures.append(
          Failure(
            .validation,
            "\(object.summary) cannot be deleted: '\(relationship.qualifiedName)' "
              + "denies it while it holds \(remaining) object\(remaining == 1 ? "" : "s")."))
      }
    }
  }
}
