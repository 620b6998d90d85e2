import CQuire

/// A handle to which a program can attach a pointer of its own.
protocol CarriesUserData: ContextBound { var userData: AnyObject? { get set } }

extension Context: CarriesUserData {}
extension ResultsController: CarriesUserData {}
extension CompositeController: CarriesUserData {}

private func setUserData<H: Handle>(
  _ handle: UnsafeMutablePointer<H>?, _ name: InputName, _ pointer: UnsafeMutableRawPointer?, _ destroy: Destroy,
  _ out_error: ErrorOut
) -> quire_status where H.Object: CarriesUserData {
  // What was attached before goes when the handle can be used again.
  var former: AnyObject?
  defer { withExtendedLifetime(former) {} }
  return status(handle, name, out_error) { object throws(Failure) in
    former = object.userData
    let isNone = pointer == nil && destroy == nil
    object.userData = isNone ? nil : UserData(pointer, destroy, in: object.owningContext.confinement)
  }
}

private func userData<H: Handle>(_ handle: UnsafePointer<H>?) -> UnsafeMutableRawPointer?
where H.Object: CarriesUserData {
  value(handle, none: nil) { ($0.userData as? UserData)?.pointer }
}

@_cdecl("quire_context_set_user_data") @implementation
public func quire_context_set_user_data(
  _ context: UnsafeMutablePointer<quire_context>?, _ user_data: UnsafeMutableRawPointer?, _ destroy: Destroy,
  _ out_error: ErrorOut
) -> quire_status { setUserData(context, "context", user_data, destroy, out_error) }

@_cdecl("quire_context_user_data") @implementation
public func quire_context_user_data(_ context: UnsafePointer<quire_context>?) -> UnsafeMutableRawPointer? {
  userData(context)
}

@_cdecl("quire_results_set_user_data") @implementation
public func quire_results_set_user_data(
  _ results: UnsafeMutablePointer<quire_results>?, _ user_data: UnsafeMutableRawPointer?, _ destroy: Destroy,
  _ out_error: ErrorOut
) -> quire_status { setUserData(results, "results", user_data, destroy, out_error) }

@_cdecl("quire_results_user_data") @implementation
public func quire_results_user_data(_ results: UnsafePointer<quire_results>?) -> UnsafeMutableRawPointer? {
  userData(results)
}

@_cdecl("quire_composite_set_user_data") @implementation
public func quire_composite_set_user_data(
  _ composite: UnsafeMutablePointer<quire_composite>?, _ user_data: UnsafeMutableRawPointer?, _ destroy: Destroy,
  _ out_error: ErrorOut
) -> quire_status { setUserData(composite, "composite", user_data, destroy, out_error) }

@_cdecl("quire_composite_user_data") @implementation
public func quire_composite_user_data(_ composite: UnsafePointer<quire_composite>?) -> UnsafeMutableRawPointer? {
  userData(composite)
}
