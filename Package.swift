// swift-tools-version: 6.2
// Written by Tools/manifest/generate.py from Packages/*/Package.swift and Tools/manifest/root.json.
// Change those, then run `make manifest`.
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "Sora",
  products: [
    .executable(name: "sora", targets: ["SoraCommand"]),
    .library(name: "SoraAudio", targets: ["SoraAudio"]),
    .library(name: "SoraCapture", targets: ["SoraCapture"]),
    .library(name: "SoraCodecs", targets: ["SoraCodecs"]),
    .library(name: "SoraVP8", targets: ["SoraVP8"]),
    .library(name: "SoraVP9", targets: ["SoraVP9"]),
    .library(name: "SoraAV1", targets: ["SoraAV1"]),
    .library(name: "SoraAV1Encoding", targets: ["SoraAV1Encoding"]),
    .library(name: "SoraAV1Decoding", targets: ["SoraAV1Decoding"]),
    .library(name: "SoraMedia", targets: ["SoraMedia"]),
    .library(name: "SoraClock", targets: ["SoraClock"]),
    .library(name: "SoraSDK", targets: ["SoraSDK"]),
    .library(name: "Sora", targets: ["Sora"]),
    .library(name: "SoraServer", targets: ["SoraServer"]),
    .library(name: "SoraSignaling", targets: ["SoraSignaling"]),
    .library(name: "SoraSDP", targets: ["SoraSDP"]),
    .library(name: "SoraRTP", targets: ["SoraRTP"]),
    .library(name: "SoraICE", targets: ["SoraICE"]),
    .library(name: "SoraDTLS", targets: ["SoraDTLS"]),
    .library(name: "SoraSRTP", targets: ["SoraSRTP"]),
    .library(name: "SoraCongestion", targets: ["SoraCongestion"]),
    .library(name: "SoraTransport", targets: ["SoraTransport"]),
    .library(name: "SoraNetworkSimulator", targets: ["SoraNetworkSimulator"]),
    .library(name: "CSoraMallocCount", targets: ["CSoraMallocCount"]),
    .library(name: "SoraView", targets: ["SoraView"]),
    .library(name: "WebRTC", targets: ["WebRTC"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.5"),
  ],
  targets: [
    // Packages/SoraAudio
    .systemLibrary(
      name: "COpus",
      path: "Packages/SoraAudio/Sources/COpus",
      pkgConfig: "opus",
      providers: [.apt(["libopus-dev"])]),
    .target(
      name: "CSoraOpus",
      dependencies: ["COpus"],
      path: "Packages/SoraAudio/Sources/CSoraOpus"),
    .target(
      name: "SoraAudio",
      dependencies: ["SoraMedia", "CSoraOpus"],
      path: "Packages/SoraAudio/Sources/SoraAudio",
      swiftSettings: settings),
    .testTarget(
      name: "SoraAudioTests",
      dependencies: ["SoraAudio", "SoraMedia"],
      path: "Packages/SoraAudio/Tests/SoraAudioTests",
      swiftSettings: settings),
    // Packages/SoraCapture
    .target(
      name: "SoraCapture",
      dependencies: ["SoraMedia", "SoraClock"],
      path: "Packages/SoraCapture/Sources/SoraCapture",
      swiftSettings: settings),
    .testTarget(
      name: "SoraCaptureTests",
      dependencies: ["SoraCapture", "SoraMedia"],
      path: "Packages/SoraCapture/Tests/SoraCaptureTests",
      swiftSettings: settings),
    // Packages/SoraCodecs
    .systemLibrary(
      name: "CVPX",
      path: "Packages/SoraCodecs/Sources/CVPX",
      pkgConfig: "vpx",
      providers: [.apt(["libvpx-dev"])]),
    .target(name: "CSoraVPX", dependencies: ["CVPX"], path: "Packages/SoraCodecs/Sources/CSoraVPX"),
    .target(
      name: "SoraCodecs",
      dependencies: ["SoraMedia"],
      path: "Packages/SoraCodecs/Sources/SoraCodecs",
      swiftSettings: settings),
    .target(
      name: "SoraVP8",
      dependencies: ["SoraMedia", "SoraCodecs", "CSoraVPX"],
      path: "Packages/SoraCodecs/Sources/SoraVP8",
      swiftSettings: settings),
    .target(
      name: "SoraVP9",
      dependencies: ["SoraMedia", "SoraCodecs", "CSoraVPX", "CVPX"],
      path: "Packages/SoraCodecs/Sources/SoraVP9",
      swiftSettings: settings),
    .systemLibrary(
      name: "CAOM",
      path: "Packages/SoraCodecs/Sources/CAOM",
      pkgConfig: "aom",
      providers: [.apt(["libaom-dev"])]),
    .systemLibrary(
      name: "CDAV1D",
      path: "Packages/SoraCodecs/Sources/CDAV1D",
      pkgConfig: "dav1d",
      providers: [.apt(["libdav1d-dev"])]),
    .target(name: "CSoraAOM", dependencies: ["CAOM"], path: "Packages/SoraCodecs/Sources/CSoraAOM"),
    .target(
      name: "SoraAV1Encoding",
      dependencies: ["SoraMedia", "SoraCodecs", "CSoraAOM", "CAOM"],
      path: "Packages/SoraCodecs/Sources/SoraAV1Encoding",
      swiftSettings: settings),
    .target(
      name: "SoraAV1Decoding",
      dependencies: ["SoraMedia", "SoraCodecs", "CDAV1D"],
      path: "Packages/SoraCodecs/Sources/SoraAV1Decoding",
      swiftSettings: settings),
    .target(
      name: "SoraAV1",
      dependencies: ["SoraCodecs", "SoraAV1Encoding", "SoraAV1Decoding"],
      path: "Packages/SoraCodecs/Sources/SoraAV1",
      swiftSettings: settings),
    .target(name: "CSoraAllocationProbe", path: "Packages/SoraCodecs/Tests/CSoraAllocationProbe"),
    .target(
      name: "CodecTestSupport",
      dependencies: ["SoraMedia"],
      path: "Packages/SoraCodecs/Tests/CodecTestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "SoraVP9Tests",
      dependencies: [
        "SoraVP9",
        "SoraCodecs",
        "CodecTestSupport",
        "CSoraAllocationProbe",
        "SoraMedia",
      ],
      path: "Packages/SoraCodecs/Tests/SoraVP9Tests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraAV1Tests",
      dependencies: [
        "SoraAV1",
        "SoraAV1Encoding",
        "SoraAV1Decoding",
        "SoraCodecs",
        "CodecTestSupport",
        "CSoraAllocationProbe",
        "SoraMedia",
      ],
      path: "Packages/SoraCodecs/Tests/SoraAV1Tests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraVP8Tests",
      dependencies: ["SoraVP8", "SoraCodecs", "SoraMedia"],
      path: "Packages/SoraCodecs/Tests/SoraVP8Tests",
      swiftSettings: settings),
    // Packages/SoraMedia
    .target(
      name: "SoraMedia",
      path: "Packages/SoraMedia/Sources/SoraMedia",
      swiftSettings: settings),
    .target(
      name: "SoraClock",
      dependencies: ["SoraMedia"],
      path: "Packages/SoraMedia/Sources/SoraClock",
      swiftSettings: settings),
    .testTarget(
      name: "SoraMediaTests",
      dependencies: ["SoraMedia", "SoraClock"],
      path: "Packages/SoraMedia/Tests/SoraMediaTests",
      swiftSettings: settings),
    // Packages/SoraSDK
    .target(
      name: "SoraSDK",
      dependencies: [
        "SoraMedia",
        "SoraClock",
        "SoraTransport",
        "SoraSignaling",
        "WebRTC",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Packages/SoraSDK/Sources/SoraSDK",
      swiftSettings: settings),
    .target(
      name: "Sora",
      dependencies: ["SoraSDK"],
      path: "Packages/SoraSDK/Sources/Sora",
      swiftSettings: settings),
    .testTarget(
      name: "SoraSDKTests",
      dependencies: ["Sora", "SoraSDK", "SoraMedia", "SoraClock", "SoraSignaling", "WebRTC"],
      path: "Packages/SoraSDK/Tests/SoraSDKTests",
      swiftSettings: settings),
    // Packages/SoraServer
    .target(
      name: "SoraServer",
      dependencies: [
        "SoraMedia",
        "SoraClock",
        "SoraSignaling",
        "SoraSDP",
        "SoraRTP",
        "SoraICE",
        "SoraDTLS",
        "SoraSRTP",
        "SoraCongestion",
        "SoraTransport",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Packages/SoraServer/Sources/SoraServer",
      resources: [.embedInCode("Page/index.html"), .embedInCode("Page/sora.js")],
      swiftSettings: settings),
    .testTarget(
      name: "SoraServerTests",
      dependencies: [
        "SoraServer",
        "SoraMedia",
        "SoraClock",
        "SoraSignaling",
        "SoraSDP",
        "SoraRTP",
        "SoraICE",
        "SoraDTLS",
        "SoraTransport",
        "SoraNetworkSimulator",
        "CSoraMallocCount",
      ],
      path: "Packages/SoraServer/Tests/SoraServerTests",
      swiftSettings: settings),
    // Packages/SoraSignaling
    .target(
      name: "SoraSignaling",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Packages/SoraSignaling/Sources/SoraSignaling",
      swiftSettings: settings),
    .testTarget(
      name: "SoraSignalingTests",
      dependencies: [
        "SoraSignaling",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Packages/SoraSignaling/Tests/SoraSignalingTests",
      swiftSettings: settings),
    // Packages/SoraTransport
    .systemLibrary(
      name: "COpenSSL",
      path: "Packages/SoraTransport/Sources/COpenSSL",
      pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSRTP",
      path: "Packages/SoraTransport/Sources/CSRTP",
      pkgConfig: "libsrtp2",
      providers: [.apt(["libsrtp2-dev"])]),
    .target(
      name: "CSoraDTLS",
      dependencies: ["COpenSSL"],
      path: "Packages/SoraTransport/Sources/CSoraDTLS"),
    .target(name: "CSoraNetwork", path: "Packages/SoraTransport/Sources/CSoraNetwork"),
    .target(name: "CSoraMallocCount", path: "Packages/SoraTransport/Sources/CSoraMallocCount"),
    .target(
      name: "SoraSDP",
      dependencies: ["SoraMedia"],
      path: "Packages/SoraTransport/Sources/SoraSDP",
      swiftSettings: settings),
    .target(
      name: "SoraRTP",
      dependencies: ["SoraMedia"],
      path: "Packages/SoraTransport/Sources/SoraRTP",
      swiftSettings: settings),
    .target(
      name: "SoraICE",
      dependencies: ["SoraMedia", "COpenSSL"],
      path: "Packages/SoraTransport/Sources/SoraICE",
      swiftSettings: settings),
    .target(
      name: "SoraDTLS",
      dependencies: ["SoraMedia", "CSoraDTLS", "COpenSSL"],
      path: "Packages/SoraTransport/Sources/SoraDTLS",
      swiftSettings: settings),
    .target(
      name: "SoraSRTP",
      dependencies: ["SoraMedia", "CSRTP", "COpenSSL"],
      path: "Packages/SoraTransport/Sources/SoraSRTP",
      swiftSettings: settings),
    .target(
      name: "SoraCongestion",
      dependencies: ["SoraMedia"],
      path: "Packages/SoraTransport/Sources/SoraCongestion",
      swiftSettings: settings),
    .target(
      name: "SoraTransport",
      dependencies: [
        "SoraMedia",
        "SoraClock",
        "CSoraNetwork",
        "SoraRTP",
        "SoraICE",
        "SoraDTLS",
        "SoraSRTP",
        "SoraCongestion",
      ],
      path: "Packages/SoraTransport/Sources/SoraTransport",
      swiftSettings: settings),
    .target(
      name: "SoraNetworkSimulator",
      dependencies: ["SoraMedia", "SoraICE", "SoraDTLS", "SoraTransport"],
      path: "Packages/SoraTransport/Sources/SoraNetworkSimulator",
      swiftSettings: settings),
    .testTarget(
      name: "SoraSDPTests",
      dependencies: ["SoraSDP"],
      path: "Packages/SoraTransport/Tests/SoraSDPTests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraRTPTests",
      dependencies: ["SoraRTP", "SoraMedia"],
      path: "Packages/SoraTransport/Tests/SoraRTPTests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraICETests",
      dependencies: ["SoraICE", "SoraMedia"],
      path: "Packages/SoraTransport/Tests/SoraICETests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraDTLSTests",
      dependencies: ["SoraDTLS", "SoraMedia"],
      path: "Packages/SoraTransport/Tests/SoraDTLSTests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraSRTPTests",
      dependencies: ["SoraSRTP", "CSoraMallocCount", "SoraMedia"],
      path: "Packages/SoraTransport/Tests/SoraSRTPTests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraCongestionTests",
      dependencies: ["SoraCongestion", "SoraNetworkSimulator", "SoraICE", "SoraMedia"],
      path: "Packages/SoraTransport/Tests/SoraCongestionTests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraTransportTests",
      dependencies: [
        "SoraTransport",
        "SoraNetworkSimulator",
        "SoraICE",
        "SoraDTLS",
        "SoraRTP",
        "SoraCongestion",
        "CSoraMallocCount",
        "SoraMedia",
        "SoraClock",
      ],
      path: "Packages/SoraTransport/Tests/SoraTransportTests",
      swiftSettings: settings),
    .testTarget(
      name: "SoraNetworkSimulatorTests",
      dependencies: ["SoraNetworkSimulator", "SoraICE", "SoraDTLS", "SoraMedia"],
      path: "Packages/SoraTransport/Tests/SoraNetworkSimulatorTests",
      swiftSettings: settings),
    // Packages/SoraView
    .systemLibrary(
      name: "CZlib",
      path: "Packages/SoraView/Sources/CZlib",
      pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "SoraView",
      dependencies: ["SoraMedia", "CZlib"],
      path: "Packages/SoraView/Sources/SoraView",
      swiftSettings: settings),
    .testTarget(
      name: "SoraViewTests",
      dependencies: ["SoraView", "SoraMedia"],
      path: "Packages/SoraView/Tests/SoraViewTests",
      swiftSettings: settings),
    // Packages/SoraWebRTC
    .target(
      name: "WebRTC",
      dependencies: [
        "SoraMedia",
        "SoraClock",
        "SoraSDP",
        "SoraRTP",
        "SoraICE",
        "SoraDTLS",
        "SoraSRTP",
        "SoraCongestion",
        "SoraTransport",
        "SoraCodecs",
        "SoraVP8",
        "SoraAudio",
      ],
      path: "Packages/SoraWebRTC/Sources/WebRTC",
      swiftSettings: settings),
    .testTarget(
      name: "WebRTCTests",
      dependencies: [
        "WebRTC",
        "SoraMedia",
        "SoraClock",
        "SoraSDP",
        "SoraTransport",
        "SoraNetworkSimulator",
        "SoraICE",
        "SoraDTLS",
        "SoraRTP",
        "SoraCapture",
        "SoraAudio",
      ],
      path: "Packages/SoraWebRTC/Tests/WebRTCTests",
      swiftSettings: settings),
    // The root's own
    .target(
      name: "SoraCommandSupport",
      dependencies: ["SoraMedia", "SoraClock", "SoraCapture", "SoraView", "SoraAudio"],
      path: "Tools/sora/Support",
      swiftSettings: settings),
    .executableTarget(
      name: "SoraCommand",
      dependencies: [
        "SoraCommandSupport",
        "SoraSDK",
        "SoraServer",
        "SoraSignaling",
        "SoraCodecs",
        "SoraICE",
        "SoraMedia",
        "SoraClock",
        "WebRTC",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tools/sora/Command",
      swiftSettings: settings),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "SoraCommand",
        "SoraCommandSupport",
        "SoraMedia",
        "SoraClock",
        "SoraCapture",
        "SoraAudio",
      ],
      path: "Tests/CommandTests",
      swiftSettings: settings),
    .testTarget(
      name: "InteropTests",
      dependencies: ["SoraCommand", "InteropClient"],
      path: "Tests/InteropTests",
      exclude: ["Peers", "Support"],
      swiftSettings: settings),
    .executableTarget(
      name: "InteropClient",
      dependencies: ["SoraCommandSupport", "SoraSDK", "SoraMedia", "SoraClock", "WebRTC"],
      path: "Tests/InteropClient",
      swiftSettings: settings),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "SoraMedia",
        "SoraClock",
        "SoraICE",
        "SoraRTP",
        "SoraSDP",
        "SoraTransport",
        "SoraNetworkSimulator",
        "SoraDTLS",
        "WebRTC",
        "SoraServer",
      ],
      path: "Tests/SimulationTests",
      swiftSettings: settings),
  ]
)
