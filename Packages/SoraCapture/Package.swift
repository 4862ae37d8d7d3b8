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
  name: "SoraCapture",
  products: [.library(name: "SoraCapture", targets: ["SoraCapture"])],
  dependencies: [.package(path: "../SoraMedia")],
  targets: [
    .target(
      name: "SoraCapture",
      dependencies: [
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SoraCaptureTests",
      dependencies: ["SoraCapture", .product(name: "SoraMedia", package: "SoraMedia")],
      swiftSettings: settings),
  ]
)
