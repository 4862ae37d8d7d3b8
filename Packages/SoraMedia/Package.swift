// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

/// For modules that read and write memory through spans alone: the compiler names everything else.
let safe: [SwiftSetting] =
  settings + [.strictMemorySafety(), .enableExperimentalFeature("Lifetimes")]

let package = Package(
  name: "SoraMedia",
  products: [
    .library(name: "SoraMedia", targets: ["SoraMedia"]),
    .library(name: "SoraClock", targets: ["SoraClock"]),
    .library(name: "SoraWire", targets: ["SoraWire"]),
    .library(name: "SoraVersion", targets: ["SoraVersion"]),
  ],
  targets: [
    .target(name: "SoraWire", swiftSettings: safe),
    .target(
      name: "SoraMedia", swiftSettings: settings + [.enableExperimentalFeature("Lifetimes")]),
    .target(name: "SoraClock", dependencies: ["SoraMedia"], swiftSettings: settings),
    .target(name: "SoraVersion", swiftSettings: settings),
    .testTarget(
      name: "SoraWireTests", dependencies: ["SoraWire", "SoraMedia"], swiftSettings: settings),
    .testTarget(
      name: "SoraMediaTests", dependencies: ["SoraMedia", "SoraClock"], swiftSettings: settings),
  ]
)
