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

/// For parsers, which read memory through spans alone.
let safe = strict + [.enableExperimentalFeature("Lifetimes")]

let media: Target.Dependency = .product(name: "SoraMedia", package: "SoraMedia")

let package = Package(
  name: "SoraRecording",
  products: [.library(name: "SoraRecording", targets: ["SoraRecording"])],
  dependencies: [
    .package(path: "../SoraMedia"),
    .package(path: "../SoraCodecs"),
    .package(path: "../SoraCapture"),
  ],
  targets: [
    // Compiled with the headers of libavformat-dev and linked with nothing: the library is loaded when a file is opened.
    .target(name: "CSoraAVFormat"),
    .target(
      name: "SoraRecording",
      dependencies: [
        media, "CSoraAVFormat", .product(name: "SoraWire", package: "SoraMedia"),
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "SoraNAL", package: "SoraCodecs"),
      ],
      swiftSettings: safe),
    // Writes a file until it is killed.
    .executableTarget(
      name: "RecordingVictim",
      dependencies: ["SoraRecording", media, .product(name: "SoraClock", package: "SoraMedia")],
      path: "Tests/RecordingVictim", swiftSettings: settings),
    .testTarget(
      name: "SoraRecordingTests",
      dependencies: [
        "SoraRecording", "RecordingVictim", media,
        .product(name: "SoraClock", package: "SoraMedia"),
        .product(name: "SoraCodecs", package: "SoraCodecs"),
        .product(name: "SoraVP8", package: "SoraCodecs"),
        .product(name: "SoraVP9", package: "SoraCodecs"),
        .product(name: "SoraAV1", package: "SoraCodecs"),
        .product(name: "SoraOpenH264", package: "SoraCodecs"),
        .product(name: "SoraAVCodec", package: "SoraCodecs"),
        .product(name: "SoraX265", package: "SoraCodecs"),
        .product(name: "SoraCapture", package: "SoraCapture"),
      ],
      swiftSettings: settings),
  ]
)
