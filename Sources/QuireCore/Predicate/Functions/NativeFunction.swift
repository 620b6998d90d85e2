import CFFI
import Glibc

/// A C function that is called with its own signature. Any thread, as far as the function itself allows it.
final class NativeFunction: @unchecked Sendable {
  let argumentTypes: [NativeType]
  let resultType: NativeType
  private let name: String
  private let function: quire_ffi_function
  private let description: UnsafeMutablePointer<ffi_cif>
  /// libffi's description goes on pointing to them.
  private let types: UnsafeMutableBufferPointer<UnsafeMutablePointer<ffi_type>?>

  /// `name` is what messages call it.
  init(
    name: String, _ function: @escaping quire_ffi_function, _ argumentTypes: [NativeType], result: NativeType
  ) throws(Failure) {
    self.name = name
    self.function = function
    self.argumentTypes = argumentTypes
    resultType = result
    types = .allocate(capacity: argumentTypes.count)
    _ = types.initialize(from: argumentTypes.map { NativeFunction.type($0) })
    description = .allocate(capacity: 1)
    description.initialize(to: ffi_cif())
    if argumentTypes.contains(.ownedText) {
      throw Failure(.invalidArgument, "\(name) declares an argument as text to be freed, which only a result can be.")
    }
    if result == .optionalText {
      throw Failure(.invalidArgument, "\(name) declares its result as optional text; every result may be NULL.")
    }
    guard
      quire_ffi_prepare(description, UInt32(argumentTypes.count), NativeFunction.type(result), types.baseAddress)
    else { throw Failure(.unsupported, "libffi cannot call \(name) on this machine.") }
  }

  deinit {
    types.deallocate()
    description.deallocate()
  }

  private static func type(_ type: NativeType) -> UnsafeMutablePointer<ffi_type>? {
    switch type {
    case .boolean, .uint8: quire_ffi_type_of_integer(8, false)
    case .int8: quire_ffi_type_of_integer(8, true)
    case .int16: quire_ffi_type_of_integer(16, true)
    case .int32: quire_ffi_type_of_integer(32, true)
    case .int64: quire_ffi_type_of_integer(64, true)
    case .uint16: quire_ffi_type_of_integer(16, false)
    case .uint32: quire_ffi_type_of_integer(32, false)
    case .uint64: quire_ffi_type_of_integer(64, false)
    case .float: quire_ffi_type_of_float()
    case .double, .date: quire_ffi_type_of_double()
    case .text, .optionalText, .ownedText: quire_ffi_type_of_pointer()
    }
  }

  /// Each argument and the result in eight bytes of its own.
  private static let slotSize = 8

  /// Returns nil without a call when an argument is nil that has no form for it.
  func call(_ values: [Value]) throws(Failure) -> Value {
    let count = values.count
    guard count == argumentTypes.count else {
      throw Failure(.invalidPredicate, "\(name) takes \(argumentTypes.count) arguments and was given \(count).")
    }
    let slots = UnsafeMutableRawPointer.allocate(
      byteCount: (count + 1) * NativeFunction.slotSize, alignment: NativeFunction.slotSize)
    let addresses = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: count + 1)
    defer {
      slots.deallocate()
      addresses.deallocate()
    }
    for (index, value) in values.enumerated() {
      let type = argumentTypes[index]
      if value.isNil, type != .optionalText { return .nil }
      let slot = slots + index * NativeFunction.slotSize
      addresses[index] = slot
      guard NativeFunction.store(value, as: type, in: slot) else { throw unsuited(value, at: index) }
    }
    let result = slots + count * NativeFunction.slotSize
    result.storeBytes(of: 0, as: UInt64.self)
    // The slots point into the texts of the values.
    withExtendedLifetime(values) {
      ForeignCall.run { quire_ffi_call(description, function, result, addresses) }
    }
    return try load(result)
  }

  /// Why an argument cannot take this value, if it cannot.
  func problem(with value: Value, at index: Int) -> Failure? {
    guard argumentTypes.indices.contains(index), !value.isNil else { return nil }
    var slot: UInt64 = 0
    let fits = withUnsafeMutablePointer(to: &slot) {
      NativeFunction.store(value, as: argumentTypes[index], in: UnsafeMutableRawPointer($0))
    }
    return fits ? nil : unsuited(value, at: index)
  }

  private func unsuited(_ value: Value, at index: Int) -> Failure {
    let given =
      switch value.number {
      case .integer(let integer): "\(integer)"
      case .real(let double): "\(double)"
      case .float(let float): "\(float)"
      case nil: value.kindName
      }
    return Failure(
      .invalidPredicate,
      "Argument \(index + 1) of \(name) must be \(argumentTypes[index].requirement), and was given \(given).")
  }

  // MARK: Values as C has them

  /// False when the type has no form for the value.
  private static func store(_ value: Value, as type: NativeType, in slot: UnsafeMutableRawPointer) -> Bool {
    switch type {
    case .boolean:
      guard let integer = whole(value), integer == 0 || integer == 1 else { return false }
      slot.storeBytes(of: UInt8(integer), as: UInt8.self)
    case .int8: return store(value, as: Int8.self, in: slot)
    case .int16: return store(value, as: Int16.self, in: slot)
    case .int32: return store(value, as: Int32.self, in: slot)
    case .int64: return store(value, as: Int64.self, in: slot)
    case .uint8: return store(value, as: UInt8.self, in: slot)
    case .uint16: return store(value, as: UInt16.self, in: slot)
    case .uint32: return store(value, as: UInt32.self, in: slot)
    case .uint64: return store(value, as: UInt64.self, in: slot)
    case .float:
      guard let number = value.number else { return false }
      slot.storeBytes(of: number.single, as: Float.self)
    case .double:
      guard let number = value.number else { return false }
      slot.storeBytes(of: number.double, as: Double.self)
    case .date:
      guard case .date(let seconds) = value else { return false }
      slot.storeBytes(of: Epoch.since1970(seconds), as: Double.self)
    case .text, .optionalText, .ownedText:
      if value.isNil {
        slot.storeBytes(of: nil, as: UnsafePointer<UInt8>?.self)
        return true
      }
      guard let text = value.comparableText, strlen(text.bytes.start) == text.bytes.count else { return false }
      slot.storeBytes(of: text.bytes.start, as: UnsafePointer<UInt8>?.self)
    }
    return true
  }

  private static func store<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ value: Value, as type: Integer.Type, in slot: UnsafeMutableRawPointer
  ) -> Bool {
    guard let whole = whole(value), let integer = Integer(exactly: whole) else { return false }
    slot.storeBytes(of: integer, as: type)
    return true
  }

  private static func whole(_ value: Value) -> Int64? {
    switch value.number {
    case .integer(let integer): integer
    case .real(let double): Int64(exactly: double)
    case .float(let float): Int64(exactly: float)
    case nil: nil
    }
  }

  private func load(_ slot: UnsafeMutableRawPointer) throws(Failure) -> Value {
    // Integers arrive widened.
    let bits = slot.load(as: UInt64.self)
    switch resultType {
    case .boolean: return .boolean(bits & 0xFF != 0)
    case .int8: return .integer(Int64(Int8(truncatingIfNeeded: bits)))
    case .int16: return .integer(Int64(Int16(truncatingIfNeeded: bits)))
    case .int32: return .integer(Int64(Int32(truncatingIfNeeded: bits)))
    case .int64: return .integer(Int64(truncatingIfNeeded: bits))
    case .uint8: return .integer(Int64(UInt8(truncatingIfNeeded: bits)))
    case .uint16: return .integer(Int64(UInt16(truncatingIfNeeded: bits)))
    case .uint32: return .integer(Int64(UInt32(truncatingIfNeeded: bits)))
    case .uint64: return Int64(exactly: bits).map(Value.integer) ?? .double(Double(bits))
    case .float: return .float(slot.load(as: Float.self))
    case .double: return .double(slot.load(as: Double.self))
    case .date: return .date(Epoch.since2001(slot.load(as: Double.self)))
    case .text, .optionalText, .ownedText:
      guard let text = slot.load(as: UnsafeMutablePointer<UInt8>?.self) else { return .nil }
      defer { if resultType == .ownedText { free(text) } }
      guard let copy = Text(validating: UnsafeBufferPointer(start: text, count: strlen(text))) else {
        throw Failure(.function, "\(name) gave text that is not valid UTF-8.")
      }
      return .text(copy)
    }
  }
}
