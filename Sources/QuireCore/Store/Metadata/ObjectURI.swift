/// The name of an object outside the program: `x-coredata://<store>/<Entity>/p<key>`, or for an object that was
/// never saved `x-coredata:///Entity/t<UUID>`.
struct ObjectURI: Hashable, Sendable {
  enum Key: Hashable, Sendable {
    case permanent(Int64)
    /// Upper case.
    case temporary(uuid: Text)
  }

  /// Upper-case UUID of the store; nil for a temporary object.
  let store: Text?
  let entity: Text
  let key: Key

  init(store: Text, entity: Text, id: Int64) {
    self.store = store
    self.entity = entity
    key = .permanent(id)
  }

  /// Reads exactly the two forms; anything else is an error that names the part which is wrong.
  init(_ text: Text) throws(Failure) {
    func invalid(_ reason: String) -> Failure {
      Failure(
        .invalidArgument,
        "'\(text)' is not the URI of an object: \(reason). The form is 'x-coredata://<store>/<Entity>/p<number>'.")
    }
    let scheme = "x-coredata://", whole = text.string
    guard whole.utf8.starts(with: scheme.utf8) else { throw invalid("it does not begin with '\(scheme)'") }
    let parts = whole.utf8.dropFirst(scheme.utf8.count)
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw invalid("it has \(parts.count) parts after the scheme, not 3") }
    func string(_ part: Substring.UTF8View) -> String { String(decoding: part, as: UTF8.self) }
    guard !parts[1].isEmpty else { throw invalid("the entity is missing") }
    entity = Text(string(parts[1]))
    let digits = parts[2].dropFirst()
    switch parts[2].first {
    case UInt8(ascii: "p"):
      guard !parts[0].isEmpty else { throw invalid("the store is missing") }
      guard ObjectURI.isUUID(parts[0]) else { throw invalid("the store '\(string(parts[0]))' is not a UUID") }
      guard digits.allSatisfy({ (48...57).contains($0) }), digits.first != UInt8(ascii: "0"),
        let id = Int64(string(digits))
      else { throw invalid("the key '\(string(parts[2]))' is not 'p' and a number from 1 to \(Int64.max)") }
      store = Text(string(parts[0]).uppercased())
      key = .permanent(id)
    case UInt8(ascii: "t"):
      guard parts[0].isEmpty else {
        throw invalid("a temporary object has no store, but this one names '\(string(parts[0]))'")
      }
      guard ObjectURI.isUUID(digits) else { throw invalid("the key '\(string(parts[2]))' is not 't' and a UUID") }
      store = nil
      key = .temporary(uuid: Text(string(digits).uppercased()))
    default: throw invalid("the key '\(string(parts[2]))' begins with neither 'p' nor 't'")
    }
  }

  var text: Text {
    switch key {
    case .permanent(let id): Text("x-coredata://\(store?.string ?? "")/\(entity)/p\(id)")
    case .temporary(let uuid): Text("x-coredata:///\(entity)/t\(uuid)")
    }
  }

  /// 32 hexadecimal digits of either case in groups of 8, 4, 4, 4 and 12.
  static func isUUID(_ text: some Collection<UInt8>) -> Bool {
    text.count == 36
      && text.enumerated().allSatisfy { place, byte in
        switch place {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default: (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
        }
      }
  }
}

extension Store {
  /// The URI of a saved object; `entity` is its own entity, not the root of its tree.
  func uri(of id: Int64, entity: Entity) -> ObjectURI {
    ObjectURI(store: uuid, entity: Text(entity.name), id: id)
  }

  /// The object that a URI names in this store, whether or not its row exists.
  func reference(_ uri: ObjectURI) throws(Failure) -> (entity: Entity, reference: ObjectReference) {
    guard case .permanent(let id) = uri.key else {
      throw Failure(.invalidArgument, "'\(uri.text)' names an object that was never saved, so no store can find it.")
    }
    guard uri.store == uuid else {
      throw Failure(
        .invalidArgument,
        "'\(uri.text)' names an object of another store: the UUID of '\(path)' is \(uuid). "
          + "Open the store it belongs to.")
    }
    guard let entity = model.numberedEntities.first(where: { $0.name == uri.entity.string }) else {
      throw Failure(.invalidArgument, "'\(uri.text)' names the entity '\(uri.entity)', which the model does not have.")
    }
    return (entity, ObjectReference(root: entity.rootNumber, id: id))
  }
}
