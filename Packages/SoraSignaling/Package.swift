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
  name: "SoraSignaling",
  products: [
    .library(name: "SoraSignaling", targets: ["SoraSignaling"]),
    .library(name: "SoraSignalingMessages", targets: ["SoraSignalingMessages"]),
    .library(name: "SoraSignalingChannels", targets: ["SoraSignalingChannels"]),
    .library(name: "SignalingTestSupport", targets: ["SignalingTestSupport"]),
  ],
  dependencies: [
    .package(path: "../SoraMedia"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    // What is said, without what carries it: no SwiftNIO, no Foundation.
    .target(name: "SoraSignalingMessages", swiftSettings: strict),
    // What data channels carry of it: labels, compression, RPC.
    .target(
      name: "SoraSignalingChannels",
      dependencies: ["SoraSignalingMessages", .product(name: "CZlib", package: "SoraMedia")],
      swiftSettings: strict),
    .target(
      name: "SoraSignaling",
      dependencies: [
        "SoraSignalingMessages",
        .product(name: "SoraWire", package: "SoraMedia"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    // A proxy, certificates and what else tests here, of relays and of whole calls share.
    .target(
      name: "SignalingTestSupport",
      dependencies: [
        "SoraSignaling",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Tests/SignalingTestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "SoraSignalingMessagesTests", dependencies: ["SoraSignalingMessages"],
      swiftSettings: settings),
    .testTarget(
      name: "SoraSignalingChannelsTests",
      dependencies: ["SoraSignalingChannels", "SoraSignalingMessages"], swiftSettings: settings),
    .testTarget(
      name: "SoraSignalingTests",
      dependencies: [
        "SoraSignaling", "SignalingTestSupport",
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
  ]
)
