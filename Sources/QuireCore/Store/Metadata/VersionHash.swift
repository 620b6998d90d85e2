/// The version hashes of a frozen model (docs/file-format.md). Two models with equal hashes share a file.
///
/// Defaults, delete rules, validation and fetch indexes are no part of them, so those may change freely.
struct VersionHash: Sendable {
  /// 32 bytes for each entity, by its number less one.
  let hashes: [[UInt8]]
  private let model: Model

  init(model: Model) {
    var hashes: [[UInt8]] = []
    // Numbers run depth first, so a parent comes before its children.
    for entity in model.numberedEntities {
      hashes.append(VersionHash.hash(entity, parent: entity.parent.map { hashes[$0.number - 1] } ?? []))
    }
    self.hashes = hashes
    self.model = model
  }

  /// Entity names with their hashes, by name.
  var byName: [(name: String, hash: [UInt8])] {
    model.numberedEntities.map { ($0.name, hashes[$0.number - 1]) }.sorted { $0.name < $1.name }
  }

  /// NSStoreModelVersionHashesDigest.
  var digest: String { VersionHash.digest(of: byName) }

  /// NSStoreModelVersionChecksumKey.
  var checksum: String { VersionHash.checksum(of: byName) }

  /// The same of hashes as a file has them, by name.
  static func digest(of hashes: [(name: String, hash: [UInt8])]) -> String {
    Digest.base64(Digest.sha512(hashes.flatMap { Array($0.name.utf8) + $0.hash }))
  }

  static func checksum(of hashes: [(name: String, hash: [UInt8])]) -> String {
    Digest.base64(Digest.sha256(hashes.flatMap(\.hash)))
  }

  /// Whether any of these entities has a derived attribute, its own or an inherited one.
  func hasDerived(among names: [String]) -> Bool {
    model.numberedEntities.contains { names.contains($0.name) && $0.attributes.contains(where: \.isDerived) }
  }

  /// Whether an entity with derived attributes is the same in both models, with the same derivations.
  func agrees(with other: VersionHash, onDerivedEntity name: String) -> Bool {
    guard let entity = try? model.entity(named: name), let found = try? other.model.entity(named: name),
      hashes[entity.number - 1] == other.hashes[found.number - 1]
    else { return false }
    let derived = entity.attributes.filter(\.isDerived)
    return !derived.isEmpty
      && derived.allSatisfy { attribute in
        let other = (found.propertiesByName[attribute.name] as? Attribute)?.derivation
        return other?.operation == attribute.derivation?.operation && other?.keys == attribute.derivation?.keys
      } && found.attributes.count(where: \.isDerived) == derived.count
  }

  private static func hash(_ entity: Entity, parent: [UInt8]) -> [UInt8] {
    var input = Array(entity.name.utf8)
    input.append(entity.isAbstract ? 1 : 0)
    input += parent
    for property in entity.properties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
      input += hash(property)
    }
    input += entity.versionHashModifier.bytes.buffer
    input += entity.uniquenessConstraints.map { $0.joined(separator: ".") }.sorted().flatMap(\.utf8)
    return Digest.sha256(input)
  }

  static func hash(_ property: Property) -> [UInt8] {
    let flags: UInt16 = (property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0)
    let inner = Digest.sha256(
      Array(property.name.utf8) + littleEndian(flags) + Array(property.versionHashModifier.bytes.buffer))
    switch property {
    case let attribute as Attribute:
      var input = inner + littleEndian(attribute.type.rawValue)
      if attribute.traits.allowsExternalStorage { input.append(1) }
      if attribute.traits.preservesAfterDeletion { input.append(1) }
      return Digest.sha256(input)
    case let relationship as Relationship:
      // A relationship that is its own inverse is hashed as if it had none.
      let inverseName = relationship.inverse === relationship ? "" : relationship.inverseName
      var input = inner + Array(relationship.destinationName.utf8) + Array(inverseName.utf8)
      input += littleEndian(Int32(clamping: relationship.declaredMaximumCount))
      input += littleEndian(UInt32(clamping: relationship.minimumCount))
      if relationship.isOrdered { input += [1, 0] }
      return Digest.sha256(input)
    default: return inner
    }
  }

  private static func littleEndian(_ integer: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: integer.littleEndian) { Array($0) }
  }
}
