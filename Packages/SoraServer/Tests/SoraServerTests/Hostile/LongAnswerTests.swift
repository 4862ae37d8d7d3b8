import CoreFoundation
import Glibc
import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraSignalingMessages
import Testing

/// An answer is read on the loop of all connections: what is long in it must not take time by its square.
struct LongAnswerTests {
  /// What goes into the section of video, and into its line of formats.
  static let cases: [(name: String, lines: String, formats: String)] = [
    (
      "alternatives",
      (0..<8000).map { "a=rid:r\($0) send\r\n" }.joined() + "a=simulcast:send "
        + (0..<16_000).map { "z\($0)" }.joined(separator: ",") + "\r\n", ""
    ),
    (
      "formats", (0..<5000).map { _ in "a=rtpmap:100 VP8/90000\r\n" }.joined(),
      String(repeating: " 96", count: 30_000)
    ),
    (
      "feedback", (0..<9000).map { _ in "a=rtcp-fb:96 nack\r\n" }.joined(),
      String(repeating: " 96", count: 10_000)
    ),
    ("extensions", (0..<7000).map { "a=extmap:\($0 % 200 + 1) urn:x:\($0)\r\n" }.joined(), ""),
    (
      "fingerprints",
      (0..<2000).map { _ in
        "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":") + "\r\n"
      }.joined(), ""
    ),
  ]

  @Test(arguments: cases)
  func takesNoTimeOfOthers(name: String, lines: String, formats: String) throws {
    let network = SimulatedNetwork(seed: 64)
    let server = try TestServer(network)
    // What a short one looks like tells where the long parts go.
    let model = try ScriptedClient("model", 1, server).connect(.sendrecv)
    #expect(network.run(until: { model.isConnected }, within: .seconds(5)))
    let hostile = try ScriptedClient("h", 2, server)
    hostile.answersOffers = false
    hostile.connect(.sendonly)
    #expect(network.run(until: { hostile.offer != nil }, within: .seconds(1)))
    var text = try #require(model.answers.first).text
    for (old, new) in zip(
      model.offers[0].media.compactMap(\.mid), hostile.offers[0].media.compactMap(\.mid))
    {
      text = text.replacing(old, with: new)
    }
    let video = try #require(text.firstRange(of: "m=video"))
    let end = try #require(text[video.lowerBound...].firstRange(of: "\r\n"))
    text.replaceSubrange(end, with: formats + "\r\n")
    text += lines
    #expect(text.utf8.count < SessionDescription.maximumSize)
    let peer = try #require(hostile.peer)
    let before = Self.threadTime
    server.core.receive(.answer(sdp: text), from: peer, at: network.now)
    let time = Self.threadTime - before
    network.deadlinesChanged()
    network.run(for: .milliseconds(100))
    #expect(time < .milliseconds(250), "\(name) took \(time)")
  }

  /// The processor's time that this thread has had: others on the machine don't count.
  private static var threadTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
