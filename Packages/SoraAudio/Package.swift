// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

/// For modules that read and write memory through spans: the compiler names everything else.
let safe: [SwiftSetting] =
  settings + [.strictMemorySafety(), .enableExperimentalFeature("Lifetimes")]

let media: Target.Dependency = .product(name: "SoraMedia", package: "SoraMedia")

let package = Package(
  name: "SoraAudio",
  products: [
    .library(name: "SoraAudio", targets: ["SoraAudio"]),
    .library(name: "SoraAudioDevices", targets: ["SoraAudioDevices"]),
    .library(name: "SoraAudioProcessing", targets: ["SoraAudioProcessing"]),
  ],
  dependencies: [
    .package(path: "../SoraMedia")
  ],
  targets: [
    .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
    .target(name: "CSoraOpus", dependencies: ["COpus"]),
    .target(
      name: "SoraAudio",
      dependencies: [
        media, .product(name: "SoraWire", package: "SoraMedia"), "CSoraOpus", "COpus",
      ],
      swiftSettings: safe),
    // PulseAudio's and ALSA's headers; the libraries are loaded when they are used.
    .target(name: "CSoraSound"),
    .target(
      name: "SoraAudioDevices",
      dependencies: [
        "SoraAudio", "CSoraSound", media, .product(name: "SoraClock", package: "SoraMedia"),
      ],
      swiftSettings: safe),
    // A sound server of a test's own.
    .target(
      name: "SoundServer", dependencies: ["SoraAudioDevices", media], path: "Tests/SoundServer",
      swiftSettings: settings),
    .testTarget(
      name: "SoraAudioDevicesTests",
      dependencies: [
        "SoraAudioDevices", "SoraAudio", "SoundServer", media,
        .product(name: "SoraClock", package: "SoraMedia"),
      ],
      swiftSettings: settings),
    // Headers alone, likewise.
    .target(
      name: "CSoraAudioProcessing",
      cxxSettings: [
        .headerSearchPath("."), .define("WEBRTC_POSIX"),
        .define("WEBRTC_AUDIO_PROCESSING_ONLY_BUILD"),
      ]),
    .target(
      name: "SoraAudioProcessing", dependencies: ["CSoraAudioProcessing", media],
      swiftSettings: safe),
    .testTarget(
      name: "SoraAudioProcessingTests", dependencies: ["SoraAudioProcessing", media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraAudioTests",
      dependencies: [
        "SoraAudio", "COpus", media,
        .product(name: "CSoraMallocCount", package: "SoraMedia"),
      ],
      swiftSettings: settings),
  ]
)
