/// One object of a context: its identity, its values, and which of them differ from the store.
final class ManagedObject {
  enum State {
    /// In the store, as far as this context knows; `values` may not be loaded.
    case saved
    /// Inserted here and not saved.
    case inserted
    /// To be removed by the next save.
    case deleted
    /// Deleted and saved, or inserted and then deleted or rolled back: there is nothing behind it any more.
    case gone
    /// Its context was reset: it may be in the store, but this is not the way to it any more.
    case forgotten
  }

  let context: Context
  let entity: Entity
  /// Negative until permanent.
  private(set) var id: Int64
  var state: State
  /// Z_OPT of the row that `values` were read from.
  var version: Int64 = 0
  /// By slot; empty as long as the object is a fault.
  private(set) var values: ContiguousArray<Value>
  /// The objects that are read together with this one, as long as it is a fault; nil when it is read alone.
  var unread: UnreadBatch?
  /// Saved values of the slots that were changed since, so that a save writes them and a rollback restores them.
  private(set) var committed = [Int: Value]()
  /// Members of the to-many relationships that have been read or changed, by slot.
  var toMany = [Int: ToManyMembers]()
  /// What fetched properties gave when they were read, by name.
  var fetched = [String: ContiguousArray<RowIdentifier>]()
  var unheard = UnheardChange()
  /// It was read, and its hook `awakeFromFetch`, if there is one, has not been called since.
  var awaitsAwakening = false
  /// Lent to callers until the id becomes permanent.
  private var uri: Text?
  /// In predicates that name this object.
  private var referenceBox: ObjectReferenceBox?
  /// Text made for a caller of values that have none of their own, by slot, until it is made anew.
  private var lent = [Int: Text]()

  init(context: Context, entity: Entity, id: Int64, state: State, values: ContiguousArray<Value> = []) {
    self.context = context
    self.entity = entity
    self.id = id
    self.state = state
    self.values = values
    assert(isWhole)
  }

  deinit { context.table.forget(ObjectIdentifier(self), reference) }

  var reference: ObjectReference { ObjectReference(root: entity.rootNumber, id: id) }
  var isFault: Bool { values.isEmpty }
  var hasChangedToMany: Bool { toMany.values.contains { $0.isChanged } }
  /// Whether it is in the store with changes that are not.
  var isUpdated: Bool { state == .saved && (!committed.isEmpty || hasChangedToMany) }
  /// Whether there is a row behind it, as far as this context knows.
  var isSaved: Bool { state == .saved || state == .deleted }
  var isDeleted: Bool { state == .deleted || state == .gone }
  /// Whether fetches and lists may show it.
  var isLive: Bool { state == .saved || state == .inserted }

  // MARK: Values

  // Each of these leaves `values` and `committed` agreeing, and does nothing else. `write` is what notes a change for
  // undo and observers.

  /// Whether there is a value for each property, or none.
  private var isWhole: Bool { values.isEmpty || values.count == entity.properties.count }

  /// Takes over the values of a stored row.
  func fulfil(with row: Row) {
    values = row.values
    version = row.version
    unread = nil
    awaitsAwakening = true
    context.noteReading(of: self)
    assert(isWhole)
  }

  /// Has these values, and no changes of them.
  func fill(with values: ContiguousArray<Value>) {
    self.values = values
    committed = [:]
    unread = nil
    assert(isWhole)
  }

  /// Has the next use read everything anew.
  func forgetValues() {
    values = []
    toMany.removeAll()
    unread = nil
    fetched.removeAll()
  }

  /// The same, for changed values too.
  func dropValues() {
    committed = [:]
    forgetValues()
  }

  /// Changes a value, and keeps the saved one. `old` is the value before.
  func change(to value: Value, at slot: Int, from old: Value) {
    if state == .saved {
      if let saved = committed[slot] {
        if saved.isIdentical(to: value) { committed[slot] = nil }
      } else {
        committed[slot] = old
      }
    }
    values[slot] = value
  }

  /// Has another value, which is no change.
  func show(_ value: Value, at slot: Int) { values[slot] = value }

  /// Has a saved value in the place of what was changed here, if anything was.
  func showSaved(_ saved: Value, at slot: Int) {
    values[slot] = saved
    committed[slot] = nil
  }

  /// That value has come to be saved. What is here stays, and is a change if it differs.
  func noteSaved(_ saved: Value, at slot: Int) {
    committed[slot] = values[slot].isIdentical(to: saved) ? nil : saved
  }

  /// Nothing is a change of values any more.
  func commitValues() {
    if !committed.isEmpty { committed.removeAll() }
  }

  /// The same; returns the saved values.
  func takeCommitted() -> [Int: Value] {
    defer { committed = [:] }
    return committed
  }

  /// Objects that to-one relationships hold, or held, got permanent ids.
  func replaceTargets(_ permanent: [ObjectReference: ObjectReference]) {
    if isFault { return }
    func resolve(_ value: Value) -> Value {
      if case .object(let box) = value, let reference = permanent[box.reference] { return .object(reference) }
      return value
    }
    for relationship in entity.relationships where !relationship.isToMany {
      let slot = relationship.slot
      values[slot] = resolve(values[slot])
      if let saved = committed[slot] { committed[slot] = resolve(saved) }
    }
  }

  // MARK: Identity

  func becomePermanent(id: Int64) {
    self.id = id
    uri = nil
    referenceBox?.becomePermanent(id: id)
  }

  /// The reference for a value from outside, which follows when the id becomes permanent.
  func lentReference() -> ObjectReferenceBox {
    if let referenceBox { return referenceBox }
    let box = ObjectReferenceBox(reference, store: context.store.uuid)
    if id < 0 || state == .inserted { referenceBox = box }
    return box
  }

  func uriText() -> Text {
    if let uri { return uri }
    let text = id > 0 ? context.store.uri(of: id, entity: entity).text : temporaryURI()
    uri = text
    return text
  }

  /// A UUID made of the context's identifier and the id, so that no two objects share one.
  private func temporaryURI() -> Text {
    func hexadecimal(_ bits: UInt64) -> String {
      let digits = String(bits, radix: 16, uppercase: true)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    let high = hexadecimal((context.identifier & ~0xF000) | 0x4000)  // version 4
    let low = hexadecimal((1 << 63) | (UInt64(id.magnitude) & ~(3 << 62)))  // the variant of RFC 4122
    return Text(
      "x-coredata:///\(entity.name)/t\(high.prefix(8))-\(high.dropFirst(8).prefix(4))-"
        + "\(high.suffix(4))-\(low.prefix(4))-\(low.dropFirst(4))")
  }

  /// Keeps text alive for a caller that borrows it. Equal text stays where it is.
  func lend(_ text: Text, at slot: Int) -> Text {
    if let present = lent[slot], present == text { return present }
    lent[slot] = text
    return text
  }

  var summary: String { "\(entity.name) \(id)" }
}

extension Offender {
  static func object(_ object: ManagedObject, _ property: Property? = nil) -> Offender {
    Offender(
      entityName: object.entity.nameText, key: property?.nameText ?? Text(""), object: object.lentReference())
  }
}
