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

let media: Target.Dependency = .product(name: "SoraMedia", package: "SoraMedia")
let clock: Target.Dependency = .product(name: "SoraClock", package: "SoraMedia")
let version: Target.Dependency = .product(name: "SoraVersion", package: "SoraMedia")
let signaling: Target.Dependency = .product(name: "SoraSignaling", package: "SoraSignaling")
let messages: Target.Dependency = .product(name: "SoraSignalingMessages", package: "SoraSignaling")
let channels: Target.Dependency = .product(name: "SoraSignalingChannels", package: "SoraSignaling")

/// A module of the package that holds protocols and sockets.
func transport(_ name: String) -> Target.Dependency {
  .product(name: name, package: "SoraTransport")
}

/// The files of the server's page, which are in the program.
let page = [
  "index.html", "page.css", "channels.js", "client.js", "comeback.js", "devices.js", "lists.js",
  "people.js", "plots.js", "settings.js", "sora.js", "statistics.js", "tiles.js", "words.js",
]

let package = Package(
  name: "SoraServer",
  products: [
    .library(name: "SoraServer", targets: ["SoraServer"]),
    .library(name: "SoraCluster", targets: ["SoraCluster"]),
  ],
  dependencies: [
    .package(path: "../SoraMedia"),
    .package(path: "../SoraTransport"),
    .package(path: "../SoraSignaling"),
    .package(path: "../SoraTURNStream"),
    .package(path: "../SoraRecording"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    // Compiled with the header of libhiredis-dev and linked with nothing: the library is loaded when a cluster is joined.
    .target(name: "CSoraRedis"),
    .target(
      name: "SoraCluster",
      dependencies: ["CSoraRedis", media, clock, .product(name: "Logging", package: "swift-log")],
      swiftSettings: strict),
    .target(
      name: "SoraServer",
      dependencies: [
        "SoraCluster", media, clock, version, .product(name: "SoraWire", package: "SoraMedia"),
        messages,
        channels, signaling,
        transport("SoraDigest"), transport("SoraSDP"), transport("SoraRTP"), transport("SoraICE"),
        transport("SoraDTLS"), transport("SoraSRTP"), transport("SoraCongestion"),
        transport("SoraTransport"), transport("SoraDataChannel"),
        .product(name: "SoraTURNStream", package: "SoraTURNStream"),
        .product(name: "SoraRecording", package: "SoraRecording"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ],
      resources: page.map { .embedInCode("Page/\($0)") },
      swiftSettings: strict),
    // A Redis of a test's own.
    .target(name: "RedisServer", path: "Tests/RedisServer", swiftSettings: settings),
    .testTarget(
      name: "SoraServerTests",
      dependencies: [
        "SoraServer", "SoraCluster", "RedisServer", media, clock, version, messages, channels,
        signaling, transport("SoraDigest"), transport("SoraSDP"),
        transport("SoraRTP"),
        transport("SoraICE"), transport("SoraDTLS"), transport("SoraDataChannel"),
        transport("SoraTransport"),
        transport("SoraNetworkSimulator"), .product(name: "CSoraMallocCount", package: "SoraMedia"),
        .product(name: "SoraWire", package: "SoraMedia"),
        .product(name: "SignalingTestSupport", package: "SoraSignaling"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
  ]
)
