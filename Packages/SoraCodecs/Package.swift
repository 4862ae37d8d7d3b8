// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

let media: Target.Dependency = .product(name: "SoraMedia", package: "SoraMedia")

let package = Package(
  name: "SoraCodecs",
  products: [
    .library(name: "SoraCodecs", targets: ["SoraCodecs"]),
    .library(name: "SoraVP8", targets: ["SoraVP8"]),
    .library(name: "SoraVP9", targets: ["SoraVP9"]),
    .library(name: "SoraAV1", targets: ["SoraAV1"]),
    .library(name: "SoraAV1Encoding", targets: ["SoraAV1Encoding"]),
    .library(name: "SoraAV1Decoding", targets: ["SoraAV1Decoding"]),
  ],
  dependencies: [.package(path: "../SoraMedia")],
  targets: [
    .systemLibrary(name: "CVPX", pkgConfig: "vpx", providers: [.apt(["libvpx-dev"])]),
    .target(name: "CSoraVPX", dependencies: ["CVPX"]),
    .target(name: "SoraCodecs", dependencies: [media], swiftSettings: settings),
    .target(
      name: "SoraVP8", dependencies: [media, "SoraCodecs", "CSoraVPX"], swiftSettings: settings),
    .target(
      name: "SoraVP9", dependencies: [media, "SoraCodecs", "CSoraVPX", "CVPX"],
      swiftSettings: settings),
    .systemLibrary(name: "CAOM", pkgConfig: "aom", providers: [.apt(["libaom-dev"])]),
    .systemLibrary(name: "CDAV1D", pkgConfig: "dav1d", providers: [.apt(["libdav1d-dev"])]),
    .target(name: "CSoraAOM", dependencies: ["CAOM"]),
    .target(
      name: "SoraAV1Encoding", dependencies: [media, "SoraCodecs", "CSoraAOM", "CAOM"],
      swiftSettings: settings),
    .target(
      name: "SoraAV1Decoding", dependencies: [media, "SoraCodecs", "CDAV1D"],
      swiftSettings: settings),
    .target(
      name: "SoraAV1", dependencies: ["SoraCodecs", "SoraAV1Encoding", "SoraAV1Decoding"],
      swiftSettings: settings),
    // Only for tests: pictures, files and tools, and a count of a thread's allocations.
    .target(name: "CSoraAllocationProbe", path: "Tests/CSoraAllocationProbe"),
    .target(
      name: "CodecTestSupport", dependencies: [media], path: "Tests/CodecTestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "SoraVP9Tests",
      dependencies: ["SoraVP9", "SoraCodecs", "CodecTestSupport", "CSoraAllocationProbe", media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraAV1Tests",
      dependencies: [
        "SoraAV1", "SoraAV1Encoding", "SoraAV1Decoding", "SoraCodecs", "CodecTestSupport",
        "CSoraAllocationProbe", media,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraVP8Tests", dependencies: ["SoraVP8", "SoraCodecs", media], swiftSettings: settings),
  ]
)
