import CQuire

/// The program's data that a registered function holds, released once with the function.
private final class FunctionOwner: @unchecked Sendable {
  private let userData: UnsafeMutableRawPointer?
  private var destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

  init(_ userData: UnsafeMutableRawPointer?, _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
    self.userData = userData
    self.destroy = destroy
  }

  deinit { destroy?(userData) }

  /// After a refused registration everything stays the program's. No other thread has seen the owner then.
  func disown() { destroy = nil }
}

/// A callback as predicates call it.
private final class FunctionCallback: @unchecked Sendable {
  private let name: String
  private let call: Call
  private let userData: UnsafeMutableRawPointer?
  private let owner: FunctionOwner

  typealias Call =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafePointer<quire_value>?, Int, UnsafeMutablePointer<quire_value>?
    ) -> Bool

  init(_ name: String, _ call: @escaping Call, _ userData: UnsafeMutableRawPointer?, _ owner: FunctionOwner) {
    self.name = name
    self.call = call
    self.userData = userData
    self.owner = owner
  }

  func result(of items: [Item]) throws(Failure) -> Value {
    // A function may not use objects: it receives their ids.
    let layout = ItemLayout { (subject) throws(Failure) in try exported(subject.identity) { $0 } }
    var arguments: [quire_value] = []
    arguments.reserveCapacity(items.count)
    for item in items { arguments.append(try layout.exported(item)) }
    var result = quire_value()
    let succeeded = withExtendedLifetime((items, layout)) {
      arguments.withUnsafeBufferPointer { call(userData, $0.baseAddress, $0.count, &result) }
    }
    guard succeeded else {
      guard quire_value_kind(rawValue: result.kind) == QUIRE_VALUE_TEXT,
        case .text(let reason)? = try? value(result, "out_result")
      else { throw Failure(.function, "The function \(name) failed and gave no reason.") }
      throw Failure(.function, "The function \(name) failed: \(reason)")
    }
    switch quire_value_kind(rawValue: result.kind) {
    case QUIRE_VALUE_OBJECT, QUIRE_VALUE_LIST, QUIRE_VALUE_OBJECT_ID:
      throw Failure(.function, "The function \(name) gave an object or a list; it must give a single value.")
    default: break
    }
    do throws(Failure) { return try value(result, "out_result") } catch {
      throw Failure(.function, "The function \(name) gave no good value: \(error.message)")
    }
  }
}

@_cdecl("quire_function_register") @implementation
public func quire_function_register(
  _ name: CText, _ name_size: Int, _ function: UnsafePointer<quire_native_function>?, _ out_error: ErrorOut
) -> quire_status {
  status(out_error) { () throws(Failure) in
    let name = try string(name, name_size, "name")
    if function == nil { throw Failure(.invalidArgument, "'function' is NULL; a quire_native_function is needed.") }
    let given = try options(function, defaults: quire_native_function(), "function")
    guard let address = given.function else {
      throw Failure(.invalidArgument, "The function \(name) is NULL; give the address of a C function.")
    }
    guard (0...RegisteredFunction.mostArguments).contains(given.argument_count) else {
      throw Failure(
        .invalidArgument,
        "\(name) has \(UInt(bitPattern: given.argument_count)) arguments; a registered function has at most "
          + "\(RegisteredFunction.mostArguments).")
    }
    var types: [NativeType] = []
    for number in try array(given.argument_types, given.argument_count, "argument_types") {
      types.append(try nativeType(number, "argument \(types.count + 1) of \(name)"))
    }
    let native = try NativeFunction(
      name: name, address, types, result: nativeType(given.result_type, "the result of \(name)"))
    let owner = FunctionOwner(given.user_data, given.destroy)
    try register(name, isDeterministic: !given.is_volatile, .native(native, owner: owner), owner)
  }
}

@_cdecl("quire_function_register_callback") @implementation
public func quire_function_register_callback(
  _ name: CText, _ name_size: Int, _ callback: UnsafePointer<quire_function_callback>?, _ out_error: ErrorOut
) -> quire_status {
  status(out_error) { () throws(Failure) in
    let name = try string(name, name_size, "name")
    if callback == nil { throw Failure(.invalidArgument, "'callback' is NULL; a quire_function_callback is needed.") }
    let given = try options(callback, defaults: quire_function_callback(), "callback")
    let isOpen = given.argument_count == -1
    guard isOpen || (0...RegisteredFunction.mostArguments).contains(given.argument_count) else {
      throw Failure(
        .invalidArgument,
        "\(name) has \(UInt(bitPattern: given.argument_count)) arguments; a registered function has at most "
          + "\(RegisteredFunction.mostArguments), or QUIRE_ANY_NUMBER.")
    }
    guard let call = given.call else {
      throw Failure(.invalidArgument, "'call' of the callback for \(name) is NULL; it is the function itself.")
    }
    let owner = FunctionOwner(given.user_data, given.destroy)
    let callback = FunctionCallback(name, call, given.user_data, owner)
    let body = RegisteredFunction.Body.callback(argumentCount: isOpen ? nil : given.argument_count) {
      (items) throws(Failure) in
      try callback.result(of: items)
    }
    try register(name, isDeterministic: !given.is_volatile, body, owner)
  }
}

@_cdecl("quire_function_unregister") @implementation
public func quire_function_unregister(_ name: CText, _ name_size: Int, _ out_error: ErrorOut) -> quire_status {
  status(out_error) { () throws(Failure) in try FunctionRegistry.unregister(string(name, name_size, "name")) }
}

private func register(
  _ name: String, isDeterministic: Bool, _ body: RegisteredFunction.Body, _ owner: FunctionOwner
) throws(Failure) {
  do throws(Failure) {
    try FunctionRegistry.register(RegisteredFunction(name: name, isDeterministic: isDeterministic, body))
  } catch {
    owner.disown()
    throw error
  }
}

private func nativeType(_ number: UInt32, _ place: String) throws(Failure) -> NativeType {
  if let type = NativeType(rawValue: number) { return type }
  throw Failure(.invalidArgument, "The type of \(place) is \(number), which is not a quire_native_type.")
}
