// swift-tools-version:6.1
import PackageDescription

// Apart from the library's package, which has no dependencies.
let package = Package(
  name: "grdb-bench",
  dependencies: [.package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")],
  targets: [
    .executableTarget(name: "grdb-bench", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  ],
  swiftLanguageModes: [.v5])
