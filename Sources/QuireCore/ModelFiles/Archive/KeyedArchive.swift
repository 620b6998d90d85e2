/// The objects that an NSKeyedArchiver has written, as they lie in its property list.
///
/// Objects refer to others by their places. Nothing is followed before it is asked for, so that objects which refer to
/// each other in a circle, as those of a model do, cost nothing.
///
/// A few bytes can also refer to one long list or text from everywhere, and each use of it takes time and memory. An
/// archive therefore hands out so many objects and so much text for its size, and afterwards nothing any more.
final class KeyedArchive {
  /// Models of Core Data take less than a tenth of it.
  private static let objectsPerByte = 8
  private static let textPerByte = 32
  private static let least = 1 << 16

  /// The first one stands for nil.
  private let objects: [PropertyListValue]
  /// What was archived, by name; `root` for an archive of one object.
  let top: [String: PropertyListValue]
  /// How much there was to read.
  let size: Int
  private var remainingObjects: Int
  private var remainingText: Int

  /// `what` is what a failure calls it.
  init(_ bytes: Bytes, _ what: String) throws(Failure) {
    func failure(_ problem: String) -> Failure { Failure(.invalidArgument, "\(what) is no keyed archive: \(problem).") }
    guard bytes.buffer.starts(with: "bplist".utf8) else { throw failure("it is no binary property list") }
    guard let list = PropertyListValue(binary: bytes) else { throw failure("its property list is damaged") }
    guard list["$archiver"]?.text == "NSKeyedArchiver" else {
      throw failure("its property list is not one of NSKeyedArchiver")
    }
    guard let objects = list["$objects"]?.array, let top = list["$top"]?.dictionary else {
      throw failure("its property list has no objects")
    }
    self.objects = objects
    self.top = top
    size = bytes.count
    remainingObjects = KeyedArchive.least + KeyedArchive.objectsPerByte * bytes.count
    remainingText = KeyedArchive.least + KeyedArchive.textPerByte * bytes.count
  }

  /// Whether it has handed out all that it does. What was read of it is then not all of it.
  var isExhausted: Bool { remainingObjects < 0 || remainingText < 0 }

  /// A text of it that is about to be copied.
  func counted(_ text: String) -> String? { takes(bytes: text.utf8.count) ? text : nil }

  /// Whether so much of it may be copied.
  func takes(objects: Int = 0, bytes: Int = 0) -> Bool {
    remainingObjects -= objects
    remainingText -= bytes
    return !isExhausted
  }

  /// The object that was archived; nil when it has another name or is nil.
  var root: ArchiveNode? { top["root"].flatMap(node) }

  /// What a value stands for: an object for a reference to one, else itself. nil for nil, and where no object is.
  func node(_ value: PropertyListValue) -> ArchiveNode? {
    remainingObjects -= 1
    if isExhausted { return nil }
    guard let uid = value.uid else { return ArchiveNode(archive: self, value: value, place: nil) }
    guard let place = Int(exactly: uid), place > 0, place < objects.count else { return nil }
    return ArchiveNode(archive: self, value: objects[place], place: place)
  }

  /// Whether a value refers to an object that is not there.
  func isDangling(_ value: PropertyListValue) -> Bool { value.uid.map { $0 >= UInt64(objects.count) } ?? false }
}
