// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "SoraMedia",
  products: [
    .library(name: "SoraMedia", targets: ["SoraMedia"]),
    .library(name: "SoraClock", targets: ["SoraClock"]),
    .library(name: "SoraVersion", targets: ["SoraVersion"]),
  ],
  targets: [
    .target(name: "SoraMedia", swiftSettings: settings),
    .target(name: "SoraClock", dependencies: ["SoraMedia"], swiftSettings: settings),
    .target(name: "SoraVersion", swiftSettings: settings),
    .testTarget(
      name: "SoraMediaTests", dependencies: ["SoraMedia", "SoraClock"], swiftSettings: settings),
  ]
)
