/// A notice to observers of one object: that it came or went, or which of its properties changed.
struct ObjectChange {
  let object: ManagedObject
  let properties: PropertySet
  /// When it was last touched, by `ContextClock.change`.
  let time: UInt64
  /// Whether others may have changed more of it than `properties`, since observers were last notified of it.
  let isUncertain: Bool
  /// What its to-one relationships referred to before, with the objects of temporary ids, which may get others while
  /// this is told.
  var formerTargets: [(slot: Int, target: ObjectReference, object: ManagedObject?)] = []
}

extension ManagedObject {
  /// What to tell observers. They then know the object as it is; nil when they know it so already.
  func takeUnheardChange() -> ObjectChange? {
    let unheard = unheard
    self.unheard = UnheardChange()
    // An object that was asked for while there was no row has made way for the object that is there again.
    if state == .gone, let present = context.registeredObject(reference), present !== self { return nil }
    func change(_ properties: PropertySet) -> ObjectChange {
      ObjectChange(
        object: self, properties: properties, time: unheard.time, isUncertain: unheard.isUncertain,
        formerTargets: unheard.formerTargets(in: context))
    }
    if let wasLive = unheard.wasLive {
      if wasLive != isLive { return change(.all) }
      if !isLive, unheard.properties.isEmpty { return nil }
    }
    let changed = unheard.changed(in: values)
    return changed.isEmpty ? nil : change(changed)
  }

  /// Not all observers could be told. To be told twice of one state does no harm.
  func restoreUnheard(_ change: ObjectChange) {
    unheard.properties = change.properties
    unheard.time = change.time
    unheard.isUncertain = change.isUncertain
    for (slot, target, _) in change.formerTargets { unheard.notePassing(.object(target), at: slot) }
  }
}
