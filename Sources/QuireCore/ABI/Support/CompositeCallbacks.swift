import CQuire

/// A delegate of C callbacks. It holds the caller's `user_data` and calls `destroy` when it goes.
final class CompositeCallbacks: CompositeDelegate {
  private let callbacks: quire_composite_delegate

  private let confinement: Confinement

  init(_ callbacks: quire_composite_delegate, in confinement: Confinement) {
    self.callbacks = callbacks
    self.confinement = confinement
  }

  deinit {
    guard let destroy = callbacks.destroy else { return }
    confinement.asProgram { [callbacks] in destroy(callbacks.user_data) }
  }

  var hearsOfObjects: Bool { callbacks.did_change_object != nil }

  func willChange(_ composite: CompositeController) {
    callbacks.will_change?(callbacks.user_data, .lending(composite))
  }

  func didChangeSection(_ change: SectionChange, of child: ResultsController, in composite: CompositeController) {
    guard let callback = callbacks.did_change_section else { return }
    change.withExported { callback(callbacks.user_data, .lending(composite), .lending(child), $0) }
  }

  func didChangeObject(
    _ object: ManagedObject, _ change: Change, of child: ResultsController, in composite: CompositeController
  ) {
    guard let callback = callbacks.did_change_object else { return }
    change.withExported {
      callback(callbacks.user_data, .lending(composite), .lending(child), .lending(object), $0)
    }
  }

  func didChange(_ composite: CompositeController) {
    callbacks.did_change?(callbacks.user_data, .lending(composite))
  }

  func didReport(_ changes: ChangeSet, in composite: CompositeController) {
    guard let callback = callbacks.changes else { return }
    changes.withExported { callback(callbacks.user_data, .lending(composite), $0) }
  }
}
