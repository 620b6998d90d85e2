/// Another way to what a fragment holds for: through a list of keys, where one row is looked at for each.
struct SQLKeyedSearch {
  /// SQL of the key that is in the list.
  let key: String
  /// Each a SELECT of keys as `Z_PK`, in no order, some of them perhaps twice.
  let keys: [String]
  /// What remains to be asked of their rows.
  let test: String
}
