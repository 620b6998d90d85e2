import CQuire

// Structs that the library fills, and arrays that it lends, of any version: a newer library has longer ones.

extension quire_section {
  /// Of the first version, which had nothing less.
  fileprivate static let leastSize = 72
}

/// Zeroes a section that the caller gave, but for its size. One that was not initialised is left alone.
func clear(_ out: UnsafeMutablePointer<quire_section>?) {
  guard let out, let bytes = try? contents(out, "out_section") else { return }
  bytes.initializeMemory(as: UInt8.self, repeating: 0)
}

/// Copies as much of a section as the caller's struct has room for; the rest stays zero.
func fill(
  _ out: UnsafeMutablePointer<quire_section>, _ name: InputName, with section: quire_section
) throws(Failure) {
  let bytes = try contents(out, name)
  withUnsafeBytes(of: section) { known in
    let known = UnsafeRawBufferPointer(rebasing: known.dropFirst(MemoryLayout<UInt32>.size))
    bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: known.prefix(bytes.count)))
  }
}

/// What is behind the size of a section that the caller gave.
private func contents(
  _ out: UnsafeMutablePointer<quire_section>, _ name: InputName
) throws(Failure) -> UnsafeMutableRawBufferPointer {
  let raw = UnsafeMutableRawPointer(out)
  let size = Int(raw.load(as: UInt32.self))
  guard (quire_section.leastSize...mostStructBytes).contains(size), size % MemoryLayout<quire_section>.alignment == 0
  else {
    throw Failure(
      .invalidArgument, "'\(name)' has the struct_size \(size); initialise it with QUIRE_SECTION_INIT.")
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
