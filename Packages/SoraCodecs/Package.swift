// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

/// Libraries under the GPL as Debian builds them: x264, x265, and libavcodec, which is linked with both.
let gpl: TargetDependencyCondition? = .when(traits: ["GPL"])

let media: Target.Dependency = .product(name: "SoraMedia", package: "SoraMedia")
let wire: Target.Dependency = .product(name: "SoraWire", package: "SoraMedia")
let mallocs: Target.Dependency = .product(name: "CSoraMallocCount", package: "SoraMedia")

/// For what uses memory by hand; the test targets make their pictures that way, too.
let strict = settings + [.strictMemorySafety()]

/// For parsers, which read memory through spans alone.
let safe = strict + [.enableExperimentalFeature("Lifetimes")]

let package = Package(
  name: "SoraCodecs",
  products: [
    .library(name: "SoraCodecs", targets: ["SoraCodecs"]),
    .library(name: "SoraScaling", targets: ["SoraScaling"]),
    .library(name: "SoraSimulcast", targets: ["SoraSimulcast"]),
    .library(name: "SoraVP8", targets: ["SoraVP8"]),
    .library(name: "SoraVP9", targets: ["SoraVP9"]),
    .library(name: "SoraAV1", targets: ["SoraAV1"]),
    .library(name: "SoraAV1Encoding", targets: ["SoraAV1Encoding"]),
    .library(name: "SoraAV1Decoding", targets: ["SoraAV1Decoding"]),
    .library(name: "SoraNAL", targets: ["SoraNAL"]),
    .library(name: "SoraH264", targets: ["SoraH264"]),
    .library(name: "SoraOpenH264", targets: ["SoraOpenH264"]),
    .library(name: "SoraX264", targets: ["SoraX264"]),
    .library(name: "SoraH265", targets: ["SoraH265"]),
    .library(name: "SoraDE265", targets: ["SoraDE265"]),
    .library(name: "SoraX265", targets: ["SoraX265"]),
    .library(name: "SoraAVCodec", targets: ["SoraAVCodec"]),
  ],
  traits: [
    .default(enabledTraits: ["GPL"]),
    .trait(
      name: "GPL",
      description: "x264, x265 and libavcodec, which put an app under the GPL."),
  ],
  dependencies: [.package(path: "../SoraMedia")],
  targets: [
    // Libraries of codecs are loaded when they are used first, and not linked: these are their headers, without pkg-config's flags.
    .target(name: "CSoraLazy"),
    .systemLibrary(name: "CVPX", providers: [.apt(["libvpx-dev"])]),
    .target(name: "CSoraVPX", dependencies: ["CVPX", "CSoraLazy"]),
    .target(name: "SoraCodecs", dependencies: [media], swiftSettings: strict),
    // libyuv has no pkg-config file.
    .target(
      name: "SoraScaling",
      dependencies: [media, "SoraCodecs", .product(name: "CYUV", package: "SoraMedia")],
      swiftSettings: strict),
    .target(
      name: "SoraSimulcast", dependencies: [media, "SoraCodecs", "SoraScaling"],
      swiftSettings: strict),
    .target(
      name: "SoraVPX", dependencies: ["SoraCodecs", "CSoraVPX", "CVPX"], swiftSettings: strict),
    .target(
      name: "SoraVP8", dependencies: [media, "SoraCodecs", "SoraVPX", "CSoraVPX", "CVPX"],
      swiftSettings: strict),
    .target(
      name: "SoraVP9", dependencies: [media, "SoraCodecs", "SoraVPX", "CSoraVPX", "CVPX"],
      swiftSettings: strict),
    .systemLibrary(name: "CAOM", providers: [.apt(["libaom-dev"])]),
    .systemLibrary(name: "CDAV1D", providers: [.apt(["libdav1d-dev"])]),
    .target(name: "CSoraDAV1D", dependencies: ["CDAV1D", "CSoraLazy"]),
    .target(name: "CSoraAOM", dependencies: ["CAOM", "CSoraLazy"]),
    .target(
      name: "SoraAV1Encoding", dependencies: [media, "SoraCodecs", "CSoraAOM", "CAOM"],
      swiftSettings: strict),
    .target(
      name: "SoraAV1Decoding", dependencies: [media, "SoraCodecs", "CSoraDAV1D", "CDAV1D"],
      swiftSettings: strict),
    .target(
      name: "SoraAV1", dependencies: ["SoraCodecs", "SoraAV1Encoding", "SoraAV1Decoding"],
      swiftSettings: strict),
    // H.264 and H.265: a module a library, a module a codec that puts them together, and what both know of NAL units.
    .target(name: "SoraNAL", dependencies: [media, wire, "SoraCodecs"], swiftSettings: safe),
    .systemLibrary(
      name: "COpenH264", providers: [.apt(["libopenh264-dev"])]),
    .target(name: "CSoraOpenH264", dependencies: ["COpenH264", "CSoraLazy"]),
    .target(
      name: "SoraOpenH264", dependencies: [media, wire, "SoraCodecs", "SoraNAL", "CSoraOpenH264"],
      swiftSettings: strict),
    .systemLibrary(name: "CX264", providers: [.apt(["libx264-dev"])]),
    .target(
      name: "CSoraX264", dependencies: ["CX264", "CSoraLazy"]),
    .target(
      name: "SoraX264", dependencies: [media, "SoraCodecs", "SoraNAL", "CSoraX264", "CX264"],
      swiftSettings: strict),
    .systemLibrary(
      name: "CAVCodec", providers: [.apt(["libavcodec-dev"])]),
    .target(name: "CSoraAVCodec", dependencies: ["CAVCodec", "CSoraLazy"]),
    .target(
      name: "SoraAVCodec",
      dependencies: [media, wire, "SoraCodecs", "SoraNAL", "CSoraAVCodec", "CAVCodec"],
      swiftSettings: strict),
    .target(
      name: "SoraH264",
      dependencies: [
        "SoraCodecs", "SoraOpenH264", .target(name: "SoraX264", condition: gpl),
        .target(name: "SoraAVCodec", condition: gpl),
      ],
      swiftSettings: strict),
    .systemLibrary(name: "CDE265", providers: [.apt(["libde265-dev"])]),
    .target(name: "CSoraDE265", dependencies: ["CDE265", "CSoraLazy"]),
    .target(
      name: "SoraDE265",
      dependencies: [media, wire, "SoraCodecs", "SoraNAL", "CSoraDE265", "CDE265"],
      swiftSettings: strict),
    .systemLibrary(name: "CX265", providers: [.apt(["libx265-dev"])]),
    .target(name: "CSoraX265", dependencies: ["CX265", "CSoraLazy"]),
    .target(
      name: "SoraX265", dependencies: [media, "SoraCodecs", "SoraNAL", "CSoraX265", "CX265"],
      swiftSettings: strict),
    .target(
      name: "SoraH265",
      dependencies: [
        "SoraCodecs", "SoraDE265", .target(name: "SoraX265", condition: gpl),
        .target(name: "SoraAVCodec", condition: gpl),
      ],
      swiftSettings: strict),
    // Only for tests: pictures, files and tools.
    .target(
      name: "CodecTestSupport", dependencies: [media, "SoraCodecs"], path: "Tests/CodecTestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "SoraScalingTests",
      dependencies: [
        "SoraScaling", "SoraCodecs", "CodecTestSupport", mallocs, media,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraSimulcastTests",
      dependencies: [
        "SoraSimulcast", "SoraScaling", "SoraVP8", "SoraCodecs", "CodecTestSupport", media,
      ],
      swiftSettings: settings),
    // What every codec must do, for all of them; the targets below have what is one codec's own.
    .testTarget(
      name: "SoraCodecsTests",
      dependencies: [
        "SoraCodecs", "SoraVP8", "SoraVP9", "SoraAV1", "SoraH264", "SoraOpenH264", "SoraX264",
        "SoraH265", "SoraX265", "SoraAVCodec", "SoraNAL", "CodecTestSupport",
        mallocs, media,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraVPXTests",
      dependencies: [
        "SoraVPX", "SoraVP8", "SoraVP9", "SoraCodecs", "CSoraVPX", "CVPX", "CodecTestSupport",
        mallocs, media,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraVP9Tests", dependencies: ["SoraVP9", "SoraCodecs", "CodecTestSupport", media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraAV1Tests",
      dependencies: [
        "SoraAV1", "SoraAV1Encoding", "SoraAV1Decoding", "SoraCodecs", "CodecTestSupport", media,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraVP8Tests", dependencies: ["SoraVP8", "SoraCodecs", "CodecTestSupport", media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraH264Tests",
      dependencies: [
        "SoraH264", "SoraOpenH264", "SoraX264", "SoraAVCodec", "SoraNAL", "SoraCodecs",
        "CodecTestSupport", media, wire,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraH265Tests",
      dependencies: [
        "SoraH265", "SoraDE265", "SoraX265", "SoraAVCodec", "SoraNAL", "SoraCodecs",
        "CodecTestSupport", media, wire,
      ],
      swiftSettings: settings),
  ]
)
