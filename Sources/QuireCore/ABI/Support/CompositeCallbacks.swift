import CQuire

/// A delegate of C callbacks, with the `user_data` of the caller.
final class CompositeCallbacks: CompositeDelegate {
  private let callbacks: quire_composite_delegate
  private let userData: UserData

  init(_ callbacks: quire_composite_delegate, in confinement: Confinement) {
    self.callbacks = callbacks
    userData = UserData(callbacks.user_data, callbacks.destroy, in: confinement)
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
