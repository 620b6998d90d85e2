import CQuire

@_cdecl("quire_object_retain") @implementation
public func quire_object_retain(_ object: UnsafePointer<quire_object>?) -> UnsafeMutablePointer<quire_object>? {
  retain(object)
}

@_cdecl("quire_object_release") @implementation
public func quire_object_release(_ object: UnsafeMutablePointer<quire_object>?) { release(object) }

@_cdecl("quire_object_context") @implementation
public func quire_object_context(_ object: UnsafePointer<quire_object>?) -> UnsafeMutablePointer<quire_context>? {
  peek(object).map { .lending($0.context) }
}

@_cdecl("quire_object_entity") @implementation
public func quire_object_entity(_ object: UnsafePointer<quire_object>?) -> quire_string {
  peek(object)?.entity.nameText.lent ?? noText
}

@_cdecl("quire_object_id") @implementation
public func quire_object_id(_ object: UnsafePointer<quire_object>?) -> Int64 {
  QuireCore.value(object, none: 0) { $0.id }
}

@_cdecl("quire_object_uri") @implementation
public func quire_object_uri(_ object: UnsafeMutablePointer<quire_object>?) -> quire_string {
  QuireCore.value(UnsafePointer(object), none: noText) { $0.uriText().lent }
}

@_cdecl("quire_object_is_inserted") @implementation
public func quire_object_is_inserted(_ object: UnsafePointer<quire_object>?) -> Bool {
  QuireCore.value(object, none: false) { $0.state == .inserted }
}

@_cdecl("quire_object_is_updated") @implementation
public func quire_object_is_updated(_ object: UnsafePointer<quire_object>?) -> Bool {
  QuireCore.value(object, none: false) { $0.isUpdated }
}

@_cdecl("quire_object_is_deleted") @implementation
public func quire_object_is_deleted(_ object: UnsafePointer<quire_object>?) -> Bool {
  QuireCore.value(object, none: false) { $0.isDeleted }
}

@_cdecl("quire_object_get") @implementation
public func quire_object_get(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ out_value: UnsafeMutablePointer<quire_value>?, _ out_error: ErrorOut
) -> quire_status {
  out_value?.pointee = quire_value()
  return status(object, "object", out_error) { object throws(Failure) in
    let out = try required(out_value, "out_value")
    try object.context.store.checkOpen()
    try object.beginReadingValue()
    let property = try object.property(key, key_size)
    try object.asked(property) { () throws(Failure) in
      out.pointee = try exported(object.value(of: property)) { object.lend($0, at: property.slot) }
    }
  }
}

@_cdecl("quire_object_set") @implementation
public func quire_object_set(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ value: UnsafePointer<quire_value>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(object, "object", out_error) { object throws(Failure) in
    try object.context.beginReading()
    try object.awaken()
    let property = try object.property(key, key_size)
    try object.asked(property) { () throws(Failure) in
      if let relationship = property as? Relationship, relationship.isToMany {
        guard let value else { throw Failure(.invalidArgument, "'value' is NULL; pass a list of objects.") }
        try object.set(objects(value.pointee, relationship), for: relationship)
      } else {
        try object.set(QuireCore.value(value, for: property, in: object.context), for: property)
      }
    }
  }
}

@_cdecl("quire_object_set_values") @implementation
public func quire_object_set_values(
  _ object: UnsafeMutablePointer<quire_object>?, _ keys: UnsafePointer<UnsafePointer<CChar>?>?,
  _ values: UnsafePointer<quire_value>?, _ count: Int, _ out_error: ErrorOut
) -> quire_status {
  status(object, "object", out_error) { object throws(Failure) in
    try object.context.beginReading()
    try object.awaken()
    let keys = try array(keys, count, "keys"), values = try array(values, count, "values")
    var changes: [(property: Property, value: Value)] = []
    changes.reserveCapacity(keys.count)
    for (place, key) in keys.enumerated() {
      let property = try object.property(key, endsWithNUL, "keys")
      try object.asked(property) { () throws(Failure) in
        let given = values.baseAddress.map { $0 + place }
        changes.append((property, try value(given, for: property, in: object.context)))
      }
    }
    do throws(Failure) { try object.set(changes) } catch { throw error.about(.object(object)) }
  }
}

@_cdecl("quire_object_get_object") @implementation
public func quire_object_get_object(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ out_object: Out<quire_object>,
  _ out_error: ErrorOut
) -> quire_status {
  out_object?.pointee = nil
  return status(object, "object", out_error) { object throws(Failure) in
    let out = try required(out_object, "out_object")
    try object.context.beginReading()
    try object.awaken()
    let property = try object.property(key, key_size)
    try object.asked(property) { () throws(Failure) in
      guard let relationship = property as? Relationship else {
        throw Failure(
          .invalidArgument,
          "'\(object.entity.name).\(property.name)' is an attribute; read it with quire_object_get.")
      }
      if let target = try object.object(of: relationship) { out.pointee = .passing(target) }
    }
  }
}

@_cdecl("quire_object_get_fetched") @implementation
public func quire_object_get_fetched(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ out_list: Out<quire_list>,
  _ out_error: ErrorOut
) -> quire_status {
  status(object, "object", giving: out_list, "out_list", out_error) { object throws(Failure) in
    try object.context.store.checkOpen()
    try object.awaken()
    return try object.context.fetched(string(key, key_size, "key"), of: object)
  }
}

@_cdecl("quire_object_get_objects") @implementation
public func quire_object_get_objects(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ out_list: Out<quire_list>,
  _ out_error: ErrorOut
) -> quire_status {
  giveMembers(object, key, key_size, out_list, out_error, awakening: true) { object, relationship throws(Failure) in
    try object.objects(of: relationship)
  }
}

@_cdecl("quire_object_add") @implementation
public func quire_object_add(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ other: UnsafeMutablePointer<quire_object>?, _ out_error: ErrorOut
) -> quire_status {
  changeMembers(object, key, key_size, other, out_error) { object, other, relationship throws(Failure) in
    try object.add(other, to: relationship)
  }
}

@_cdecl("quire_object_remove") @implementation
public func quire_object_remove(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ other: UnsafeMutablePointer<quire_object>?, _ out_error: ErrorOut
) -> quire_status {
  changeMembers(object, key, key_size, other, out_error) { object, other, relationship throws(Failure) in
    try object.remove(other, from: relationship)
  }
}

/// Changes whether another object is a member of a to-many relationship.
@inline(__always)
private func changeMembers(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ other: UnsafeMutablePointer<quire_object>?, _ out_error: ErrorOut,
  _ change: (ManagedObject, ManagedObject, Relationship) throws(Failure) -> Void
) -> quire_status {
  status(object, "object", out_error) { object throws(Failure) in
    try object.context.beginReading()
    try object.awaken()
    let relationship = try object.toManyRelationship(key, key_size)
    try object.asked(relationship) { () throws(Failure) in
      try change(object, resolve(other, "other"), relationship)
    }
  }
}

@_cdecl("quire_object_is_fault") @implementation
public func quire_object_is_fault(_ object: UnsafePointer<quire_object>?) -> Bool {
  QuireCore.value(object, none: false) { $0.isFault }
}

@_cdecl("quire_object_changed_keys") @implementation
public func quire_object_changed_keys(
  _ object: UnsafeMutablePointer<quire_object>?, _ out_keys: UnsafeMutablePointer<quire_string>?, _ capacity: Int,
  _ out_count: UnsafeMutablePointer<Int>?, _ out_error: ErrorOut
) -> quire_status {
  out_count?.pointee = 0
  return status(object, "object", out_error) { object throws(Failure) in
    let count = try required(out_count, "out_count")
    let keys = try array(out_keys, capacity, "out_keys")
    let changed = try object.changedProperties()
    count.pointee = changed.count
    for (place, property) in zip(keys.indices, changed) {
      keys[place] = object.lend(Text(property.name), at: .min + property.slot).lent
    }
  }
}

@_cdecl("quire_object_get_committed") @implementation
public func quire_object_get_committed(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ out_value: UnsafeMutablePointer<quire_value>?, _ out_error: ErrorOut
) -> quire_status {
  out_value?.pointee = quire_value()
  return status(object, "object", out_error) { object throws(Failure) in
    let out = try required(out_value, "out_value")
    try object.context.beginReading()
    let property = try object.property(key, key_size)
    try object.asked(property) { () throws(Failure) in
      // Beside the text that is lent for the present value.
      out.pointee = try exported(object.committedValue(of: property)) { object.lend($0, at: -1 - property.slot) }
    }
  }
}

@_cdecl("quire_object_get_committed_objects") @implementation
public func quire_object_get_committed_objects(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ out_list: Out<quire_list>,
  _ out_error: ErrorOut
) -> quire_status {
  giveMembers(object, key, key_size, out_list, out_error, awakening: false) { object, relationship throws(Failure) in
    try object.committedObjects(of: relationship)
  }
}

/// Returns the objects of a to-many relationship as a list, by `out_list`.
@inline(__always)
private func giveMembers(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ out_list: Out<quire_list>,
  _ out_error: ErrorOut, awakening: Bool,
  _ members: (ManagedObject, Relationship) throws(Failure) -> [ManagedObject]
) -> quire_status {
  status(object, "object", giving: out_list, "out_list", out_error) { object throws(Failure) in
    try object.context.beginReading()
    if awakening { try object.awaken() }
    let relationship = try object.toManyRelationship(key, key_size)
    return try object.asked(relationship) { () throws(Failure) in
      ObjectList(
        context: object.context, objects: try members(object, relationship), entity: relationship.destination)
    }
  }
}

@_cdecl("quire_object_validate") @implementation
public func quire_object_validate(
  _ object: UnsafeMutablePointer<quire_object>?, _ out_error: ErrorOut
) -> quire_status {
  status(object, "object", out_error) { object throws(Failure) in
    try object.context.beginReading()
    try Validation.check(object)
  }
}

@_cdecl("quire_object_validate_value") @implementation
public func quire_object_validate_value(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ value: UnsafePointer<quire_value>?,
  _ out_error: ErrorOut
) -> quire_status {
  status(object, "object", out_error) { object throws(Failure) in
    try object.context.beginReading()
    let property = try object.property(key, key_size)
    try object.asked(property) { () throws(Failure) in
      if let relationship = property as? Relationship, relationship.isToMany {
        throw Failure(
          .invalidArgument,
          "'\(property.qualifiedName)' is a to-many relationship, whose objects are counted when it is saved; validate "
            + "the object.", about: .property(property))
      }
      try Validation.check(QuireCore.value(value, for: property, in: object.context), for: property, of: object)
    }
  }
}

@_cdecl("quire_object_refuse") @implementation
public func quire_object_refuse(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ message: CText, _ message_size: Int,
  _ out_error: ErrorOut
) -> quire_status {
  status(object, "object", out_error) { object throws(Failure) in
    let key = key == nil ? "" : try string(key, key_size, "key")
    try object.refuse(key: key, message: text(message, message_size, "message"))
  }
}

extension ManagedObject {
  /// The property that a text argument names.
  func property(_ key: CText, _ size: Int, _ name: InputName = "key") throws(Failure) -> Property {
    do throws(Failure) { return try entity.property(key, size, name) } catch { throw error.about(.object(self)) }
  }

  func toManyRelationship(_ key: CText, _ size: Int) throws(Failure) -> Relationship {
    let property = try property(key, size)
    if let relationship = property as? Relationship, relationship.isToMany { return relationship }
    throw Failure(
      .invalidArgument, "'\(entity.name).\(property.name)' is not a to-many relationship.",
      about: .object(self, property))
  }

  /// Does what a caller asks of one property. Its failure names the entity, the key and the id.
  @inline(__always)
  func asked<Result>(_ property: Property, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    do throws(Failure) { return try body() } catch { throw error.about(.object(self, property)) }
  }
}
