// grdb-bench CASE,... --rows N --folder FOLDER --json FILE [--quick]
//
// As peers.py, with GRDB.
import Foundation

func option(_ name: String) -> String? {
  let arguments = CommandLine.arguments
  guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return nil }
  return arguments[place + 1]
}

let names = CommandLine.arguments.count > 1 ? CommandLine.arguments[1].split(separator: ",").map(String.init) : []
guard !names.isEmpty, names.allSatisfy({ Run.cases[$0] != nil }), let rows = option("--rows").flatMap({ Int($0) }),
  let folder = option("--folder"), let file = option("--json")
else {
  FileHandle.standardError.write(
    Data("usage: grdb-bench CASE,... --rows N --folder FOLDER --json FILE [--quick]\n".utf8))
  exit(2)
}

var found: [[String: Any]] = []
for name in names {
  let run = Run(rows: rows, folder: folder, isQuick: CommandLine.arguments.contains("--quick"))
  defer { run.remove() }
  let (answer, samples) = try Run.cases[name]!(run)
  found.append(["case": name, "contender": "grdb", "rows": rows, "answer": answer, "samples": samples])
}
try JSONSerialization.data(withJSONObject: found).write(to: URL(fileURLWithPath: file))
