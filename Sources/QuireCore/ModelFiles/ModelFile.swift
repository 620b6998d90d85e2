/// Models from files of every kind that Core Data and Xcode know, and to the kind that Xcode edits.
enum ModelFile {
  private static let versionEndings = [".xcdatamodel", ".mom"]
  /// What a folder says of its versions is a few lines.
  private static let mostOfVersionList = 1 << 20

  /// The model at a path: a source of Xcode, a compiled model, or a store. A folder of versions has a current one, and
  /// `version` names another. The model is frozen.
  static func load(path: Text, version: String? = nil) throws(Failure) -> Model {
    let place = try FilePlace(path)
    let model = place.isFolder ? try folder(place, version) : try file(place, version)
    try model.freeze()
    return model
  }

  /// The model that a store keeps, from its deflated bytes. It is frozen. `what` is what a failure calls the store.
  static func model(deflated: Bytes, _ what: String) throws(Failure) -> Model {
    guard let archive = Deflate.inflate(deflated) else {
      throw Failure(.invalidModel, "The model that \(what) keeps is damaged. Give the model that made it.")
    }
    let model = try ModelReader.model(of: archive, "The model that \(what) keeps")
    try model.freeze()
    return model
  }

  /// The bytes in which a store keeps its model. For a frozen one.
  static func deflated(_ model: Model) throws(Failure) -> Bytes {
    guard let archive = ModelWriter.archive(of: model), archive.count <= Deflate.mostInflated,
      let deflated = Deflate.deflate(archive)
    else {
      throw Failure(
        .unsupported,
        "The model cannot be archived: a text of it has U+0000 in it, or it is too large, or memory is lacking.")
    }
    return deflated
  }

  /// Writes a source that Xcode edits: a folder that ends in `.xcdatamodel`. One that is there gets new contents.
  static func save(_ model: Model, to path: Text) throws(Failure) {
    guard path.string.hasSuffix(".xcdatamodel") else {
      throw Failure(.invalidArgument, "A model is saved as a folder that ends in '.xcdatamodel'; '\(path)' does not.")
    }
    try model.freeze()
    try FilePlace.write(XMLModelWriter.contents(of: model), named: "contents", inFolder: path)
  }

  // MARK: Kinds

  private static func file(_ place: FilePlace, _ version: String?) throws(Failure) -> Model {
    if let version, version != place.baseName, version != place.name {
      throw Failure(
        .notFound, "'\(place.path)' is one model, not a folder with versions of it: there is no version '\(version)'.")
    }
    let isStore = if place.isOpenStore { true } else { try Store.isDatabase(fileAt: place.path) }
    if isStore {
      return try Store.keptModel(ofFileAt: place.path, form: ModelFile.self)
    }
    return try model(of: place.contents(), "'\(place.path)'")
  }

  private static func model(of bytes: Bytes, _ what: String) throws(Failure) -> Model {
    if bytes.buffer.starts(with: "bplist".utf8) { return try ModelReader.model(of: bytes, what) }
    let isXML = bytes.buffer.contains(UInt8(ascii: "<"))
    if isXML { return try XMLModelReader.model(of: bytes, what) }
    throw Failure(
      .invalidModel, "\(what) is no model: it is neither XML, nor a keyed archive, nor a store with a model in it.")
  }

  private static func folder(_ place: FilePlace, _ version: String?) throws(Failure) -> Model {
    // A version is a folder with its source, which has nothing else.
    if let source = place.inside("contents"), !source.isFolder {
      if let version, version != place.baseName, version != place.name {
        throw Failure(.notFound, "'\(place.path)' is one version of a model. There is no version '\(version)' in it.")
      }
      return try model(of: source.contents(), "'\(place.path)'")
    }
    let found = try chosen(of: place, version)
    return found.isFolder ? try folder(found, nil) : try model(of: found.contents(), "'\(found.path)'")
  }

  /// The version of a folder that was asked for, else the current one, else the only one.
  private static func chosen(of place: FilePlace, _ asked: String?) throws(Failure) -> FilePlace {
    let names = try place.names().filter { name in versionEndings.contains { name.hasSuffix($0) } }.sorted()
    let known = names.isEmpty ? "none" : names.joined(separator: ", ")
    func version(named name: String) throws(Failure) -> FilePlace {
      let candidates = [name] + versionEndings.map { name + $0 }
      guard let match = names.first(where: candidates.contains), let found = place.inside(match) else {
        throw Failure(.notFound, "'\(place.path)' has no version '\(name)'. It has: \(known).")
      }
      return found
    }
    if let asked { return try version(named: asked) }
    if let current = try current(of: place) { return try version(named: current) }
    if names.count == 1 { return try version(named: names[0]) }
    throw Failure(
      names.isEmpty ? .invalidModel : .invalidArgument,
      names.isEmpty
        ? "'\(place.path)' is no model: it has neither contents nor versions in it."
        : "'\(place.path)' does not say which of its versions is current. Name one: \(known).")
  }

  /// What a folder of versions says of itself: a source in `.xccurrentversion`, a compiled one in `VersionInfo.plist`.
  private static func current(of place: FilePlace) throws(Failure) -> String? {
    let places = [
      (".xccurrentversion", "_XCCurrentVersionName"), ("VersionInfo.plist", "NSManagedObjectModel_CurrentVersionName"),
    ]
    for (name, key) in places {
      guard let file = place.inside(name), !file.isFolder else { continue }
      guard let list = PropertyListValue(try file.contents(atMost: mostOfVersionList)) else {
        throw Failure(.invalidModel, "'\(file.path)' is damaged: it is no property list. Name the version to load.")
      }
      if let current = list[key]?.text { return current }
    }
    return nil
  }
}
