import CQuire

// Structs that the library fills, and arrays that it lends, of any version: a newer library has longer ones.

/// A struct that begins with the size that the caller knows of it.
protocol FilledStruct {
  /// Of the first version, which had nothing less.
  static var leastSize: Int { get }
  /// The macro that initialises it.
  static var initializer: String { get }
}

extension quire_section: FilledStruct {
  static var leastSize: Int { 72 }
  static var initializer: String { "QUIRE_SECTION_INIT" }
}

/// Zeroes a struct that the caller gave, but for its size. One that was not initialised is left alone.
func clear<T: FilledStruct>(_ out: UnsafeMutablePointer<T>?, _ name: InputName = "out_section") {
  guard let out, let bytes = try? contents(out, name) else { return }
  bytes.initializeMemory(as: UInt8.self, repeating: 0)
}

/// Copies as much of a struct as the caller's has room for; the rest stays zero.
func fill<T: FilledStruct>(_ out: UnsafeMutablePointer<T>, _ name: InputName, with record: T) throws(Failure) {
  let bytes = try contents(out, name)
  withUnsafeBytes(of: record) { known in
    let known = UnsafeRawBufferPointer(rebasing: known.dropFirst(MemoryLayout<UInt32>.size))
    bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: known.prefix(bytes.count)))
  }
}

/// An element of a list that a call asks for by its place.
func element<T>(_ index: Int64, of elements: [T], _ name: InputName) throws(Failure) -> T {
  if let place = Int(exactly: index), elements.indices.contains(place) { return elements[place] }
  throw Failure(.invalidArgument, "'\(name)' is \(index), and there are \(elements.count).")
}

/// Fills a struct of the caller, which is zero but for its size when the call fails.
func filling<T: FilledStruct>(
  _ given: UnsafeMutablePointer<T>?, _ out_error: ErrorOut, named name: InputName = "out_info",
  _ body: () throws(Failure) -> T
) -> quire_status {
  clear(given, name)
  return status(out_error) { () throws(Failure) in
    let out = try required(given, name)
    try fill(out, name, with: body())
  }
}

/// What is behind the size of a struct that the caller gave.
private func contents<T: FilledStruct>(
  _ out: UnsafeMutablePointer<T>, _ name: InputName
) throws(Failure) -> UnsafeMutableRawBufferPointer {
  let raw = UnsafeMutableRawPointer(out)
  let size = Int(raw.load(as: UInt32.self))
  guard (T.leastSize...mostStructBytes).contains(size), size % MemoryLayout<T>.alignment == 0 else {
    throw Failure(.invalidArgument, "'\(name)' has the struct_size \(size); initialise it with \(T.initializer).")
  }
  let start = MemoryLayout<UInt32>.size
  return UnsafeMutableRawBufferPointer(start: raw + start, count: size - start)
}

/// An array as it is lent: its elements, how many, and the bytes from one to the next.
protocol LentArray {
  associatedtype Element
  init(first: UnsafePointer<Element>!, count: Int64, stride: Int)
}

extension LentArray {
  init(_ elements: UnsafeMutableBufferPointer<Element>?) {
    let isEmpty = elements?.isEmpty ?? true
    self.init(
      first: isEmpty ? nil : UnsafePointer(elements?.baseAddress), count: Int64(elements?.count ?? 0),
      stride: MemoryLayout<Element>.stride)
  }
}

extension quire_change_array: LentArray { typealias Element = quire_change }
extension quire_section_change_array: LentArray { typealias Element = quire_section_change }
extension quire_step_array: LentArray { typealias Element = quire_step }
extension quire_aggregate_change_array: LentArray { typealias Element = quire_aggregate_change }
extension quire_child_frame_array: LentArray { typealias Element = quire_child_frame }
