import Foundation
import Testing

/// What an app with `SoraSDK` loads: libraries of codecs, sound, windows and screens come with their first use, and else never.
@Suite(.timeLimit(.minutes(2))) struct LoadingTests {
  @Test func aCallLoadsTheCodecThatWasNegotiatedAndNothingElse() throws {
    let server = try Client(program: "sora", ["serve", "--port", "0"], [:])
    let told = try #require(server.line("ready"))
    let url = String(told.drop { $0 != "w" })
    let client = try Client(["call", url], [:])
    #expect(client.line("start") == "start: ")
    #expect(client.line("connected") == "connected: ")
    #expect(client.line("sent") == "sent: libvpx")
    #expect(client.status == 0)
  }
}
