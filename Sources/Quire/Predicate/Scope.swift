/// Where an expression is evaluated: the object under test, and the values of variables.
struct Scope {
  let subject: Item
  var variables: [String: Item]
}
