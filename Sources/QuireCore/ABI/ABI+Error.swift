import CQuire

@_cdecl("quire_error_retain") @implementation
public func quire_error_retain(_ error: UnsafePointer<quire_error>?) -> UnsafeMutablePointer<quire_error>? {
  retain(error)
}

@_cdecl("quire_error_release") @implementation
public func quire_error_release(_ error: UnsafeMutablePointer<quire_error>?) { release(error) }

@_cdecl("quire_error_status") @implementation
public func quire_error_status(_ error: UnsafePointer<quire_error>?) -> quire_status {
  peek(error).map { quire_status(rawValue: $0.kind.rawValue) } ?? QUIRE_INVALID_ARGUMENT
}

@_cdecl("quire_error_message") @implementation
public func quire_error_message(_ error: UnsafePointer<quire_error>?) -> quire_string {
  peek(error)?.message.lent ?? noText
}

@_cdecl("quire_error_offset") @implementation
public func quire_error_offset(_ error: UnsafePointer<quire_error>?) -> Int64 {
  Int64(peek(error)?.offset ?? -1)
}

@_cdecl("quire_error_database_code") @implementation
public func quire_error_database_code(_ error: UnsafePointer<quire_error>?) -> Int32 {
  peek(error)?.databaseCode ?? 0
}

@_cdecl("quire_error_detail_count") @implementation
public func quire_error_detail_count(_ error: UnsafePointer<quire_error>?) -> Int64 {
  Int64(peek(error)?.details.count ?? 0)
}

@_cdecl("quire_error_detail") @implementation
public func quire_error_detail(_ error: UnsafePointer<quire_error>?, _ index: Int64) -> UnsafePointer<quire_error>? {
  guard let details = peek(error)?.details, details.indices.contains(Int(index)) else { return nil }
  return UnsafePointer(UnsafeMutablePointer<quire_error>.lending(details[Int(index)]))
}

@_cdecl("quire_error_rule") @implementation
public func quire_error_rule(_ error: UnsafePointer<quire_error>?) -> UInt32 {
  peek(error)?.broken?.rule.rawValue ?? QUIRE_RULE_NONE.rawValue
}

@_cdecl("quire_error_entity") @implementation
public func quire_error_entity(_ error: UnsafePointer<quire_error>?) -> quire_string {
  lent(peek(error)?.offender?.entityName)
}

@_cdecl("quire_error_object_id") @implementation
public func quire_error_object_id(_ error: UnsafePointer<quire_error>?) -> Int64 {
  peek(error)?.offender?.object?.reference.id ?? 0
}

@_cdecl("quire_error_key") @implementation
public func quire_error_key(_ error: UnsafePointer<quire_error>?) -> quire_string {
  lent(peek(error)?.offender?.key)
}

@_cdecl("quire_error_row") @implementation
public func quire_error_row(_ error: UnsafePointer<quire_error>?) -> Int64 {
  Int64(peek(error)?.offender?.row ?? -1)
}

@_cdecl("quire_error_predicate") @implementation
public func quire_error_predicate(_ error: UnsafePointer<quire_error>?) -> quire_string {
  lent(peek(error)?.broken?.condition)
}

@_cdecl("quire_error_value") @implementation
public func quire_error_value(
  _ error: UnsafePointer<quire_error>?, _ out_value: UnsafeMutablePointer<quire_value>?, _ out_error: ErrorOut
) -> quire_status {
  out_value?.pointee = quire_value()
  return status(out_error) { () throws(Failure) in
    let out = try required(out_value, "out_value")
    let broken = try resolve(error, "error").broken
    out.pointee = try exported(broken?.value ?? .nil) { broken?.valueText ?? $0 }
  }
}

@_cdecl("quire_error_object") @implementation
public func quire_error_object(
  _ error: UnsafePointer<quire_error>?, _ context: UnsafeMutablePointer<quire_context>?,
  _ out_object: Out<quire_object>, _ out_error: ErrorOut
) -> quire_status {
  out_object?.pointee = nil
  return status(context, "context", out_error) { context throws(Failure) in
    let out = try required(out_object, "out_object")
    guard let offender = try resolve(error, "error").offender, let reference = offender.object?.reference else {
      throw Failure(.notFound, "The error is about no object.")
    }
    // An object that is to be deleted can be at fault as well, and a lookup by id does not find it.
    if let object = context.registeredObject(reference) {
      out.pointee = .passing(object)
    } else {
      out.pointee = .passing(try context.existingObject(entityNamed: offender.entityName.string, id: reference.id))
    }
  }
}

/// Borrowed text; none for what is empty.
private func lent(_ text: Text?) -> quire_string {
  text.map { $0.isEmpty ? noText : $0.lent } ?? noText
}
