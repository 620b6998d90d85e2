extension Connection {
  /// Functions that triggers call to tell Core Data of a value that they have changed: those of its derived attributes,
  /// and those of applications. Without them no row could be written to a table that has such triggers.
  func registerTriggerFunctions() {
    let names = [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
      "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]
    for name in names { registerTriggerFunction(name) }
  }
}
