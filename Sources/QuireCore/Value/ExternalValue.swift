/// Data that lies in a file beside the store. It is read when it is first asked for, and kept from then on.
final class ExternalValue: Sendable {
  /// The attribute and the row that it was read from.
  struct Place: Sendable {
    let entity: Int
    let slot: Int
    let row: Int64
  }

  let place: Place
  /// nil where the row names no file, as it is damaged.
  let file: ExternalFile?
  private let source: any ExternalSource
  private let known = Guarded<Bytes?>(nil)

  init(_ file: ExternalFile?, at place: Place, of source: any ExternalSource) {
    self.file = file
    self.place = place
    self.source = source
  }

  deinit { if let file { source.release(file) } }

  /// Whether it needs its file no more.
  var isRead: Bool { known.withLock { $0 != nil } }

  func data() throws(Failure) -> Bytes {
    if let data = known.withLock({ $0 }) { return data }
    let data = try source.data(of: self)
    return known.withLock { known in
      // Another thread may have been faster, and its caller may have borrowed what it found.
      if let first = known { return first }
      known = data
      return data
    }
  }

  /// Whether it is that data. What cannot be read is not.
  func holds(_ data: Bytes) -> Bool {
    if known.withLock({ $0 }) == nil, source.size(of: self) != data.count { return false }
    return (try? self.data()) == data
  }

  /// Two files may have the same contents.
  func isSame(as other: ExternalValue) -> Bool {
    if self === other { return true }
    if let file, file == other.file { return true }
    guard let data = try? other.data() else { return false }
    return holds(data)
  }
}

/// The name of a file that holds one value: a UUID.
struct ExternalFile: Hashable, Sendable {
  private let identifier: UniqueIdentifier

  static let nameLength = UniqueIdentifier.textLength

  static func random() -> ExternalFile { ExternalFile(identifier: .random()) }

  private init(identifier: UniqueIdentifier) { self.identifier = identifier }

  /// nil for everything but 36 characters in upper case. No other name leads out of the folder.
  init?(_ name: some Collection<UInt8>) {
    guard let identifier = UniqueIdentifier(name) else { return nil }
    self.identifier = identifier
  }

  var name: String { identifier.text }
}

/// What reads files of values.
protocol ExternalSource: AnyObject, Sendable {
  func data(of value: ExternalValue) throws(Failure) -> Bytes
  /// nil where there is no such file.
  func size(of value: ExternalValue) -> Int?
  /// A value that is read from that file has gone.
  func release(_ file: ExternalFile)
}

extension Value {
  /// The value itself, or the data of the file that it lies in.
  @inline(__always)
  func inPlace() throws(Failure) -> Value {
    if case .external(let value) = self { return .data(try value.data()) }
    return self
  }
}
