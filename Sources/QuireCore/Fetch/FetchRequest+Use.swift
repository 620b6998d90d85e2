/// What a request is used for decides which of its options have a meaning. The others are refused: an option that is
/// ignored would change the result.
extension FetchRequest {
  /// For a fetch, its count and its explanation.
  func checkForFetch() throws(Failure) {
    if resultType != .dictionaries, let option = optionOfValues {
      throw Failure(
        .invalidArgument,
        "\(subject) \(option), which is for dictionaries, and gives \(resultType.name). "
          + "Set its result type to QUIRE_RESULT_DICTIONARIES, or leave that out.")
    }
    if resultType == .objects { return }
    if resultType != .dictionaries, let property = namedProperty {
      throw Failure(
        .invalidArgument,
        "\(subject) names the property '\(property)' and gives \(resultType.name), which have no properties. "
          + "Set its result type to QUIRE_RESULT_OBJECTS or QUIRE_RESULT_DICTIONARIES, or name none.")
    }
    if shouldRefreshRefetchedObjects {
      throw Failure(
        .invalidArgument,
        "\(subject) refreshes objects that were fetched before, and gives \(resultType.name). "
          + "Set its result type to QUIRE_RESULT_OBJECTS, or let it refresh none.")
    }
  }

  /// For a results controller.
  func checkForResults() throws(Failure) {
    if resultType != .objects {
      throw Failure(
        .invalidArgument,
        "A results controller needs a request for objects, and that for '\(entityName)' gives \(resultType.name). "
          + "Set its result type to QUIRE_RESULT_OBJECTS.")
    }
    if !includesPendingChanges {
      throw Failure(
        .unsupported, "A results controller follows pending changes, which its request leaves out. Include them.")
    }
    try checkHasObjects("a results controller, which lists objects", .invalidArgument)
    if shouldRefreshRefetchedObjects {
      throw Failure(
        .invalidArgument,
        "\(subject) refreshes objects that were fetched before, which a results controller does not. "
          + "Let it refresh none, and call quire_context_refresh_all.")
    }
  }

  /// For a batch update or deletion.
  func checkForBatch(_ work: FetchMonitor.Work) throws(Failure) {
    let user = "a \(work.rawValue), which is of objects"
    if resultType != .objects, resultType != .ids {
      throw Failure(
        .invalidArgument,
        "\(subject) gives \(resultType.name) and cannot be used for \(user). "
          + "Set its result type to QUIRE_RESULT_OBJECTS or QUIRE_RESULT_IDS.")
    }
    try checkHasObjects(user, .invalidArgument)
    if let property = namedProperty {
      throw Failure(
        .invalidArgument,
        "\(subject) names the property '\(property)', which has no meaning for \(user). Name none.")
    }
    if shouldRefreshRefetchedObjects {
      throw Failure(
        .invalidArgument,
        "\(subject) refreshes objects that were fetched before, which has no meaning for \(user). Let it refresh none.")
    }
  }

  /// For a fetched property, called as messages call it.
  func checkForFetchedProperty(_ property: String) throws(Failure) {
    if resultType != .objects {
      throw Failure(
        .invalidModel,
        "The request of \(property) gives \(resultType.name), and a fetched property gives objects. "
          + "Set its result type to QUIRE_RESULT_OBJECTS.")
    }
    try checkHasObjects("\(property), which gives objects", .invalidModel)
  }

  private func checkHasObjects(_ user: String, _ status: Failure.Kind) throws(Failure) {
    if let option = optionOfValues {
      throw Failure(status, "\(subject) \(option) and cannot be used for \(user). Leave that out.")
    }
  }

  private var subject: String { "The request for '\(entityName)'" }

  /// What makes rows of values that are no rows of the table.
  private var optionOfValues: String? {
    if let group = projection.groups.first { return "groups rows by '\(group.joined(separator: "."))'" }
    if projection.having != nil { return "has a condition for groups" }
    if projection.isDistinct { return "makes one of equal rows" }
    for column in projection.columns where !column.isProperty { return "calculates the column '\(column.name)'" }
    return nil
  }

  private var namedProperty: String? { projection.columns.first?.name }
}

extension Projection.Column {
  /// Whether it is a key path and not calculated.
  fileprivate var isProperty: Bool { if case .keyPath = expression { true } else { false } }
}

extension FetchRequest.ResultType {
  /// As messages call the result of a fetch.
  fileprivate var name: String {
    switch self {
    case .objects: "objects"
    case .ids: "ids"
    case .dictionaries: "dictionaries"
    case .count: "a count"
    }
  }
}
