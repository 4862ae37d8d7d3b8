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

func transport(_ name: String) -> Target.Dependency {
  .product(name: name, package: "SoraTransport")
}

let package = Package(
  name: "SoraWebRTC",
  products: [.library(name: "WebRTC", targets: ["WebRTC"])],
  traits: [
    .default(enabledTraits: ["GPL"]),
    .trait(
      name: "GPL",
      description: "x264, x265 and libavcodec, which put an app under the GPL."),
  ],
  dependencies: [
    .package(path: "../SoraMedia"),
    .package(path: "../SoraTransport"),
    .package(
      path: "../SoraCodecs", traits: [.trait(name: "GPL", condition: .when(traits: ["GPL"]))]),
    .package(path: "../SoraAudio"),
    .package(path: "../SoraCapture"),
    .package(path: "../SoraRecording"),
  ],
  targets: [
    .target(
      name: "WebRTC",
      dependencies: [
        media, clock, .product(name: "SoraWire", package: "SoraMedia"),
        .product(name: "SoraCamera", package: "SoraCapture"), transport("SoraSDP"),
        transport("SoraRTP"), transport("SoraICE"), transport("SoraDTLS"), transport("SoraSRTP"),
        transport("SoraCongestion"), transport("SoraTransport"),
        transport("SoraDataChannel"), transport("SoraSCTP"),
        .product(name: "SoraCodecs", package: "SoraCodecs"),
        .product(name: "SoraNAL", package: "SoraCodecs"),
        .product(name: "SoraSimulcast", package: "SoraCodecs"),
        .product(name: "SoraVP8", package: "SoraCodecs"),
        .product(name: "SoraVP9", package: "SoraCodecs"),
        .product(name: "SoraAV1", package: "SoraCodecs"),
        .product(name: "SoraH264", package: "SoraCodecs"),
        .product(name: "SoraH265", package: "SoraCodecs"),
        .product(name: "SoraAudio", package: "SoraAudio"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "WebRTCTests",
      dependencies: [
        "WebRTC", media, clock, transport("SoraSDP"), transport("SoraTransport"),
        transport("SoraNetworkSimulator"), transport("SoraICE"), transport("SoraDTLS"),
        transport("SoraSRTP"), transport("SoraRTP"), transport("SoraCongestion"),
        // Counting allocations.
        .product(name: "CSoraMallocCount", package: "SoraMedia"),
        .product(name: "SoraWire", package: "SoraMedia"),
        .product(name: "SoraCapture", package: "SoraCapture"),
        .product(name: "SoraCamera", package: "SoraCapture"),
        .product(name: "SoraCodecs", package: "SoraCodecs"),
        .product(name: "SoraSimulcast", package: "SoraCodecs"),
        .product(name: "SoraAudio", package: "SoraAudio"),
        .product(name: "SoraRecording", package: "SoraRecording"),
      ],
      swiftSettings: settings),
  ]
)
