/// A property whose objects are the result of a request. It has no column.
final class FetchedProperty: @unchecked Sendable {
  let name: String
  let nameText: Text
  let template: any FetchTemplate
  /// No part of the version hash, and kept for the files of models.
  let isOptional: Bool
  private(set) var userInfo = UserInfo()

  init(name: String, template: any FetchTemplate, isOptional: Bool = true) {
    self.isOptional = isOptional
    self.name = name
    nameText = Text(name)
    self.template = template
  }

  // Called by `Model`, which has checked that it is not frozen.
  func setUserInfo(_ key: Text, to value: Text) { userInfo.set(key, to: value) }
}
