/// The form in which a store keeps a copy of its model. A layer above this one knows it.
protocol ModelForm {
  /// The bytes of a frozen model.
  static func deflated(_ model: Model) throws(Failure) -> Bytes

  /// The model of such bytes, frozen. `what` is what a failure calls the store.
  static func model(deflated: Bytes, _ what: String) throws(Failure) -> Model
}
