extension Connection {
  /// Functions that the triggers of Core Data's derived attributes call to tell its framework of a change.
  ///
  /// Without them a row could not be inserted into a table that has such triggers; nothing needs the news here.
  func registerTriggerFunctions() {
    let names = [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
      "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]
    for name in names { registerNullFunction(name) }
  }
}
