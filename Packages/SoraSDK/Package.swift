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

/// For code as it comes from iOS: in Swift 5's mode, or in Swift 6's, without what this repository asks of itself.
func ported(_ mode: SwiftLanguageMode) -> [SwiftSetting] {
  [.swiftLanguageMode(mode), .treatAllWarnings(as: .error)]
}

let package = Package(
  name: "SoraSDK",
  products: [
    .library(name: "SoraSDK", targets: ["SoraSDK"]),
    .library(name: "Sora", targets: ["Sora"]),
  ],
  traits: [
    .default(enabledTraits: ["GPL"]),
    .trait(
      name: "GPL",
      description: "x264, x265 and libavcodec, which put an app under the GPL."),
  ],
  dependencies: [
    .package(path: "../SoraMedia"),
    .package(path: "../SoraCapture"),
    .package(path: "../SoraRecording"),
    .package(path: "../SoraAudio"),
    .package(path: "../SoraView"),
    .package(path: "../SoraTransport"),
    .package(path: "../SoraSignaling"),
    .package(path: "../SoraTURNStream"),
    .package(
      path: "../SoraWebRTC", traits: [.trait(name: "GPL", condition: .when(traits: ["GPL"]))]),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .target(
      name: "SoraSDK",
      dependencies: [
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "SoraVersion", package: "SoraMedia"),
        .product(name: "SoraWire", package: "SoraMedia"),
        .product(name: "SoraCamera", package: "SoraCapture"),
        .product(name: "SoraScreen", package: "SoraCapture"),
        .product(name: "SoraRecording", package: "SoraRecording"),
        .product(name: "SoraAudio", package: "SoraAudio"),
        .product(name: "SoraAudioDevices", package: "SoraAudio"),
        .product(name: "SoraAudioProcessing", package: "SoraAudio"),
        .product(name: "SoraView", package: "SoraView"),
        .product(name: "SoraTransport", package: "SoraTransport"),
        .product(name: "SoraCongestion", package: "SoraTransport"),
        .product(name: "SoraDTLS", package: "SoraTransport"),
        .product(name: "SoraSignaling", package: "SoraSignaling"),
        .product(name: "SoraSignalingChannels", package: "SoraSignaling"),
        .product(name: "SoraTURNStream", package: "SoraTURNStream"),
        .product(name: "WebRTC", package: "SoraWebRTC"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .target(name: "Sora", dependencies: ["SoraSDK"], swiftSettings: strict),
    // One file, an iOS developer's words, in both modes of the language.
    .target(
      name: "PortedSwift5", dependencies: ["SoraSDK"], path: "Tests/PortedSwift5",
      swiftSettings: ported(.v5)),
    .target(
      name: "PortedSwift6", dependencies: ["SoraSDK"], path: "Tests/PortedSwift6",
      swiftSettings: ported(.v6)),
    .testTarget(
      name: "SoraSDKTests",
      dependencies: [
        "Sora", "SoraSDK", "PortedSwift5", "PortedSwift6",
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "CSoraMallocCount", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "SoraVersion", package: "SoraMedia"),
        .product(name: "SoraCamera", package: "SoraCapture"),
        .product(name: "SoraAudio", package: "SoraAudio"),
        .product(name: "SoraAudioDevices", package: "SoraAudio"),
        .product(name: "SoraAudioProcessing", package: "SoraAudio"),
        .product(name: "SoraTransport", package: "SoraTransport"),
        .product(name: "SoraCongestion", package: "SoraTransport"),
        .product(name: "SoraDTLS", package: "SoraTransport"),
        .product(name: "SoraRecording", package: "SoraRecording"),
        .product(name: "SoraSignaling", package: "SoraSignaling"),
        .product(name: "SignalingTestSupport", package: "SoraSignaling"),
        .product(name: "SoraSignalingChannels", package: "SoraSignaling"),
        .product(name: "WebRTC", package: "SoraWebRTC"),
      ],
      swiftSettings: settings),
  ]
)
