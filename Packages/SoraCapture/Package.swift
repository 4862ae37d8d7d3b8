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
  name: "SoraCapture",
  products: [
    .library(name: "SoraCapture", targets: ["SoraCapture"]),
    .library(name: "SoraCamera", targets: ["SoraCamera"]),
    .library(name: "SoraScreen", targets: ["SoraScreen"]),
  ],
  dependencies: [.package(path: "../SoraMedia")],
  targets: [
    .target(
      name: "SoraCapture",
      dependencies: [
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
      ],
      swiftSettings: strict),
    .target(name: "CSoraV4L2"),
    .target(
      name: "SoraCamera",
      dependencies: [
        "CSoraV4L2",
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "SoraWire", package: "SoraMedia"),
        .product(name: "CYUV", package: "SoraMedia"),
      ],
      swiftSettings: safe),
    // libxcb is loaded when a screen is captured first: its headers are for building alone.
    .target(name: "CSoraX11"),
    // So are PipeWire and D-Bus. `headers` has links to PipeWire's, which name each other as if their folders were searched: pkg-config, which
    // knows those, would have the library linked.
    .target(name: "CSoraPipeWire", cSettings: [.headerSearchPath("headers")]),
    .target(
      name: "SoraScreen",
      dependencies: [
        "CSoraX11", "CSoraPipeWire",
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "CYUV", package: "SoraMedia"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SoraCameraTests",
      dependencies: [
        "SoraCamera", .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "CSoraMallocCount", package: "SoraMedia"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraCaptureTests",
      dependencies: ["SoraCapture", .product(name: "SoraMedia", package: "SoraMedia")],
      swiftSettings: settings),
  ]
)
