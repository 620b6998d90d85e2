import CQuire

@_cdecl("quire_error_retain") @implementation
public func quire_error_retain(_ error: UnsafeMutablePointer<quire_error>?) -> UnsafeMutablePointer<quire_error>? {
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
public func quire_error_detail_count(_ error: UnsafePointer<quire_error>?) -> Int {
  peek(error)?.details.count ?? 0
}

@_cdecl("quire_error_detail") @implementation
public func quire_error_detail(_ error: UnsafePointer<quire_error>?, _ index: Int) -> UnsafePointer<quire_error>? {
  guard let details = peek(error)?.details, details.indices.contains(index) else { return nil }
  return UnsafePointer(UnsafeMutablePointer<quire_error>.lending(details[index]))
}
