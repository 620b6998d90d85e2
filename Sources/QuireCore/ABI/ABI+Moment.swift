import CQuire

@_cdecl("quire_context_moment") @implementation
public func quire_context_moment(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_moment: Out<quire_moment>, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", giving: out_moment, "out_moment", out_error) { context throws(Failure) in
    try context.momentToken()
  }
}

@_cdecl("quire_context_pin") @implementation
public func quire_context_pin(
  _ context: UnsafeMutablePointer<quire_context>?, _ moment: UnsafePointer<quire_moment>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    if moment == nil { try context.pin() } else { try context.pin(at: resolve(moment, "moment")) }
  }
}

@_cdecl("quire_context_unpin") @implementation
public func quire_context_unpin(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.unpin() }
}

@_cdecl("quire_context_is_pinned") @implementation
public func quire_context_is_pinned(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.source.isPinned }
}

@_cdecl("quire_moment_retain") @implementation
public func quire_moment_retain(_ moment: UnsafePointer<quire_moment>?) -> UnsafeMutablePointer<quire_moment>? {
  retain(moment)
}

@_cdecl("quire_moment_release") @implementation
public func quire_moment_release(_ moment: UnsafeMutablePointer<quire_moment>?) { release(moment) }

@_cdecl("quire_moment_equal") @implementation
public func quire_moment_equal(_ moment: UnsafePointer<quire_moment>?, _ other: UnsafePointer<quire_moment>?) -> Bool {
  guard let moment = peek(moment), let other = peek(other) else { return false }
  return moment.isEqual(to: other)
}
