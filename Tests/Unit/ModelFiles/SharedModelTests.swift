import FoundationEssentials
import Testing

@testable import QuireCore

/// Models and stores that Core Data and Xcode have written, which are not part of the repository.
enum SharedModels {
  static let data = SharedData.predicates.deletingLastPathComponent().path()

  static let isThere: Bool = {
    if FileManager.default.fileExists(atPath: data + "stores") { return true }
    print("skipped: models of Core Data in Swift: no \(data)stores")
    return false
  }()

  static let stores = paths { $0.hasSuffix(".sqlite") }
  static let sources = paths { $0.hasSuffix(".contents.xml") || $0.hasSuffix(".xcdatamodel/contents") }
  static let compiled = paths { $0.hasSuffix(".mom") }

  static let all = stores + sources + compiled

  private static func paths(_ matches: (String) -> Bool) -> [String] {
    guard isThere, let names = try? FileManager.default.subpathsOfDirectory(atPath: data) else { return [] }
    return names.filter(matches).sorted()
  }
}

@Suite("Models of Core Data", .enabled(if: SharedModels.isThere))
struct SharedModelTests {
  private func load(_ path: String) throws -> Model {
    try ModelFile.load(path: Text(SharedModels.data + path))
  }

  @Test("The cache of a store gives the hashes of its metadata, but for derived ones", arguments: SharedModels.stores)
  func cache(_ path: String) throws {
    let model = try load(path), expected = try SharedModelTests.hashes(ofStoreAt: path)
    let hashes = try ModelSummary.hashes(of: model)
    #expect(Set(hashes.keys) == Set(expected.keys))
    for entity in model.entities where entity.attributes.allSatisfy({ $0.derivation == nil }) {
      #expect(hashes[entity.name] == expected[entity.name], "\(entity.name)")
    }
  }

  @Test("A model that is archived or saved as XML comes back equal", arguments: SharedModels.all)
  func roundTrip(_ path: String) throws {
    let model = try load(path)
    let lines = try ModelSummary.lines(of: model), hashes = try ModelSummary.hashes(of: model)
    // How an archive has composite attributes is not known. No store has them.
    if !model.entities.contains(where: { $0.attributes.contains { $0.type == .composite } }) {
      let cached = try ModelFile.model(deflated: ModelFile.deflated(model), "it")
      #expect(try ModelSummary.lines(of: cached) == lines)
      #expect(try ModelSummary.hashes(of: cached) == hashes)
    }
    let source = try XMLModelReader.model(of: XMLModelWriter.contents(of: model), "It")
    #expect(try ModelSummary.lines(of: source) == lines)
    #expect(try ModelSummary.hashes(of: source) == hashes)
  }

  @Test("A compiled model and its source are one model", arguments: SharedModels.compiled)
  func compiledAndSource(_ path: String) throws {
    let name = try #require(path.split(separator: "/").last?.dropLast(4))
    let folder = path.split(separator: "/").dropLast(2).joined(separator: "/")
    let ending = "/\(name).xcdatamodel/contents"
    let source = SharedModels.sources.first { $0.hasPrefix(folder) && $0.hasSuffix(ending) }
    let compiled = try load(path), written = try load(try #require(source))
    #expect(try ModelSummary.hashes(of: compiled) == ModelSummary.hashes(of: written))
    let lines = try ModelSummary.lines(of: compiled, valueClasses: false)
    #expect(try lines == ModelSummary.lines(of: written, valueClasses: false))
  }

  private static func hashes(ofStoreAt path: String) throws -> [String: [UInt8]] {
    let file = try StoreFile(path: Text(SharedModels.data + path))
    let connection = try Store.readOnlyConnection(to: file, options: Store.Options(isReadOnly: true, mustExist: true))
    defer { connection.close() }
    return try Metadata.read(from: connection, tables: connection.tables()).hashes
  }
}
