// swift-tools-version: 6.2
import PackageDescription

// In place of the path, an app names the repository's URL.
let sora: [Target.Dependency] = [
  .product(name: "Sora", package: "sora-swift"),
  .product(name: "SoraCapture", package: "sora-swift"),
]

let names = [
  "Connect", "Multistream", "Simulcast", "Spotlight", "Messaging", "Metadata", "MuteByConnectionId",
  "Volume", "ForwardingFilter", "ThroughProxy", "SeveralURLs", "Degradation", "Reconnection",
]

let package = Package(
  name: "examples",
  dependencies: [.package(name: "sora-swift", path: "../..")],
  // Those compile in mode 5 as well.
  targets: names.map { .executableTarget(name: $0, dependencies: sora, path: $0) } + [
    .executableTarget(
      name: "AppClass", dependencies: sora, path: "AppClass",
      swiftSettings: [.swiftLanguageMode(.v5)])
  ]
)
