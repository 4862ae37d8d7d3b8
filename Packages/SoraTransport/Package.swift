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

/// For modules that read and write memory through spans.
let safe = strict + [.enableExperimentalFeature("Lifetimes")]

let media: Target.Dependency = .product(name: "SoraMedia", package: "SoraMedia")
let wire: Target.Dependency = .product(name: "SoraWire", package: "SoraMedia")
let clock: Target.Dependency = .product(name: "SoraClock", package: "SoraMedia")
let mallocs: Target.Dependency = .product(name: "CSoraMallocCount", package: "SoraMedia")

let package = Package(
  name: "SoraTransport",
  products: [
    .library(name: "SoraDigest", targets: ["SoraDigest"]),
    .library(name: "SoraSDP", targets: ["SoraSDP"]),
    .library(name: "SoraRTP", targets: ["SoraRTP"]),
    .library(name: "SoraICE", targets: ["SoraICE"]),
    .library(name: "SoraDTLS", targets: ["SoraDTLS"]),
    .library(name: "SoraSRTP", targets: ["SoraSRTP"]),
    .library(name: "SoraCongestion", targets: ["SoraCongestion"]),
    .library(name: "SoraSCTP", targets: ["SoraSCTP"]),
    .library(name: "SoraDataChannel", targets: ["SoraDataChannel"]),
    .library(name: "SoraTransport", targets: ["SoraTransport"]),
    .library(name: "SoraNetworkSimulator", targets: ["SoraNetworkSimulator"]),
    // For the scorecard, which has more of the same than the tests.
    .library(name: "CongestionScenarios", targets: ["CongestionScenarios"]),
  ],
  dependencies: [.package(path: "../SoraMedia")],
  targets: [
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
    .target(name: "CSoraOpenSSL", dependencies: ["COpenSSL"]),
    .target(name: "CSoraDTLS", dependencies: ["CSoraOpenSSL", "COpenSSL"]),
    .target(name: "CSoraNetwork"),
    // Only for tests and benchmarks: usrsctp, loaded at run time, in virtual time.
    .target(name: "CSoraUsrsctp"),
    .target(name: "SoraSDP", dependencies: [media, wire], swiftSettings: safe),
    .target(name: "SoraRTP", dependencies: [media, wire], swiftSettings: safe),
    .target(
      name: "SoraDigest", dependencies: ["CSoraOpenSSL", "COpenSSL"], swiftSettings: strict),
    .target(
      name: "SoraICE", dependencies: [media, wire, "SoraDigest", "CSoraOpenSSL", "COpenSSL"],
      swiftSettings: safe),
    .target(
      name: "SoraDTLS", dependencies: [media, wire, "SoraDigest", "CSoraDTLS", "COpenSSL"],
      swiftSettings: safe),
    .target(
      name: "SoraSRTP",
      dependencies: [media, "SoraDigest", "CSRTP", "CSoraOpenSSL", "COpenSSL"],
      swiftSettings: strict),
    .target(name: "SoraCongestion", dependencies: [media, wire], swiftSettings: strict),
    .target(name: "CSoraCRC32C"),
    .target(name: "SoraSCTP", dependencies: [media, wire, "CSoraCRC32C"], swiftSettings: safe),
    .target(
      name: "SoraDataChannel", dependencies: [media, wire, "SoraSCTP"], swiftSettings: safe),
    .target(
      name: "SoraTransport",
      dependencies: [
        media, wire, clock, "CSoraNetwork", "SoraRTP", "SoraICE", "SoraDTLS", "SoraSRTP",
        "SoraCongestion", "SoraSCTP", "SoraDataChannel",
      ],
      swiftSettings: strict),
    .target(
      name: "SoraNetworkSimulator",
      dependencies: [media, wire, "SoraRTP", "SoraICE", "SoraDTLS", "SoraTransport"],
      swiftSettings: strict),
    .testTarget(name: "SoraDigestTests", dependencies: ["SoraDigest"], swiftSettings: settings),
    .testTarget(name: "SoraSDPTests", dependencies: ["SoraSDP", media], swiftSettings: settings),
    .testTarget(
      name: "SoraRTPTests", dependencies: ["SoraRTP", wire, media], swiftSettings: settings),
    .testTarget(
      name: "SoraICETests", dependencies: ["SoraICE", wire, media], swiftSettings: settings),
    .testTarget(
      name: "SoraDTLSTests", dependencies: ["SoraDTLS", wire, media], swiftSettings: settings),
    .testTarget(
      name: "SoraSRTPTests", dependencies: ["SoraSRTP", mallocs, media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraCongestionTests",
      dependencies: ["SoraCongestion", "SoraNetworkSimulator", "SoraICE", wire, media],
      swiftSettings: settings),
    .target(
      name: "CongestionScenarios",
      dependencies: [
        "SoraNetworkSimulator", "SoraTransport", "SoraRTP", "SoraCongestion", wire, media,
      ],
      path: "Tests/CongestionScenarios", swiftSettings: settings),
    .testTarget(
      name: "CongestionScenariosTests",
      dependencies: ["CongestionScenarios", "SoraNetworkSimulator", media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraSCTPTests", dependencies: ["SoraSCTP", mallocs, wire, media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraSCTPInteropTests", dependencies: ["SoraSCTP", "CSoraUsrsctp", media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraDataChannelTests",
      dependencies: ["SoraDataChannel", "SoraSCTP", mallocs, wire, media],
      swiftSettings: settings),
    .testTarget(
      name: "SoraTransportTests",
      dependencies: [
        "SoraTransport", "SoraNetworkSimulator", "SoraICE", "SoraDTLS", "SoraRTP", "SoraCongestion",
        "SoraDataChannel", mallocs, media, wire, clock,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SoraNetworkSimulatorTests",
      dependencies: [
        "SoraNetworkSimulator", "SoraTransport", "SoraRTP", "SoraICE", "SoraDTLS", wire, media,
      ],
      swiftSettings: settings),
  ]
)
