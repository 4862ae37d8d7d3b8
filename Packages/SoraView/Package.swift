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

let package = Package(
  name: "SoraView",
  products: [.library(name: "SoraView", targets: ["SoraView"])],
  dependencies: [.package(path: "../SoraMedia")],
  targets: [
    // SDL2 is loaded when the first window opens: its headers are for building alone.
    .target(name: "CSoraSDL"),
    .target(
      name: "SoraView",
      dependencies: [
        "CSoraSDL", .product(name: "CZlib", package: "SoraMedia"),
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SoraViewTests",
      dependencies: ["SoraView", .product(name: "SoraMedia", package: "SoraMedia")],
      swiftSettings: settings),
  ]
)
