import CQuire

/// Where a call puts a handle.
public typealias Out<H> = UnsafeMutablePointer<UnsafeMutablePointer<H>?>?
public typealias ErrorOut = Out<quire_error>
public typealias CText = UnsafePointer<CChar>?

/// Runs `body`, turning what it throws into a status and, when asked for, an error object.
func status(_ out: ErrorOut, _ body: () throws(Failure) -> Void) -> quire_status {
  out?.pointee = nil
  do {
    try body()
    return QUIRE_OK
  } catch {
    out?.pointee = .passing(error)
    return quire_status(rawValue: error.kind.rawValue)
  }
}

/// The same inside a context: another thread's call meanwhile is refused.
func status<H: Handle>(
  _ handle: UnsafePointer<H>?, _ name: InputName, _ out: ErrorOut, _ body: (H.Object) throws(Failure) -> Void
) -> quire_status where H.Object: ContextBound {
  status(out) { () throws(Failure) in
    let object = try resolve(handle, name)
    let context = object.owningContext
    try context.confinement.enter()
    defer { context.confinement.leave() }
    try body(object)
  }
}

func status<H: Handle>(
  _ handle: UnsafeMutablePointer<H>?, _ name: InputName, _ out: ErrorOut, _ body: (H.Object) throws(Failure) -> Void
) -> quire_status where H.Object: ContextBound {
  status(UnsafePointer(handle), name, out, body)
}

/// The same for a call that returns a handle of what `body` makes, by `out`.
@inline(__always)
func status<H: Handle, Made: Handle>(
  _ handle: UnsafeMutablePointer<H>?, _ name: InputName, giving out: Out<Made>, _ out_name: InputName,
  _ out_error: ErrorOut, _ body: (H.Object) throws(Failure) -> Made.Object
) -> quire_status where H.Object: ContextBound {
  out?.pointee = nil
  return status(handle, name, out_error) { object throws(Failure) in
    let out = try required(out, out_name)
    out.pointee = .passing(try body(object))
  }
}

/// The same for what belongs to no context.
@inline(__always)
func status<Made: Handle>(
  giving out: Out<Made>, _ out_name: InputName, _ out_error: ErrorOut, _ body: () throws(Failure) -> Made.Object
) -> quire_status {
  out?.pointee = nil
  return status(out_error) { () throws(Failure) in
    let out = try required(out, out_name)
    out.pointee = .passing(try body())
  }
}

/// For a handle that belongs to no context, or a call that any thread may make.
@inline(__always)
func unconfined<H: Handle>(
  _ handle: UnsafePointer<H>?, _ name: InputName, _ out: ErrorOut, _ body: (H.Object) throws(Failure) -> Void
) -> quire_status {
  status(out) { () throws(Failure) in try body(resolve(handle, name)) }
}

@inline(__always)
func unconfined<H: Handle>(
  _ handle: UnsafeMutablePointer<H>?, _ name: InputName, _ out: ErrorOut, _ body: (H.Object) throws(Failure) -> Void
) -> quire_status {
  unconfined(UnsafePointer(handle), name, out, body)
}

/// The same for a call that returns its value directly: `none` for NULL, and when another thread is inside the context.
func value<H: Handle, T>(_ handle: UnsafePointer<H>?, none: T, _ body: (H.Object) -> T) -> T
where H.Object: ContextBound {
  guard let object = peek(handle) else { return none }
  let context = object.owningContext
  do { try context.confinement.enter() } catch { return none }
  defer { context.confinement.leave() }
  return body(object)
}

/// A pointer that the call cannot do without.
func required<T>(_ pointer: UnsafeMutablePointer<T>?, _ name: InputName) throws(Failure) -> UnsafeMutablePointer<T> {
  if let pointer { return pointer }
  throw Failure(.invalidArgument, "'\(name)' is NULL; the call needs somewhere to put its result.")
}

/// Puts something of the program's in the place of `former`. What was there ends after that, because its end calls the
/// program, which may set or use what is in that place.
func ending<Former>(_ former: Former, after replace: () throws(Failure) -> Void) throws(Failure) {
  defer { withExtendedLifetime(former) {} }
  try replace()
}
