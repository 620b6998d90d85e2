// swift-tools-version: 6.2
import PackageDescription

// QUIRE_IMPLEMENTATION: every pointer is optional in Swift, because a caller's NULL must be checked, not assumed away.
let header = ["-Xcc", "-I\(Context.packageDirectory)/include", "-Xcc", "-DQUIRE_IMPLEMENTATION"]
// QUIRE_CHECKS: costly invariants are checked. The released library has none of it.
let swift: [SwiftSetting] = [
  .unsafeFlags(["-warnings-as-errors"] + header), .define("QUIRE_CHECKS", .when(configuration: .debug)),
]

// A `contains` of the module of Swift's regular expressions would add 1.2 MB to the library.
let withoutRegularExpressions: [SwiftSetting] = [
  .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
]

let package = Package(
  name: "quire",
  products: [.library(name: "quire", type: .dynamic, targets: ["QuireCore"])],
  targets: [
    .systemLibrary(name: "CQuire"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CICU"),
    .systemLibrary(name: "CPropertyList"),
    .systemLibrary(name: "CXML", pkgConfig: "libxml-2.0"),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CDigest"),
    .systemLibrary(name: "CFFI"),
    .systemLibrary(name: "CRuntime"),
    .target(
      name: "CQuireFormat",
      publicHeadersPath: "include",
      cSettings: [
        // Valgrind does not read all of DWARF 5, and Swift writes DWARF 4, too.
        .unsafeFlags(["-I\(Context.packageDirectory)/include", "-Wall", "-Wextra", "-Werror", "-gdwarf-4"])
      ]),
    .target(
      name: "QuireCore",
      dependencies: [
        "CQuire", "CSQLite", "CICU", "CPropertyList", "CXML", "CZlib", "CDigest", "CFFI", "CRuntime", "CQuireFormat",
      ],
      exclude: ["exports.map"],
      swiftSettings: swift + withoutRegularExpressions,
      linkerSettings: [
        // SQLite keeps calling system_calls.c after a program has closed the library.
        .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"])
      ]),
    .testTarget(
      name: "Unit", dependencies: ["QuireCore", "CQuire"], path: "Tests/Unit",
      // The library is what takes time in a test, and the tests what takes time to optimize. File by file, they are
      // compiled on all cores.
      swiftSettings: swift + [
        .unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"], .when(configuration: .release))
      ]),
  ],
  swiftLanguageModes: [.v6])
