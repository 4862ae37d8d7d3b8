import ArgumentParser
import Foundation
import SoraCodecs
import SoraCommandSupport
import WebRTC

/// `sora codecs`: the video codecs of this build, in order of preference.
struct CodecsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "codecs", abstract: "List the video codecs of this build, the preferred first.")

  @Flag(help: "Print one JSON object a codec's implementation.")
  var json = false

  /// One implementation of one codec.
  private struct Row: Encodable {
    var codec: String
    var implementation: String
    var encodes: Bool
    var decodes: Bool
    var isHardware: Bool
    var profiles: [String]
    var scalabilityModes: [String]

    init(_ capability: VideoCodecCapability) {
      codec = capability.kind.encodingName
      implementation = capability.implementation
      encodes = capability.canEncode
      decodes = capability.canDecode
      isHardware = capability.isHardware
      profiles = capability.profiles
      scalabilityModes = capability.scalabilityModes.map(\.description)
    }

    var columns: [String] {
      let ways = [encodes ? "encode" : nil, decodes ? "decode" : nil].compactMap { $0 }
      return [
        codec, implementation, ways.joined(separator: "+"), profiles.joined(separator: " "),
        scalabilityModes.joined(separator: " "),
      ]
    }
  }

  func run() throws {
    let rows = RTCPeerConnectionFactory().videoCodecs.capabilities.map(Row.init)
    let console = Console(isJSON: json)
    if json {
      for row in rows { console.output(row.jsonLine) }
      return try console.checkOutput()
    }
    let lines =
      [["codec", "library", "ways", "profiles", "scalability modes"]] + rows.map(\.columns)
    let widths = (0..<4).map { column in lines.map { $0[column].count }.max() ?? 0 }
    for line in lines {
      let padded = zip(line, widths).map { text, width in
        text.padding(toLength: width, withPad: " ", startingAt: 0)
      }
      console.output(
        (padded + line.dropFirst(4)).joined(separator: "  ").trimmingCharacters(in: .whitespaces))
    }
    try console.checkOutput()
  }
}
