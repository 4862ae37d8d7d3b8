// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "CodecBenchmarks",
  dependencies: [
    .package(path: "../../Packages/SoraMedia"),
    .package(path: "../../Packages/SoraCodecs"),
    .package(path: "../../Packages/SoraCapture"),
    .package(path: "../../Packages/SoraAudio"),
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "CodecBenchmarks",
      dependencies: [
        .product(name: "Benchmark", package: "benchmark"),
        .product(name: "SoraMedia", package: "SoraMedia"),
        .product(name: "SoraCodecs", package: "SoraCodecs"),
        .product(name: "SoraVP8", package: "SoraCodecs"),
        .product(name: "SoraVP9", package: "SoraCodecs"),
        .product(name: "SoraAV1", package: "SoraCodecs"),
        .product(name: "SoraH264", package: "SoraCodecs"),
        .product(name: "SoraH265", package: "SoraCodecs"),
        .product(name: "CSoraMallocCount", package: "SoraMedia"),
        .product(name: "SoraCapture", package: "SoraCapture"),
        .product(name: "SoraAudio", package: "SoraAudio"),
      ],
      path: "Benchmarks/CodecBenchmarks",
      swiftSettings: settings,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
  ]
)
