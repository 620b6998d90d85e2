/// The changes of which all observers of a context are notified at once. Work that several of them need is done once.
final class ChangeBatch {
  let all: [ObjectChange]
  /// No change of it is older.
  let earliest: UInt64
  private let byRoot: [Int: [ObjectChange]]

  /// What was found for one observer, as long as nothing has changed since.
  private struct Finding {
    let path: [Relationship]
    let property: Property
    let entity: Entity
    let objects: [ManagedObject]
  }

  private var findings: [Finding] = []
  private var time: UInt64 = 0

  init(_ all: [ObjectChange]) {
    self.all = all
    earliest = all.map(\.time).min() ?? 0
    byRoot = Dictionary(grouping: all) { $0.object.entity.rootNumber }
  }

  /// Those of objects of one tree of entities.
  func changes(ofRoot root: Int) -> [ObjectChange] { byRoot[root] ?? [] }

  /// The objects of `entity` from which `path` leads to one where `property` changed. `find` finds them, once for all
  /// observers while the context stays as it is.
  func objects(
    along path: [Relationship], _ property: Property, from entity: Entity, in context: Context,
    _ find: () throws(Failure) -> [ManagedObject]
  ) throws(Failure) -> [ManagedObject] {
    if time != context.clock.change { findings = [] }
    time = context.clock.change
    let known = findings.first {
      $0.property === property && $0.entity === entity && $0.path.elementsEqual(path, by: ===)
    }
    if let known { return known.objects }
    let objects = try find()
    findings.append(Finding(path: path, property: property, entity: entity, objects: objects))
    return objects
  }
}
