/// Any number of ids in one argument, for IN: a JSON array that SQLite unfolds, which for integers is faster than
/// `PackedList`. Like that it needs no temporary table.
enum IDList {
  static let sql = "SELECT value FROM json_each(?)"

  static func list(_ ids: some Collection<Int64>, _ arguments: SQLArguments) -> SQLList {
    .ids(arguments.parameter(argument(ids)))
  }

  static func argument(_ ids: some Collection<Int64>) -> Value {
    var json = ContiguousArray<UInt8>()
    json.reserveCapacity(ids.count * 8 + 2)
    json.append(UInt8(ascii: "["))
    for id in ids {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      append(id, to: &json)
    }
    json.append(UInt8(ascii: "]"))
    return .text(Text(trusted: Bytes(json)))
  }

  private static func append(_ id: Int64, to json: inout ContiguousArray<UInt8>) {
    if id < 0 { json.append(UInt8(ascii: "-")) }
    let first = json.count
    var rest = id.magnitude
    repeat {
      json.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    json[first...].reverse()
  }
}
