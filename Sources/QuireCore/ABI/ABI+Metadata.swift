import CQuire

@_cdecl("quire_store_metadata") @implementation
public func quire_store_metadata(
  _ store: UnsafeMutablePointer<quire_store>?, _ out_metadata: Out<quire_evaluation>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_metadata, "out_metadata", out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    return try metadata(resolve(store, "store").properties())
  }
}

@_cdecl("quire_store_set_metadata") @implementation
public func quire_store_set_metadata(
  _ store: UnsafeMutablePointer<quire_store>?, _ key: CText, _ key_size: Int, _ value: UnsafePointer<quire_value>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(store, "store", out_error) { store throws(Failure) in
    try ForeignCall.refuse()
    let key = try text(key, key_size, "key").string
    let item = try value.map { value throws(Failure) in try EvaluationInput(value, nil, 0).subject } ?? .nil
    if item.isNil { return try store.setProperty(key, to: nil) }
    guard let property = PropertyListValue(item) else {
      throw Failure(
        .invalidArgument,
        "The value of '\(key)' cannot be in metadata: it is, or has in it, something else than text, data, integers, "
          + "doubles, booleans, dates, lists and dictionaries. Convert it to one of these.")
    }
    try store.setProperty(key, to: property)
  }
}

@_cdecl("quire_metadata_read") @implementation
public func quire_metadata_read(
  _ path: CText, _ path_size: Int, _ out_metadata: Out<quire_evaluation>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_metadata, "out_metadata", out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    return try metadata(
      Store.properties(path: text(path, path_size, "path"), busyTimeoutMilliseconds: defaultBusyTimeout))
  }
}

private func metadata(_ properties: [String: PropertyListValue]) throws(Failure) -> Evaluation {
  try Evaluation(PropertyListValue.dictionary(properties).item, in: nil)
}
