// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

/// For sources: they mark each unsafe use of memory, or don't compile. Tests needn't.
let strict = settings + [.strictMemorySafety()]

/// For modules that lend memory as spans.
let safe = strict + [.enableExperimentalFeature("Lifetimes")]

let package = Package(
  name: "SoraMedia",
  products: [
    .library(name: "SoraMedia", targets: ["SoraMedia"]),
    .library(name: "SoraClock", targets: ["SoraClock"]),
    .library(name: "SoraWire", targets: ["SoraWire"]),
    .library(name: "SoraVersion", targets: ["SoraVersion"]),
    // libyuv, for modules that convert or scale pictures.
    .library(name: "CYUV", targets: ["CYUV"]),
    // zlib, for modules that compress messages or write PNG files.
    .library(name: "CZlib", targets: ["CZlib"]),
    // For tests of hot paths.
    .library(name: "CSoraMallocCount", targets: ["CSoraMallocCount"]),
  ],
  targets: [
    .target(name: "SoraWire", swiftSettings: safe),
    .target(
      name: "SoraMedia", swiftSettings: safe,
      // Rounding is libm's, and no Foundation brings it.
      linkerSettings: [.linkedLibrary("m")]),
    .target(name: "SoraClock", dependencies: ["SoraMedia"], swiftSettings: strict),
    .target(name: "SoraVersion", swiftSettings: strict),
    .systemLibrary(name: "CYUV", providers: [.apt(["libyuv-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // Only for tests: counts a thread's allocations.
    .target(name: "CSoraMallocCount"),
    .testTarget(
      name: "SoraWireTests", dependencies: ["SoraWire", "SoraMedia"], swiftSettings: settings),
    .testTarget(
      name: "SoraMediaTests", dependencies: ["SoraMedia", "SoraClock"], swiftSettings: settings),
  ]
)
