// swift-tools-version: 6.2
import PackageDescription

// Not part of the root's build: everything here, the packages included, is built with coverage instrumentation and
// with the address sanitizer. `run.sh` gives the options.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

func product(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package)
}

let transport = [
  "SoraSDP", "SoraRTP", "SoraICE", "SoraDTLS", "SoraSRTP", "SoraSCTP", "SoraDataChannel",
  "SoraCongestion",
  "SoraTransport", "SoraNetworkSimulator",
].map { product($0, "SoraTransport") }

let package = Package(
  name: "Fuzz",
  dependencies: [
    .package(path: "../../Packages/SoraMedia"),
    .package(path: "../../Packages/SoraTransport"),
    .package(path: "../../Packages/SoraCodecs"),
    .package(path: "../../Packages/SoraAudio"),
    .package(path: "../../Packages/SoraCapture"),
    .package(path: "../../Packages/SoraRecording"),
    .package(path: "../../Packages/SoraWebRTC"),
  ],
  targets: [
    .target(name: "FuzzerEntry"),
    // What reads text in SoraSignaling's package, by symbolic links: without the parts that need SwiftNIO, whose
    // instrumented build would take longer than all of the rest.
    .target(
      name: "SoraSignalingMessages", path: "Linked/SoraSignalingMessages", swiftSettings: settings),
    .target(
      name: "SoraSignaling", dependencies: ["SoraSignalingMessages"], path: "Linked/SoraSignaling",
      swiftSettings: settings),
    // The same of the command, which needs a parser of arguments and all of the SDK.
    .target(
      name: "SoraCommandSupport", path: "Linked/SoraCommandSupport", swiftSettings: settings),
    .executableTarget(
      name: "Fuzz",
      dependencies: transport + [
        "FuzzerEntry", "SoraSignaling", "SoraCommandSupport",
        product("SoraMedia", "SoraMedia"), product("SoraWire", "SoraMedia"),
        product("SoraCodecs", "SoraCodecs"), product("SoraVP8", "SoraCodecs"),
        product("SoraVP9", "SoraCodecs"), product("SoraAV1", "SoraCodecs"),
        product("SoraNAL", "SoraCodecs"), product("SoraOpenH264", "SoraCodecs"),
        product("SoraDE265", "SoraCodecs"), product("SoraAVCodec", "SoraCodecs"),
        product("SoraAudio", "SoraAudio"),
        product("SoraCapture", "SoraCapture"),
        product("SoraRecording", "SoraRecording"),
        product("WebRTC", "SoraWebRTC"),
      ],
      swiftSettings: settings),
  ]
)
