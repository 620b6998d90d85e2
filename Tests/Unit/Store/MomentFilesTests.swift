import CSQLite
import Glibc
import Testing

@testable import QuireCore

/// Files beside the store that hold values: they stay for as long as a moment shows the rows that name them.
@Suite("Moments and the files of values")
struct MomentFilesTests {
  /// A store of pictures whose data lies in files.
  private final class Gallery {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
      folder = try TemporaryFolder()
      let model = Model()
      try model.addEntity(named: "Picture")
      try model.addAttribute(
        named: "data", to: "Picture", type: .binary, isOptional: true,
        traits: AttributeTraits(allowsExternalStorage: true))
      store = try Store.open(path: Text(folder.file("gallery.sqlite")), model: model)
    }

    deinit {
      try? store.close()
      for name in fileNames { unlink("\(files)/\(name)") }
      rmdir(files)
      rmdir(folder.file(".gallery_SUPPORT"))
    }

    private var files: String { folder.file(".gallery_SUPPORT/_EXTERNAL_DATA") }

    private var fileNames: [String] {
      guard let folder = opendir(files) else { return [] }
      defer { closedir(folder) }
      var names: [String] = []
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if !name.hasPrefix(".") { names.append(name) }
      }
      return names
    }

    var fileCount: Int { fileNames.count }

    /// Too long for a row.
    static func data(_ byte: UInt8) -> Value {
      .data(Bytes(Array(repeating: byte, count: ExternalStorage.largestInline + 1)))
    }

    func insert(_ byte: UInt8, in context: Context) throws -> ManagedObject {
      let picture = try context.insert(entityNamed: "Picture")
      try set(byte, of: picture)
      return picture
    }

    func set(_ byte: UInt8, of picture: ManagedObject) throws {
      try picture.set(Gallery.data(byte), for: picture.entity.property(named: "data"))
    }

    /// The byte of which the data of a row consists, as a moment reads it.
    func byte(of id: Int64, in moment: SQLiteMoment) throws -> UInt8? {
      let entity = try store.model.entity(named: "Picture")
      guard let row = try moment.rows(root: entity, ids: [id]).first else { return nil }
      return try byte(row.values[entity.property(named: "data").slot])
    }

    func byte(of picture: ManagedObject) throws -> UInt8? { try byte(picture.value(forKey: "data")) }

    private func byte(_ value: Value) throws -> UInt8? {
      guard case .data(let bytes) = try value.inPlace() else { return nil }
      return Set(bytes.buffer).count == 1 ? bytes.buffer.first : nil
    }
  }

  private let gallery: Gallery
  private let writer: Context

  init() throws {
    gallery = try Gallery()
    writer = Context(store: gallery.store)
  }

  @Test("A file goes when no moment shows the row any more that names it", arguments: [true, false])
  func oldestMoment(isDeleted: Bool) throws {
    let picture = try gallery.insert(1, in: writer)
    try writer.save()
    let oldest = SQLiteMoment(of: gallery.store), middle = SQLiteMoment(of: gallery.store)
    try oldest.begin()
    try gallery.set(2, of: picture)
    try writer.save()
    try middle.begin()
    if isDeleted { try writer.delete(picture) } else { try gallery.set(3, of: picture) }
    try writer.save()
    let now: UInt8? = isDeleted ? nil : 3, nowCount = isDeleted ? 0 : 1
    #expect(gallery.fileCount == 2 + nowCount)
    #expect(try gallery.byte(of: picture.id, in: oldest) == 1)
    #expect(try gallery.byte(of: picture.id, in: middle) == 2)
    #expect(try gallery.byte(of: picture.id, in: SQLiteMoment(of: gallery.store)) == now)
    // The later moment does not keep what only the earlier one shows, nor the other way round.
    oldest.end()
    gallery.store.sweepFiles()
    #expect(gallery.fileCount == 1 + nowCount)
    #expect(try gallery.byte(of: picture.id, in: middle) == 2)
    middle.renew()
    gallery.store.sweepFiles()
    #expect(gallery.fileCount == nowCount)
    #expect(try gallery.byte(of: picture.id, in: middle) == now)
  }

  @Test("A context that has not moved on reads the old value, and lets go of its file when it moves on")
  func contexts() throws {
    let picture = try gallery.insert(1, in: writer), other = try gallery.insert(7, in: writer)
    try writer.save()
    let reader = Context(store: gallery.store)
    _ = try reader.existingObject(entityNamed: "Picture", id: other.id)
    try gallery.set(2, of: picture)
    try writer.delete(other)
    try writer.save()
    #expect(gallery.fileCount == 3)
    // Read for the first time only now.
    let late = try reader.existingObject(entityNamed: "Picture", id: picture.id)
    #expect(try gallery.byte(of: late) == 1)
    #expect(gallery.fileCount == 3)
    try reader.merge()
    #expect(try gallery.byte(of: late) == 2)
    #expect(gallery.fileCount == 1)
  }

  @Test("What was read of a row is there after its file has gone")
  func valuesThatWereRead() throws {
    let picture = try gallery.insert(1, in: writer)
    try writer.save()
    let moment = SQLiteMoment(of: gallery.store), entity = picture.entity
    let row = try #require(try moment.rows(root: entity, ids: [picture.id]).first)
    try gallery.set(2, of: picture)
    try writer.save()
    #expect(gallery.fileCount == 2)
    moment.end()
    gallery.store.sweepFiles()
    #expect(gallery.fileCount == 1)
    guard case .data(let bytes) = try row.values[entity.property(named: "data").slot].inPlace() else {
      Issue.record("There is no data.")
      return
    }
    #expect(bytes.count == ExternalStorage.largestInline + 1 && bytes.buffer.allSatisfy { $0 == 1 })
  }

  @Test("A context that is gone keeps no file, and a store that is closed leaves those of its rows")
  func contextsThatAreGone() throws {
    let picture = try gallery.insert(1, in: writer)
    try writer.save()
    try {
      let reader = Context(store: gallery.store)
      _ = try reader.count(FetchRequest(entityName: "Picture"))
      try gallery.set(2, of: picture)
      try writer.save()
      #expect(gallery.fileCount == 2)
      withExtendedLifetime(reader) {}
    }()
    // The next commit finds it gone.
    try gallery.set(3, of: picture)
    try writer.save()
    #expect(gallery.fileCount == 1)
    let held = SQLiteMoment(of: gallery.store)
    try held.begin()
    try gallery.set(4, of: picture)
    try writer.save()
    #expect(gallery.fileCount == 2)
    try gallery.store.close()
    #expect(gallery.fileCount == 1)
  }

  @Test("A save that fails leaves the files that moments show, and none of its own")
  func savesThatFail() throws {
    let picture = try gallery.insert(1, in: writer)
    try writer.save()
    let moment = SQLiteMoment(of: gallery.store)
    try moment.begin()
    try gallery.set(2, of: picture)
    try gallery.store.withConnection { connection throws(Failure) in
      _ = sqlite3_commit_hook(connection.handle, { _ in 1 }, nil)
    }
    #expect(failure { try writer.save() } != nil)
    try gallery.store.withConnection { connection throws(Failure) in
      _ = sqlite3_commit_hook(connection.handle, nil, nil)
    }
    #expect(try gallery.byte(of: picture.id, in: moment) == 1)
    #expect(try gallery.byte(of: picture.id, in: SQLiteMoment(of: gallery.store)) == 1)
    try writer.save()
    moment.renew()
    gallery.store.sweepFiles()
    #expect(gallery.fileCount == 1)
    #expect(try gallery.byte(of: picture.id, in: moment) == 2)
  }
}
