import CQuire

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
    try object.context.store.checkOpen()
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
  out_list?.pointee = nil
  return status(object, "object", out_error) { object throws(Failure) in
    let out = try required(out_list, "out_list")
    try object.context.store.checkOpen()
    let relationship = try object.toManyRelationship(key, key_size)
    try object.asked(relationship) { () throws(Failure) in
      let objects = try object.committedObjects(of: relationship)
      out.pointee = .passing(ObjectList(context: object.context, objects: objects, entity: relationship.destination))
    }
  }
}

@_cdecl("quire_context_refresh") @implementation
public func quire_context_refresh(
  _ context: UnsafeMutablePointer<quire_context>?, _ object: UnsafeMutablePointer<quire_object>?, _ merge: Bool,
  _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.refresh(resolve(object, "object"), merges: merge)
  }
}

@_cdecl("quire_context_refresh_all") @implementation
public func quire_context_refresh_all(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.refreshAll() }
}

@_cdecl("quire_context_reset") @implementation
public func quire_context_reset(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.reset() }
}
