/// The subject of a failure beside its message: the names, the id and the row that `quire_error_entity` and its like
/// return. It names an object instead of holding it, so that an error may outlive the context and be used by any
/// thread.
struct Offender: Sendable {
  /// Empty when no entity is at fault.
  let entityName: Text
  /// Empty when the entity or the object is at fault as a whole.
  let key: Text
  /// nil for what has no object: a row of a batch request, a predicate, a model.
  let object: ObjectReferenceBox?
  /// The row, counted from 0, of a table that a caller gave.
  let row: Int?

  init(entityName: Text, key: Text = Text(""), object: ObjectReferenceBox? = nil, row: Int? = nil) {
    self.entityName = entityName
    self.key = key
    self.object = object
    self.row = row
  }

  static func named(_ entityName: String, _ key: String = "") -> Offender {
    Offender(entityName: Text(entityName), key: Text(key))
  }

  /// With what the other one knows and this does not. One that speaks of another entity or key adds nothing.
  func completed(by other: Offender) -> Offender {
    let hasSameKey = !key.isEmpty && key == other.key
    guard hasSameKey || (entityName == other.entityName && (key.isEmpty || other.key.isEmpty)) else { return self }
    // The entity of an object is more exact than the one that declares the key.
    return Offender(
      entityName: object == nil && other.object != nil ? other.entityName : entityName,
      key: key.isEmpty ? other.key : key, object: object ?? other.object, row: row ?? other.row)
  }
}

extension Failure {
  /// The same failure, with the parts of the offender that it has not named itself.
  func about(_ offender: Offender) -> Failure {
    Failure(
      kind, message.string, about: self.offender?.completed(by: offender) ?? offender, offset: offset,
      databaseCode: databaseCode, details: details, broken: broken, report: report)
  }

  /// The same failure with one more sentence.
  func advising(_ sentence: String) -> Failure {
    Failure(
      kind, "\(message.string) \(sentence)", about: offender, offset: offset, databaseCode: databaseCode,
      details: details, broken: broken, report: report)
  }

  /// The same failure in a row of a table that a caller gave, counted from 0.
  func inRow(_ row: Int, of offender: Offender) -> Failure {
    Failure(
      kind, "Row \(row), counted from 0: \(message)",
      about: Offender(entityName: offender.entityName, key: offender.key, row: row), offset: offset,
      databaseCode: databaseCode, details: details, broken: broken, report: report)
  }
}
