/// What a hook said against saving an object.
struct Refusal {
  /// nil when it is about the object as a whole.
  let property: Property?
  let value: Value
  let message: Text
}
