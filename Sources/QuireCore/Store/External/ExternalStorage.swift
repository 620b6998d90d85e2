import Glibc
import Synchronization

/// Values of attributes that allow external storage: what stands for them in a row, and the files beside the store.
///
/// A row has a mark and the data, or another mark, the name of a file and a NUL. A file is written before the row that
/// names it. It goes when that row names it no more, and that is durable. A file never changes. Quire names it in one
/// row: a second one, which another program has copied from the first, finds it missing then.
final class ExternalStorage: ExternalSource, @unchecked Sendable {
  /// Up to so many bytes stay in the row.
  static let largestInline = 102_400

  static let inlineMark: UInt8 = 1
  private static let fileMark: UInt8 = 2
  /// What a row has of a value in a file.
  static let referenceLength = ExternalFile.nameLength + 2

  /// Whether the model has such attributes.
  let isUsed: Bool
  private let model: Model
  /// nil in memory, where there are no files.
  private let folder: ExternalFolder?
  /// Values that have not gone, read or not.
  private let live = Guarded(WeakReferences<Live>())
  /// Files that no row names, with the number of values that need them.
  private let needed = Guarded<[ExternalFile: Int]>([:])
  private let process = ProcessMark()
  // Guarded by the store's lock.
  private var changes = Changes()
  /// Files that the rows of a commit, and of later ones, do not name any more.
  private let going = Guarded<[(commit: Int64, files: Set<ExternalFile>)]>([])
  private let goingCount = Atomic<Int>(0)
  /// Files of commits that failed, and that may be in the log all the same.
  private var uncertain: Set<ExternalFile> = []

  private struct Live: WeakReference, Sendable {
    weak var value: ExternalValue?
    var isGone: Bool { value == nil }
  }

  /// What the open transaction has done.
  private struct Changes {
    var written: [ExternalFile] = []
    var replaced: [ExternalFile] = []
  }

  /// A moment of the open transaction.
  struct Mark {
    fileprivate let written: Int
    fileprivate let replaced: Int
  }

  init(model: Model, folder: ExternalFolder?) {
    self.model = model
    self.folder = folder
    isUsed = model.entities.contains { $0.ownAttributes.contains { $0.externalColumn != nil } }
  }

  // MARK: Reading

  /// The value of a row that holds these bytes.
  func value(
    _ stored: UnsafeBufferPointer<UInt8>, of column: ExternalColumn, row: Int64
  ) throws(Failure) -> Value {
    let place = ExternalValue.Place(entity: Int(column.entity), slot: Int(column.slot), row: row)
    if stored.first == ExternalStorage.inlineMark {
      try Memory.require(stored.count, for: "a value of \(described(place))")
      return .data(Bytes(UnsafeBufferPointer(rebasing: stored.dropFirst())))
    }
    let file = ExternalStorage.file(named: stored)
    let value = ExternalValue(file, at: place, of: self)
    if file != nil { live.withLock { $0.add(Live(value: value)) } }
    return .external(value)
  }

  /// The file that a row names; nil when it names none.
  static func file(named stored: UnsafeBufferPointer<UInt8>) -> ExternalFile? {
    guard stored.count == referenceLength, stored.first == fileMark, stored.last == 0 else { return nil }
    return ExternalFile(stored[1...ExternalFile.nameLength])
  }

  func data(of value: ExternalValue) throws(Failure) -> Bytes {
    let place = value.place
    guard let file = value.file else {
      throw failure(
        .database, place,
        "is neither data in the row nor the name of a file. The file was changed by other means, or is damaged.")
    }
    guard let folder else {
      throw failure(.notFound, place, "lies in the file '\(file.name)', and a store in memory has no files.")
    }
    switch folder.read(file) {
    case .success(let data): return data
    case .failure(.missing):
      throw failure(
        .notFound, place,
        "lies in the file '\(folder.path(of: file))', which is not there. Restore that file, or set another value.")
    case .failure(.tooLarge(let size)): throw Memory.failure(size, for: "a value of \(described(place))")
    case .failure(.unreadable(let reason)):
      throw failure(.cannotOpen, place, "lies in the file '\(folder.path(of: file))', which cannot be read: \(reason).")
    }
  }

  /// What is in a file; nil when it is not there.
  func data(in file: ExternalFile) throws(Failure) -> Bytes? {
    guard let folder else { return nil }
    switch folder.read(file) {
    case .success(let data): return data
    case .failure(.missing): return nil
    case .failure(.tooLarge(let size)): throw Memory.failure(size, for: "the file '\(folder.path(of: file))'")
    case .failure(.unreadable(let reason)):
      throw Failure(.cannotOpen, "The file '\(folder.path(of: file))' cannot be read: \(reason).")
    }
  }

  func size(of value: ExternalValue) -> Int? { value.file.flatMap { folder?.size(of: $0) } }

  private func attribute(_ place: ExternalValue.Place) -> Property? {
    guard let entity = model.entity(numbered: place.entity), entity.properties.indices.contains(place.slot) else {
      return nil
    }
    return entity.properties[place.slot]
  }

  private func described(_ place: ExternalValue.Place) -> String {
    attribute(place).map { "'\($0.qualifiedName)' of row \(place.row)" } ?? "row \(place.row)"
  }

  private func failure(_ kind: Failure.Kind, _ place: ExternalValue.Place, _ problem: String) -> Failure {
    Failure(
      kind, "The value of \(described(place)) \(problem)",
      about: attribute(place).map { .row(place.row, of: $0.entity, $0) })
  }

  // MARK: Writing

  /// What a row holds for a value, which is data or nil. A large one is in its file then.
  func stored(_ value: Value) throws(Failure) -> Value {
    let data: Bytes
    switch try value.inPlace() {
    case .nil: return .nil
    case .data(let present): data = present
    default: throw Failure(.invalidState, "Only data can lie in files beside the store, and not \(value.kindName).")
    }
    guard let folder, data.count > ExternalStorage.largestInline else {
      try Memory.require(data.count + 1, for: "a value to be stored")
      return .data(
        Bytes(count: data.count + 1) { target in
          target[0] = ExternalStorage.inlineMark
          memcpy(target.baseAddress! + 1, data.start, data.count)
        })
    }
    let file = ExternalFile.random()
    changes.written.append(file)
    try folder.write(data, to: file)
    return .data(Bytes([ExternalStorage.fileMark] + Array(file.name.utf8) + [0]))
  }

  /// A row that holds these bytes is about to hold others, or to go.
  func noteReplaced(_ stored: Bytes) {
    if let file = ExternalStorage.file(named: stored.buffer) { changes.replaced.append(file) }
  }

  var mark: Mark { Mark(written: changes.written.count, replaced: changes.replaced.count) }
  static let start = Mark(written: 0, replaced: 0)

  /// What has been done since then is taken back. `isUncertain` says that the rows may come into the file yet, which
  /// would then name the files.
  func takeBack(to mark: Mark, isUncertain: Bool) {
    if changes.written.count > mark.written {
      let written = changes.written[mark.written...]
      if isUncertain { uncertain.formUnion(written) } else { folder?.remove(written) }
      changes.written.removeSubrange(mark.written...)
    }
    if changes.replaced.count > mark.replaced { changes.replaced.removeSubrange(mark.replaced...) }
  }

  /// The transaction is in the file, as that commit. `makeDurable` has it survive a power cut, before files go that it
  /// names no more.
  func commit(_ commit: Int64, makeDurable: () -> Bool) {
    let files = uncertain.union(changes.replaced)
    changes = Changes()
    if files.isEmpty || !makeDurable() { return }
    uncertain = []
    going.withLock { $0.append((commit, files)) }
    goingCount.add(1, ordering: .releasing)
  }

  /// Whether files wait for `sweep`.
  var hasGoing: Bool { goingCount.load(ordering: .acquiring) > 0 }

  /// Removes the files that no commit names from that one on.
  func sweep(upTo commit: Int64) {
    let files = going.withLock { going in
      let files = going.filter { $0.commit <= commit }.reduce(into: Set()) { $0.formUnion($1.files) }
      going.removeAll { $0.commit <= commit }
      goingCount.store(going.count, ordering: .releasing)
      return files
    }
    if !files.isEmpty { folder?.remove(files.subtracting(keepNeeded(of: files))) }
  }

  /// Objects that were read before go on having their values: they read them now, or keep the files for as long as they
  /// are there. Returns the files that are kept.
  private func keepNeeded(of going: Set<ExternalFile>) -> Set<ExternalFile> {
    let values = live.withLock { live in live.all.compactMap(\.value) }
    var counts: [ExternalFile: Int] = [:], kept: Set<ExternalFile> = []
    var room = ExternalStorage.mostReadAhead
    for value in values {
      guard let file = value.file, going.contains(file) else { continue }
      counts[file, default: 0] += 1
      guard !value.isRead, let size = size(of: value) else { continue }
      if size <= room, (try? value.data()) != nil { room -= size } else { kept.insert(file) }
    }
    needed.withLock { needed in for file in kept { needed[file] = counts[file] } }
    // None of them goes before it is counted.
    withExtendedLifetime(values) {}
    return kept
  }

  /// So many bytes are read at once because their files are to go.
  private static let mostReadAhead = 16 << 20

  /// A value is there no more that was read from that file.
  func release(_ file: ExternalFile) {
    let isLast = needed.withLock { needed in
      guard let count = needed[file] else { return false }
      needed[file] = count > 1 ? count - 1 : nil
      return count == 1
    }
    if isLast, process.isHere { folder?.remove(CollectionOfOne(file)) }
  }

  /// The store is closed, and reads nothing more.
  func close() {
    sweep(upTo: .max)
    let files = needed.withLock { needed in
      defer { needed = [:] }
      return Array(needed.keys)
    }
    folder?.remove(files)
  }
}
