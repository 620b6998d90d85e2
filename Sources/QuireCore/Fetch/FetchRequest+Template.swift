extension FetchRequest: FetchTemplate {
  func copy() -> FetchRequest {
    let copy = FetchRequest(entityName: entityName)
    copy.predicate = predicate
    copy.sort = sort
    copy.limit = limit
    copy.offset = offset
    copy.batchSize = batchSize
    copy.resultType = resultType
    copy.includesSubentities = includesSubentities
    copy.includesPendingChanges = includesPendingChanges
    copy.prefetchedKeyPaths = prefetchedKeyPaths
    copy.includesPropertyValues = includesPropertyValues
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.cancellation = cancellation
    copy.progress = progress
    copy.projection = projection
    return copy
  }

  /// A copy with a value for each variable, neither more nor fewer. To the condition on groups the names of columns are
  /// variables that have their values.
  func substituting(_ values: [String: Expression], template name: String) throws(Failure) -> FetchRequest {
    let columns = Set(projection.columns.map(\.name))
    var variables = predicate?.freeVariables ?? []
    let others =
      projection.columns.flatMap(\.expression.freeVariables)
      + (projection.having?.freeVariables.filter { !columns.contains($0) } ?? [])
    for variable in others where !variables.contains(variable) { variables.append(variable) }
    let missing = variables.filter { values[$0] == nil }
    if !missing.isEmpty {
      throw Failure(
        .invalidArgument,
        "The fetch template '\(name)' needs a value for \(FetchRequest.list(missing)). Each variable needs one.")
    }
    let unknown = values.keys.filter { !variables.contains($0) }.sorted()
    if !unknown.isEmpty {
      let known = variables.isEmpty ? "It has no variables." : "It has \(FetchRequest.list(variables))."
      throw Failure(
        .invalidArgument, "The fetch template '\(name)' has no variable \(FetchRequest.list(unknown)). \(known)")
    }
    let copy = copy()
    copy.predicate = try predicate?.substituting(expressions: values)
    var projection = Projection()
    projection.groups = self.projection.groups
    projection.isDistinct = self.projection.isDistinct
    for column in self.projection.columns {
      projection.columns.append(
        Projection.Column(name: column.name, expression: try column.expression.substituting(expressions: values)))
    }
    var valuesOfGroups = values
    for column in columns { valuesOfGroups[column] = .variable(column) }
    projection.having = try self.projection.having?.substituting(expressions: valuesOfGroups)
    copy.projection = projection
    return copy
  }

  private static func list(_ names: [String]) -> String { names.map { "$\($0)" }.joined(separator: ", ") }
}

extension Model {
  /// A copy of the template of that name, to be changed at will.
  func request(fromTemplate name: String, variables: [String: Expression]) throws(Failure) -> FetchRequest {
    let asked = Text(name)
    guard let template = fetchTemplates.first(where: { $0.name == asked })?.template as? FetchRequest else {
      let known = fetchTemplates.map(\.name.string).joined(separator: ", ")
      throw Failure(
        .invalidArgument, "The model has no fetch template '\(name)'. It has: \(known.isEmpty ? "none" : known).")
    }
    return try template.substituting(variables, template: name)
  }
}
