/// Which entities and properties of one model become which of another, as far as that can be inferred.
///
/// Names and renaming identifiers decide. An identifier names what an entity or property was called in an earlier
/// model, by the name or the identifier that it had there.
struct ModelMapping: Sendable {
  /// What becomes of the objects of an entity.
  struct EntityMapping: Sendable {
    let source: Entity
    let target: Entity
    /// Own and inherited properties of the target, by slot, with what their values come from; nil for what is new.
    let sources: [Property?]

    /// What a property of the source becomes; nil when its values are deleted.
    func target(of property: Property) -> Property? {
      sources.firstIndex { $0 === property }.map { target.properties[$0] }
    }
  }

  let source: Model
  let target: Model
  /// By the number of the entity in the target.
  let entities: [EntityMapping]
  private let targets: [ObjectIdentifier: Entity]

  /// Both models are frozen. Fails where what to do cannot be inferred, with the offender in `target`.
  init(from source: Model, to target: Model) throws(Failure) {
    self.source = source
    self.target = target
    let matched = try ModelMapping.match(
      target.numberedEntities, in: source.numberedEntities, name: \.name, identifier: \.renamingIdentifier.string
    ) { one, other in
      Failure(
        .unsupported,
        "Entities '\(one.name)' and '\(other.name)' both have the renaming identifier '\(one.renamingIdentifier)'. "
          + "Give it to the one that the objects become.", about: .entity(other))
    }
    var entities: [EntityMapping] = [], targets: [ObjectIdentifier: Entity] = [:]
    for (entity, source) in zip(target.numberedEntities, matched) {
      guard let source else { continue }
      targets[ObjectIdentifier(source)] = entity
      entities.append(
        try EntityMapping(source: source, target: entity, sources: ModelMapping.sources(of: entity, source)))
    }
    self.entities = entities
    self.targets = targets
    for mapping in entities { try check(mapping) }
    try checkTrees()
  }

  /// What the objects of an entity of the source become; nil when they are deleted.
  func target(of entity: Entity) -> Entity? { targets[ObjectIdentifier(entity)] }

  /// Entities of the source that are not in the target.
  var removed: [Entity] { source.numberedEntities.filter { target(of: $0) == nil } }

  /// Entities of the target that are not in the source.
  var added: [Entity] {
    let known = Set(entities.map { ObjectIdentifier($0.target) })
    return target.numberedEntities.filter { !known.contains(ObjectIdentifier($0)) }
  }

  private static func sources(of target: Entity, _ source: Entity) throws(Failure) -> [Property?] {
    try match(target.properties, in: source.properties, name: \.name, identifier: \.renamingIdentifier.string) {
      one, other in
      Failure(
        .unsupported,
        "'\(one.qualifiedName)' and '\(other.qualifiedName)' both have the renaming identifier "
          + "'\(one.renamingIdentifier)'. Give it to the one that the values become.", about: .property(other))
    }
  }

  /// For each of `targets` the one of `sources` that it was. Those with an identifier choose first: what is renamed may
  /// leave its name to something new.
  private static func match<Part: AnyObject>(
    _ targets: [Part], in sources: [Part], name: (Part) -> String, identifier: (Part) -> String,
    orElse conflict: (Part, Part) -> Failure
  ) throws(Failure) -> [Part?] {
    let named = Dictionary(sources.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
    let identified = Dictionary(
      sources.filter { !identifier($0).isEmpty }.map { (identifier($0), $0) }, uniquingKeysWith: { first, _ in first })
    var found = [Part?](repeating: nil, count: targets.count)
    var takers: [ObjectIdentifier: Part] = [:]
    for (place, part) in targets.enumerated() where !identifier(part).isEmpty {
      guard let source = identified[identifier(part)] ?? named[identifier(part)] else { continue }
      if let other = takers[ObjectIdentifier(source)] { throw conflict(other, part) }
      takers[ObjectIdentifier(source)] = part
      found[place] = source
    }
    for (place, part) in targets.enumerated() where found[place] == nil {
      guard let source = named[name(part)] ?? identified[name(part)], takers[ObjectIdentifier(source)] == nil else {
        continue
      }
      takers[ObjectIdentifier(source)] = part
      found[place] = source
    }
    return found
  }
}
