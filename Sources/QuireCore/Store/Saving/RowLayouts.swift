/// The row layouts and writers of a store, made at first use. Safe for several threads.
final class RowLayouts: Sendable {
  private struct Made {
    /// By entity number: without sub-entities, and with them.
    var alone: [Int: RowLayout] = [:]
    var withSubentities: [Int: RowLayout] = [:]
    var writers: [Int: RowWriter] = [:]
  }

  private let schema: Schema
  private let derivedAttributes: DerivedAttributes
  private let made = Guarded(Made())

  init(schema: Schema, derivedAttributes: DerivedAttributes) {
    self.schema = schema
    self.derivedAttributes = derivedAttributes
  }

  func layout(of entity: Entity, includesSubentities: Bool) -> RowLayout {
    let number = entity.number
    let known = made.withLock { includesSubentities ? $0.withSubentities[number] : $0.alone[number] }
    if let known { return known }
    let layout = RowLayout(entity: entity, includesSubentities: includesSubentities, schema: schema)
    made.withLock {
      if includesSubentities { $0.withSubentities[number] = layout } else { $0.alone[number] = layout }
    }
    return layout
  }

  func writer(of entity: Entity) throws(Failure) -> RowWriter {
    if let known = made.withLock({ $0.writers[entity.number] }) { return known }
    let writer = try RowWriter(entity: entity, schema: schema, derivedAttributes: derivedAttributes)
    made.withLock { $0.writers[entity.number] = writer }
    return writer
  }
}
