import CSQLite

extension Connection {
  /// Functions that the triggers of Core Data's derived attributes call to tell its framework of a change.
  ///
  /// Without them a row could not be inserted into a table that has such triggers; nothing needs the news here.
  func registerTriggerFunctions() {
    let names = [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
      "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]
    for name in names {
      sqlite3_create_function_v2(
        handle, name, -1, SQLITE_UTF8 | SQLITE_INNOCUOUS, nil, { context, _, _ in sqlite3_result_null(context) },
        nil, nil, nil)
    }
  }
}
