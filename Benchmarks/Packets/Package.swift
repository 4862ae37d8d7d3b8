// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "PacketBenchmarks",
  dependencies: [
    .package(path: "../../Packages/SoraMedia"),
    .package(path: "../../Packages/SoraTransport"),
    .package(path: "../../Packages/SoraWebRTC"),
  ],
  targets: [
    .target(
      name: "CPacketLoop", cSettings: [.unsafeFlags(["-O2"])],
      linkerSettings: [.linkedLibrary("crypto")]),
    .executableTarget(
      name: "PacketBench",
      dependencies: [
        "CPacketLoop",
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraICE", package: "SoraTransport"),
        .product(name: "SoraSRTP", package: "SoraTransport"),
        .product(name: "SoraTransport", package: "SoraTransport"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "HandshakeBench",
      dependencies: [
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraDTLS", package: "SoraTransport"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ConnectionBench",
      dependencies: [
        .product(name: "WebRTC", package: "SoraWebRTC"),
        .product(name: "SoraMedia", package: "SoraMedia"),
      ],
      swiftSettings: settings),
  ]
)
