/// A property whose objects are the result of a request. It has no column.
final class FetchedProperty: @unchecked Sendable {
  let name: String
  let nameText: Text
  let template: any FetchTemplate
  private(set) var userInfo = UserInfo()

  init(name: String, template: any FetchTemplate) {
    self.name = name
    nameText = Text(name)
    self.template = template
  }

  // Called by `Model`, which has checked that it is not frozen.
  func setUserInfo(_ key: Text, to value: Text) { userInfo.set(key, to: value) }
}
