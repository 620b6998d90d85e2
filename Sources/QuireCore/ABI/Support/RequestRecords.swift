import CQuire

/// What a fetch request was given, as C sees it. Made when it is first asked for, and lent until the request changes.
final class RequestRecords {
  let info: quire_fetch_request_info
  let sort: [quire_sort_info]
  let prefetched: [Text]
  private let texts: [Text]
  private let condition: ParsedPredicate?
  private let stamp: UInt64
  private let paths: [[String]]

  /// Several threads may ask a request that a model keeps.
  private static let making = Guarded<Void>(())

  static func of(_ request: FetchRequest) -> RequestRecords {
    making.withLock { _ in
      if let known = request.lent as? RequestRecords, known.fits(request) { return known }
      let made = RequestRecords(request)
      request.lent = made
      return made
    }
  }

  private init(_ request: FetchRequest) {
    let entity = Text(request.entityName)
    var texts = [entity]
    sort = request.sort.map { key in
      let path = Text(key.keyPath.joined(separator: ".")), locale = Text(key.textOrder.locale)
      texts += [path, locale]
      var info = quire_sort_info()
      info.text_order = key.textOrder.kind.rawValue
      info.key_path = path.lent
      info.locale = locale.isEmpty ? noText : locale.lent
      info.is_descending = !key.isAscending
      return info
    }
    condition = request.predicate.map { ParsedPredicate($0) }
    prefetched = request.prefetchedKeyPaths.map { Text($0.joined(separator: ".")) }
    stamp = request.stamp
    paths = request.prefetchedKeyPaths
    self.texts = texts
    var info = quire_fetch_request_info()
    info.result_type = request.resultType.rawValue
    info.entity = entity.lent
    info.predicate = condition.map { UnsafePointer(UnsafeMutablePointer<quire_predicate>.lending($0)) }
    // QUIRE_NO_LIMIT, which does not import.
    info.limit = request.limit.map { UInt64(clamping: $0) } ?? .max
    info.offset = UInt64(clamping: request.offset)
    info.batch_size = UInt64(clamping: request.batchSize)
    info.sort_count = Int64(sort.count)
    info.prefetch_count = Int64(prefetched.count)
    info.includes_subentities = request.includesSubentities
    info.includes_pending_changes = request.includesPendingChanges
    info.includes_property_values = request.includesPropertyValues
    info.returns_objects_as_faults = request.returnsObjectsAsFaults
    info.refreshes_refetched_objects = request.shouldRefreshRefetchedObjects
    info.makes_rows =
      !request.projection.columns.isEmpty || !request.projection.groups.isEmpty || request.projection.isDistinct
      || request.projection.having != nil
    self.info = info
  }

  /// Whether what is lent is still what the request has. Its numbers and marks are asked for anew by each call.
  private func fits(_ request: FetchRequest) -> Bool {
    stamp == request.stamp && paths == request.prefetchedKeyPaths
      && info.batch_size == UInt64(clamping: request.batchSize)
      && info.includes_pending_changes == request.includesPendingChanges
      && info.includes_property_values == request.includesPropertyValues
      && info.returns_objects_as_faults == request.returnsObjectsAsFaults
      && info.refreshes_refetched_objects == request.shouldRefreshRefetchedObjects
  }
}

extension quire_fetch_request_info: FilledStruct {
  static var leastSize: Int { 80 }
  static var initializer: String { "QUIRE_FETCH_REQUEST_INFO_INIT" }
}

extension quire_sort_info: FilledStruct {
  static var leastSize: Int { 48 }
  static var initializer: String { "QUIRE_SORT_INFO_INIT" }
}
