import CQuire

@_cdecl("quire_model_entity") @implementation
public func quire_model_entity(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int,
  _ out_info: UnsafeMutablePointer<quire_entity_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in try records(model, entity, entity_size).entity }
}

@_cdecl("quire_model_property_count") @implementation
public func quire_model_property_count(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int,
  _ out_count: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  out_count?.pointee = 0
  return status(out_error) { () throws(Failure) in
    let out = try required(out_count, "out_count")
    out.pointee = try records(model, entity, entity_size).entity.property_count
  }
}

@_cdecl("quire_model_property") @implementation
public func quire_model_property(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ index: Int64,
  _ out_info: UnsafeMutablePointer<quire_property_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    try element(index, of: records(model, entity, entity_size).properties, "index")
  }
}

@_cdecl("quire_model_composite_element") @implementation
public func quire_model_composite_element(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ property: CText,
  _ property_size: Int, _ index: Int64, _ out_info: UnsafeMutablePointer<quire_property_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    let path = try string(property, property_size, "property")
    let records = try records(model, entity, entity_size)
    guard let elements = records.elements[path] else {
      throw Failure(.invalidArgument, "'property' is '\(path)', which is no composite attribute of the entity.")
    }
    return try element(index, of: elements, "index")
  }
}

@_cdecl("quire_model_fetch_index") @implementation
public func quire_model_fetch_index(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ index: Int64,
  _ out_info: UnsafeMutablePointer<quire_fetch_index_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    try element(index, of: records(model, entity, entity_size).indexes, "index").info
  }
}

@_cdecl("quire_model_fetch_index_element") @implementation
public func quire_model_fetch_index_element(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ index: Int64, _ place: Int64,
  _ out_info: UnsafeMutablePointer<quire_index_element_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    let found = try element(index, of: records(model, entity, entity_size).indexes, "index")
    return try element(place, of: found.elements, "place")
  }
}

@_cdecl("quire_model_uniqueness_constraint") @implementation
public func quire_model_uniqueness_constraint(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ index: Int64,
  _ out_properties: UnsafeMutablePointer<UnsafePointer<quire_string>?>?, _ out_count: UnsafeMutablePointer<Int64>?,
  _ out_error: ErrorOut
) -> quire_status {
  lending(out_properties, "out_properties", out_count, out_error) { () throws(Failure) in
    try element(index, of: records(model, entity, entity_size).constraints, "index")
  }
}

@_cdecl("quire_model_validation_rule") @implementation
public func quire_model_validation_rule(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ index: Int64,
  _ out_info: UnsafeMutablePointer<quire_validation_rule_info>?, _ out_error: ErrorOut
) -> quire_status {
  filling(out_info, out_error) { () throws(Failure) in
    try element(index, of: records(model, entity, entity_size).rules, "index")
  }
}

@_cdecl("quire_model_user_info") @implementation
public func quire_model_user_info(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ entity_size: Int, _ property: CText,
  _ property_size: Int, _ index: Int64, _ out_key: UnsafeMutablePointer<quire_string>?,
  _ out_value: UnsafeMutablePointer<quire_string>?, _ out_error: ErrorOut
) -> quire_status {
  out_key?.pointee = noText
  out_value?.pointee = noText
  return status(out_error) { () throws(Failure) in
    let key = try required(out_key, "out_key"), value = try required(out_value, "out_value")
    let model = try resolve(model, "model")
    try model.freeze()
    let entity = try model.entity(entity, entity_size, "entity")
    var info = entity.userInfo
    if property != nil {
      let name = try string(property, property_size, "property")
      let fetched = entity.ancestry.flatMap(\.ownFetchedProperties).first { $0.name == name }
      if let fetched { info = fetched.userInfo } else { info = try entity.property(named: name).userInfo }
    }
    let found = try element(index, of: info.entries, "index")
    (key.pointee, value.pointee) = (found.key.lent, found.value.lent)
  }
}

@_cdecl("quire_model_configuration_count") @implementation
public func quire_model_configuration_count(_ model: UnsafePointer<quire_model>?) -> Int64 {
  Int64(peek(model)?.configurations.count ?? 0)
}

@_cdecl("quire_model_configuration") @implementation
public func quire_model_configuration(
  _ model: UnsafeMutablePointer<quire_model>?, _ index: Int64, _ out_name: UnsafeMutablePointer<quire_string>?,
  _ out_entities: UnsafeMutablePointer<UnsafePointer<quire_string>?>?, _ out_count: UnsafeMutablePointer<Int64>?,
  _ out_error: ErrorOut
) -> quire_status {
  out_name?.pointee = noText
  return lending(out_entities, "out_entities", out_count, out_error) { () throws(Failure) in
    let name = try required(out_name, "out_name")
    let model = try resolve(model, "model")
    let entities = try element(index, of: ModelRecords.of(model).configurations, "index")
    name.pointee = model.configurations[Int(index)].name.lent
    return entities
  }
}

@_cdecl("quire_model_version_identifier_count") @implementation
public func quire_model_version_identifier_count(_ model: UnsafePointer<quire_model>?) -> Int64 {
  Int64(peek(model)?.versionIdentifiers.count ?? 0)
}

@_cdecl("quire_model_version_identifier") @implementation
public func quire_model_version_identifier(_ model: UnsafePointer<quire_model>?, _ index: Int64) -> quire_string {
  guard let all = peek(model)?.versionIdentifiers, all.indices.contains(Int(index)) else { return noText }
  return all[Int(index)].lent
}

@_cdecl("quire_model_fetch_template_count") @implementation
public func quire_model_fetch_template_count(_ model: UnsafePointer<quire_model>?) -> Int64 {
  Int64(peek(model)?.fetchTemplates.count ?? 0)
}

@_cdecl("quire_model_fetch_template_name") @implementation
public func quire_model_fetch_template_name(_ model: UnsafePointer<quire_model>?, _ index: Int64) -> quire_string {
  guard let all = peek(model)?.fetchTemplates, all.indices.contains(Int(index)) else { return noText }
  return all[Int(index)].name.lent
}

@_cdecl("quire_model_fetch_template_request") @implementation
public func quire_model_fetch_template_request(
  _ model: UnsafePointer<quire_model>?, _ index: Int64
) -> UnsafePointer<quire_fetch_request>? {
  guard let all = peek(model)?.fetchTemplates, all.indices.contains(Int(index)),
    let request = all[Int(index)].template as? FetchRequest
  else { return nil }
  return UnsafePointer(UnsafeMutablePointer<quire_fetch_request>.lending(request))
}

// MARK: -

private func records(
  _ model: UnsafeMutablePointer<quire_model>?, _ entity: CText, _ size: Int
) throws(Failure) -> ModelRecords.EntityRecords {
  let model = try resolve(model, "model")
  let records = try ModelRecords.of(model)
  return try records.entities[model.entity(entity, size, "entity").number - 1]
}

/// Lends an array of texts.
private func lending(
  _ out_texts: UnsafeMutablePointer<UnsafePointer<quire_string>?>?, _ name: InputName,
  _ out_count: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut,
  _ body: () throws(Failure) -> UnsafeMutableBufferPointer<quire_string>
) -> quire_status {
  out_texts?.pointee = nil
  out_count?.pointee = 0
  return status(out_error) { () throws(Failure) in
    let texts = try required(out_texts, name), count = try required(out_count, "out_count")
    let found = try body()
    texts.pointee = UnsafePointer(found.baseAddress)
    count.pointee = Int64(found.count)
  }
}
