import Foundation
import Testing

/// What an app with `SoraSDK` loads: libraries of codecs, sound, windows and screens come with their first use, and else never.
@Suite(.timeLimit(.minutes(3))) struct LoadingTests {
  /// A codec, who encodes it and who decodes it.
  struct Codec: CustomStringConvertible, Sendable {
    let description: String
    let encoder: String
    let decoder: String
  }

  static let codecs = [
    Codec(description: "VP8", encoder: "libvpx", decoder: "libvpx"),
    Codec(description: "VP9", encoder: "libvpx", decoder: "libvpx"),
    Codec(description: "AV1", encoder: "libaom", decoder: "libdav1d"),
    Codec(description: "H264", encoder: "libx264", decoder: "libavcodec"),
    Codec(description: "H265", encoder: "libx265", decoder: "libavcodec"),
  ]
  /// What Debian's libavcodec brings along.
  private static let companions: Set<Substring> = [
    "libavcodec", "libvpx", "libaom", "libdav1d", "libx264", "libx265", "libX11", "libxcb",
  ]

  @Test(arguments: codecs)
  func aCallLoadsTheCodecThatWasNegotiatedAndNothingElse(_ codec: Codec) throws {
    let server = try Client(program: "sora", ["serve", "--port", "0"], [:])
    let told = try #require(server.line("ready"))
    let url = String(told.drop { $0 != "w" })
    let sender = try Client(["send", url, codec.description], [:])
    #expect(sender.line("start") == "start: ")
    #expect(sender.line("connected") == "connected: ")
    #expect(sender.line("sent") == "sent: \(codec.encoder)")
    let receiver = try Client(["receive", url], [:])
    #expect(receiver.line("start") == "start: ")
    let seen = try #require(receiver.line("seen: ")).dropFirst("seen: ".count)
    let libraries = Set(seen.split(separator: " "))
    #expect(libraries.contains(Substring(codec.decoder)), "\(seen)")
    let others = codec.decoder == "libavcodec" ? Self.companions : [Substring(codec.decoder)]
    #expect(libraries.isSubset(of: others), "\(seen)")
    #expect(receiver.status == 0)
  }
}
