import CQuire

/// The program's handler of conflicts that a context holds; released once.
private final class MergeHandlerOwner {
  private let handler: quire_merge_handler

  init(_ handler: quire_merge_handler) { self.handler = handler }

  deinit { handler.destroy?(handler.user_data) }

  func decide(_ conflict: Conflict) -> MergePolicy {
    let answer = withExtendedLifetime(conflict) {
      handler.decide?(
        handler.user_data, UnsafePointer(UnsafeMutablePointer<quire_conflict>.lending(conflict)))
    }
    return answer.flatMap { MergePolicy(rawValue: $0) } ?? .error
  }
}

@_cdecl("quire_context_set_merge_policy") @implementation
public func quire_context_set_merge_policy(
  _ context: UnsafeMutablePointer<quire_context>?, _ policy: UInt32, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.checkMayChange()
    guard let policy = MergePolicy(rawValue: policy) else {
      throw Failure(.invalidArgument, "'policy' is \(policy), which is not a quire_merge_policy.")
    }
    context.mergePolicy = policy
    try ending(context.mergeHandler) { context.mergeHandler = nil }
  }
}

@_cdecl("quire_context_merge_policy") @implementation
public func quire_context_merge_policy(_ context: UnsafePointer<quire_context>?) -> UInt32 {
  value(context, none: QUIRE_MERGE_ERROR.rawValue) { $0.mergePolicy.rawValue }
}

@_cdecl("quire_context_set_merge_handler") @implementation
public func quire_context_set_merge_handler(
  _ context: UnsafeMutablePointer<quire_context>?, _ handler: UnsafePointer<quire_merge_handler>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.checkMayChange()
    if handler == nil { return try ending(context.mergeHandler) { context.mergeHandler = nil } }
    let given = try options(handler, defaults: quire_merge_handler(), "handler")
    if given.decide == nil {
      throw Failure(.invalidArgument, "'decide' of the merge handler is NULL; it is the function that decides.")
    }
    let owner = MergeHandlerOwner(given)
    try ending(context.mergeHandler) { context.mergeHandler = MergeHandler { owner.decide($0) } }
  }
}

@_cdecl("quire_context_settled_count") @implementation
public func quire_context_settled_count(_ context: UnsafePointer<quire_context>?) -> Int64 {
  value(context, none: 0) { Int64($0.settledCount) }
}

@_cdecl("quire_error_conflict_count") @implementation
public func quire_error_conflict_count(_ error: UnsafePointer<quire_error>?) -> Int64 {
  Int64(conflicts(error).count)
}

@_cdecl("quire_error_conflict") @implementation
public func quire_error_conflict(
  _ error: UnsafePointer<quire_error>?, _ index: Int64
) -> UnsafePointer<quire_conflict>? {
  let conflicts = conflicts(error)
  guard conflicts.indices.contains(Int(index)) else { return nil }
  return UnsafePointer(UnsafeMutablePointer<quire_conflict>.lending(conflicts[Int(index)]))
}

@_cdecl("quire_conflict_cause") @implementation
public func quire_conflict_cause(_ conflict: UnsafePointer<quire_conflict>?) -> UInt32 {
  peek(conflict)?.kind.rawValue ?? 0
}

@_cdecl("quire_conflict_object") @implementation
public func quire_conflict_object(
  _ conflict: UnsafePointer<quire_conflict>?
) -> UnsafeMutablePointer<quire_object>? {
  peek(conflict).map { .lending($0.object) }
}

@_cdecl("quire_conflict_other") @implementation
public func quire_conflict_other(_ conflict: UnsafePointer<quire_conflict>?) -> UnsafeMutablePointer<quire_object>? {
  peek(conflict)?.other.map { .lending($0) }
}

@_cdecl("quire_conflict_has") @implementation
public func quire_conflict_has(_ conflict: UnsafePointer<quire_conflict>?, _ version: UInt32) -> Bool {
  peek(conflict).flatMap { try? $0.values(version) } != nil
}

@_cdecl("quire_conflict_value") @implementation
public func quire_conflict_value(
  _ conflict: UnsafePointer<quire_conflict>?, _ version: UInt32, _ key: CText, _ key_size: Int,
  _ out_value: UnsafeMutablePointer<quire_value>?, _ out_error: ErrorOut
) -> quire_status {
  out_value?.pointee = quire_value()
  return status(out_error) { () throws(Failure) in
    let out = try required(out_value, "out_value")
    let conflict = try resolve(conflict, "conflict")
    let values = try conflict.values(version)
    let property = try conflict.entity(of: version).property(named: string(key, key_size, "key"))
    if let relationship = property as? Relationship, relationship.isToMany {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is a to-many relationship, which conflicts do not tell.",
        about: .property(property))
    }
    guard let values, values.indices.contains(property.slot) else {
      throw Failure(.notFound, "There is no such version of the object in conflict: see quire_conflict_has.")
    }
    out.pointee = try exported(values[property.slot]) {
      conflict.lend($0, version: Int(version), slot: property.slot)
    }
  }
}

private func conflicts(_ error: UnsafePointer<quire_error>?) -> [Conflict] {
  (peek(error)?.report as? ConflictReport)?.conflicts ?? []
}

extension Conflict {
  /// The entity that has the properties of a version.
  fileprivate func entity(of version: UInt32) -> Entity {
    let isOfOther = kind == .unique && version == QUIRE_CONFLICT_VERSION_STORED.rawValue
    return isOfOther ? other?.entity ?? object.entity : object.entity
  }

  fileprivate func values(_ version: UInt32) throws(Failure) -> ContiguousArray<Value>? {
    switch quire_conflict_version(rawValue: version) {
    case QUIRE_CONFLICT_VERSION_COMMITTED: committed
    case QUIRE_CONFLICT_VERSION_STORED: stored
    case QUIRE_CONFLICT_VERSION_CURRENT: current
    default: throw Failure(.invalidArgument, "'version' is \(version), which is not a quire_conflict_version.")
    }
  }
}
