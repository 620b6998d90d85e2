extension DerivedAttributes {
  /// The derived attributes that the framework keeps up in its own files: with triggers that are not Quire's, or in a
  /// way that is not known. They are left alone. `entities` are those that the framework has declared.
  static func keptByOthers(
    in model: Model, declaredElsewhere entities: Set<String>, on connection: Connection
  ) throws(Failure) -> Set<ObjectIdentifier> {
    let derived = model.entities.flatMap(\.ownAttributes).filter(\.isDerived)
    if derived.isEmpty { return [] }
    let trigger = try connection.statement(
      """
      SELECT 1 FROM sqlite_master
      WHERE type = 'trigger' AND NOT instr(sql, '\(directory)')
        AND 1 IN (
          instr(name, 'Z_DA_' || tbl_name || ?1 || 'PARAMETER_'), instr(name, 'Z_DA_' || tbl_name || ?1 || 'SOURCE_'))
      """)
    var found: Set<ObjectIdentifier> = []
    for attribute in derived {
      try trigger.bind(Text("_\(attribute.entity.name)_\(attribute.name)_"), at: 1)
      let hasTrigger = try trigger.step()
      trigger.reset()
      if hasTrigger || entities.contains(attribute.entity.name) { found.insert(ObjectIdentifier(attribute)) }
    }
    return found
  }
}
