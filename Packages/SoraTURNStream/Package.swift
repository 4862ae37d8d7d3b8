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
  name: "SoraTURNStream",
  products: [.library(name: "SoraTURNStream", targets: ["SoraTURNStream"])],
  dependencies: [
    .package(path: "../SoraMedia"),
    .package(path: "../SoraTransport"),
    .package(path: "../SoraSignaling"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
  ],
  targets: [
    .target(
      name: "SoraTURNStream",
      dependencies: [
        .product(name: "SoraSignaling", package: "SoraSignaling"),
        .product(name: "SoraICE", package: "SoraTransport"),
        .product(name: "SoraDTLS", package: "SoraTransport"),
        .product(name: "SoraTransport", package: "SoraTransport"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SoraTURNStreamTests",
      dependencies: [
        "SoraTURNStream",
        .product(name: "SoraSignaling", package: "SoraSignaling"),
        .product(name: "SignalingTestSupport", package: "SoraSignaling"),
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "SoraICE", package: "SoraTransport"),
        .product(name: "SoraDTLS", package: "SoraTransport"),
        .product(name: "SoraTransport", package: "SoraTransport"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
  ]
)
