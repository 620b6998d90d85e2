extension DerivedAttributes {
  /// The derived attributes that the framework keeps up in its own files: with triggers that are not Quire's, or in a
  /// way that is not known. They are left alone. `entities` are those that the framework has declared.
  static func keptByOthers(
    in model: Model, declaredElsewhere entities: Set<String>, on connection: Connection
  ) throws(Failure) -> Set<ObjectIdentifier> {
    let derived = model.entities.flatMap(\.ownAttributes).filter(\.isDerived)
    if derived.isEmpty { return [] }
    let select = try connection.statement(
      """
      SELECT name FROM sqlite_master
      WHERE type = 'trigger' AND name LIKE 'Z\\_DA\\_%' ESCAPE '\\' AND NOT instr(sql, '\(directory)')
      """)
    var triggers: [String] = []
    while try select.step() { if let name = select.text(at: 0) { triggers.append(name.string) } }
    return Set(
      derived.filter { attribute in
        let part = "_\(attribute.entity.name)_\(attribute.name)_"
        return entities.contains(attribute.entity.name)
          || triggers.contains { trigger in
            ["PARAMETER_", "SOURCE_"].contains { trigger.contains(part + $0) }
          }
      }.map(ObjectIdentifier.init))
  }
}
