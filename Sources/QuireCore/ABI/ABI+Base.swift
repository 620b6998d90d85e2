import CQuire

@_cdecl("quire_version") @implementation
public func quire_version() -> UnsafePointer<CChar>? { literal("0.1.0") }

@_cdecl("quire_version_number") @implementation
public func quire_version_number() -> UInt32 {
  UInt32(QUIRE_VERSION_MAJOR * 1_000_000 + QUIRE_VERSION_MINOR * 1000 + QUIRE_VERSION_PATCH)
}

@_cdecl("quire_sqlite_version") @implementation
public func quire_sqlite_version() -> UnsafePointer<CChar>? { Connection.libraryVersion }

@_cdecl("quire_icu_version") @implementation
public func quire_icu_version() -> UnsafePointer<CChar>? {
  UnsafeRawPointer(TextOrder.libraryVersion.bytes.start).assumingMemoryBound(to: CChar.self)
}

@_cdecl("quire_status_name") @implementation
public func quire_status_name(_ status: quire_status) -> UnsafePointer<CChar>? {
  switch status {
  case QUIRE_OK: literal("QUIRE_OK")
  case QUIRE_INVALID_ARGUMENT: literal("QUIRE_INVALID_ARGUMENT")
  case QUIRE_INVALID_STATE: literal("QUIRE_INVALID_STATE")
  case QUIRE_INVALID_TEXT: literal("QUIRE_INVALID_TEXT")
  case QUIRE_UNSUPPORTED: literal("QUIRE_UNSUPPORTED")
  case QUIRE_NOT_FOUND: literal("QUIRE_NOT_FOUND")
  case QUIRE_WRONG_THREAD: literal("QUIRE_WRONG_THREAD")
  case QUIRE_CLOSED: literal("QUIRE_CLOSED")
  case QUIRE_INVALID_MODEL: literal("QUIRE_INVALID_MODEL")
  case QUIRE_INVALID_PREDICATE: literal("QUIRE_INVALID_PREDICATE")
  case QUIRE_VALIDATION: literal("QUIRE_VALIDATION")
  case QUIRE_CONFLICT: literal("QUIRE_CONFLICT")
  case QUIRE_CONSTRAINT: literal("QUIRE_CONSTRAINT")
  case QUIRE_CANNOT_OPEN: literal("QUIRE_CANNOT_OPEN")
  case QUIRE_NOT_A_STORE: literal("QUIRE_NOT_A_STORE")
  case QUIRE_MODEL_MISMATCH: literal("QUIRE_MODEL_MISMATCH")
  case QUIRE_BUSY: literal("QUIRE_BUSY")
  case QUIRE_READ_ONLY: literal("QUIRE_READ_ONLY")
  case QUIRE_DATABASE: literal("QUIRE_DATABASE")
  case QUIRE_FUNCTION: literal("QUIRE_FUNCTION")
  case QUIRE_CANCELLED: literal("QUIRE_CANCELLED")
  case QUIRE_FILE_MOVED: literal("QUIRE_FILE_MOVED")
  case QUIRE_NO_MEMORY: literal("QUIRE_NO_MEMORY")
  case QUIRE_HISTORY_EXPIRED: literal("QUIRE_HISTORY_EXPIRED")
  default: literal("unknown status")
  }
}

private func literal(_ text: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
