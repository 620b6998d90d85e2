/// The rules of an entity that an object must fulfil when it is saved.
struct Validation {
  /// Of what is looked at of an object.
  private enum Extent {
    /// Everything: a new object, and one that the program asks about.
    case whole
    /// Of a saved object only what changed, besides rules about the object: what is wrong in the file already does not
    /// hinder a save.
    case changes
  }

  private let context: Context
  private var failures: [Failure] = []

  private init(_ context: Context) { self.context = context }

  /// Checks everything a save would write; all that is wrong comes in one failure.
  static func check(_ context: Context) throws(Failure) {
    var validation = Validation(context)
    try context.withoutChanges { () throws(Failure) in
      for object in context.pending.inserted { try validation.check(object, .whole) }
      for object in context.pending.updated { try validation.check(object, .changes) }
      for object in context.pending.uncounted where object.state == .saved {
        for relationship in object.entity.relationships
        where relationship.isToMany && object.toMany[relationship.slot]?.isChanged != true {
          try validation.checkCount(of: relationship, in: object)
        }
      }
      for object in context.pending.deleted { try validation.checkDeny(object) }
    }
    try validation.finish()
  }

  /// Checks one object as a save would, and also what did not change. Of a deleted one: whether it may be deleted.
  static func check(_ object: ManagedObject) throws(Failure) {
    var validation = Validation(object.context)
    try object.checkReadable()
    try object.fulfil()
    if object.state == .deleted {
      try validation.checkDeny(object)
    } else {
      try object.context.withoutChanges { () throws(Failure) in try validation.check(object, .whole) }
    }
    try validation.finish()
  }

  /// Checks whether `property` of an object could have a value: whether setting it would fail, and whether a save
  /// would.
  static func check(_ value: Value, for property: Property, of object: ManagedObject) throws(Failure) {
    var validation = Validation(object.context)
    try object.checkReadable()
    let value = try object.checked(value, for: property)
    try validation.check(value, of: property, in: object, object.context.ruleBook.rules(of: object.entity))
    try validation.finish()
  }

  /// Checks a value that a batch request sets for an attribute of rows of `entity`, or to one of a table of rows.
  static func check(
    _ value: Value, of property: Property, in entity: Entity, row: Int? = nil, _ context: Context
  ) throws(Failure) {
    if value.isNil { return }
    let place = row.map { " in row \($0), counted from 0," } ?? ""
    for test in try context.ruleBook.rules(of: entity).tests(of: property) {
      guard let (rule, sentence) = try test.problem(with: value) else { continue }
      throw Failure(
        .validation, test.predicate == nil ? "'\(property.qualifiedName)'\(place) \(sentence)" : sentence,
        about: Offender(entityName: entity.nameText, key: property.nameText, row: row),
        broken: BrokenRule(rule, value: value, condition: test.predicate?.text ?? Text("")))
    }
  }

  private func finish() throws(Failure) {
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first }
    throw Failure(
      .validation, "\(failures.count) rules are broken, the first: \(first.message)", details: failures)
  }

  private mutating func note(
    _ rule: BrokenRule.Rule, _ object: ManagedObject, _ property: Property?, _ value: Value, _ message: String,
    _ condition: Text = Text("")
  ) {
    failures.append(
      Failure(
        .validation, message, about: .object(object, property),
        broken: BrokenRule(rule, value: value, condition: condition)))
  }

  private mutating func check(_ object: ManagedObject, _ extent: Extent) throws(Failure) {
    let rules = try context.ruleBook.rules(of: object.entity)
    if rules.isSatisfied, context.hooks == nil { return }
    for property in object.entity.properties where !property.isDerived {
      let slot = property.slot
      if let relationship = property as? Relationship, relationship.isToMany {
        if extent == .whole || object.toMany[slot]?.isChanged == true { try checkCount(of: relationship, in: object) }
      } else if extent == .whole || object.committed[slot] != nil {
        let value = object.values[slot]
        if value.isNil ? !property.isOptional : rules.hasTests { try check(value, of: property, in: object, rules) }
      }
    }
    for condition in rules.conditions {
      do throws(Failure) {
        if try condition.holds(for: .subject(object)) { continue }
      } catch {
        throw unanswered(condition.message, object, error)
      }
      note(.condition, object, nil, .nil, condition.message.string, condition.text)
    }
    for refusal in try context.refusals(of: object) {
      note(.hook, object, refusal.property, refusal.value, refusal.message.string)
    }
  }

  private mutating func check(
    _ value: Value, of property: Property, in object: ManagedObject, _ rules: EntityRules
  ) throws(Failure) {
    if value.isNil {
      if property.isOptional { return }
      note(
        .mandatory, object, property, .nil,
        "'\(property.qualifiedName)' of \(object.summary) is mandatory but has no value.")
    }
    for test in rules.tests(of: property) where !value.isNil {
      do throws(Failure) {
        let value = try value.inPlace()
        guard let (rule, sentence) = try test.problem(with: value) else { continue }
        let message = test.predicate == nil ? "'\(property.qualifiedName)' of \(object.summary) \(sentence)" : sentence
        note(rule, object, property, value, message, test.predicate?.text ?? Text(""))
      } catch {
        throw unanswered(test.predicate?.message ?? Text(property.qualifiedName), object, error)
      }
    }
  }

  /// A rule without a result is an error of the program, and not of the object.
  private func unanswered(_ rule: Text, _ object: ManagedObject, _ error: Failure) -> Failure {
    Failure(
      error.kind, "The rule \"\(rule)\" could not be tested on \(object.summary): \(error.message)",
      about: error.offender?.completed(by: .object(object)) ?? .object(object))
  }

  private mutating func checkCount(of relationship: Relationship, in object: ManagedObject) throws(Failure) {
    if relationship.isOptional, relationship.minimumCount == 0, relationship.maximumCount == 0 { return }
    let count = try object.objects(of: relationship).count
    if count == 0, relationship.isOptional { return }
    // A mandatory relationship needs one object even when no minimum is set.
    let minimum = max(relationship.minimumCount, relationship.isOptional ? 0 : 1)
    let subject = "'\(relationship.qualifiedName)' of \(object.summary)"
    if count < minimum {
      note(
        .tooFew, object, relationship, .integer(Int64(count)),
        "\(subject) needs at least \(minimum) objects but has \(count).")
    }
    if relationship.maximumCount > 0, count > relationship.maximumCount {
      note(
        .tooMany, object, relationship, .integer(Int64(count)),
        "\(subject) may have at most \(relationship.maximumCount) objects but has \(count).")
    }
  }

  private mutating func checkDeny(_ object: ManagedObject) throws(Failure) {
    for relationship in object.entity.relationships where relationship.deleteRule == .deny {
      let remaining = try object.remainingObjects(of: relationship).count
      if remaining > 0 {
        note(
          .denied, object, relationship, .integer(Int64(remaining)),
          "\(object.summary) cannot be deleted: '\(relationship.qualifiedName)' "
            + "denies it while it holds \(remaining) object\(remaining == 1 ? "" : "s").")
      }
    }
  }
}
