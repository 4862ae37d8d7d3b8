import Foundation
import SoraCodecs
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRecording
import SoraTransport
import Testing
import WebRTC

/// Every codec over a link that loses a tenth of all packets, alone or in bursts, with and without retransmission: what
/// is shown is right, and when the loss ends the picture is back after one key frame at most.
@Suite(.timeLimit(.minutes(5))) struct LossyCodecTests {
  enum Loss: String, CaseIterable, Sendable { case random, bursts }

  struct Case: Sendable, CustomTestStringConvertible {
    var kind: VideoCodecKind
    var loss: Loss
    var hasNack: Bool
    var testDescription: String { "\(kind), \(loss.rawValue), NACK \(hasNack ? "on" : "off")" }
  }

  static let cases: [Case] = RTCPeerConnectionFactory().negotiableKinds.flatMap { kind in
    Loss.allCases.flatMap { loss in
      [true, false].map { Case(kind: kind, loss: loss, hasNack: $0) }
    }
  }

  @Test func allFiveCodecsAreNegotiated() {
    #if GPL
      #expect(RTCPeerConnectionFactory().negotiableKinds == VideoCodecKind.allCases)
    #else
      #expect(RTCPeerConnectionFactory().negotiableKinds == [.vp8, .vp9, .av1, .h264])
    #endif
  }

  @Test(arguments: cases)
  func whatIsShownIsRightAndOneKeyFrameEndsTheDamage(_ test: Case) throws {
    let factory = RTCPeerConnectionFactory()
    var codec = try #require(
      factory.videoCapabilities.first { $0.name == test.kind.encodingName })
    if !test.hasNack {
      codec.feedback.removeAll { $0 == "nack" }
      codec.usesRetransmission = false
    }
    let lossy =
      switch test.loss {
      case .random: LinkConditions(delay: .milliseconds(20), loss: 0.1)
      case .bursts:
        LinkConditions(
          delay: .milliseconds(20), burstLoss: GilbertElliott(goodToBad: 0.02, badToGood: 0.18))
      }
    let network = SimulatedNetwork(seed: 10)
    defer { network.removeAllEndpoints() }
    let hosts = [network.addHost("one", "10.1.0.1"), network.addHost("two", "10.2.0.1")]
    let link = network.link(hosts[0], hosts[1], LinkConditions(delay: .milliseconds(20)))
    let parties = try hosts.enumerated().map { index, host in
      try CodecParty(
        network, TransportAddress(ip: host.addresses[0], port: 5000), serial: UInt64(index + 1),
        sends: index == 0, codec: codec, kind: test.kind, registry: factory.videoCodecs)
    }
    let (sender, receiver) = (parties[0], parties[1])
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("lossy-\(UUID().uuidString).mkv")
    defer { try? FileManager.default.removeItem(at: file) }
    var settings = MediaRecorder.Settings()
    settings.hasAudio = false
    receiver.recorder = try MediaRecorder(path: file.path, settings: settings)
    try negotiate(network, sender, receiver)
    network.every(.nanoseconds(33_333_333)) { sender.sendVideo(at: $0) }

    network.run(for: .seconds(2))
    #expect(receiver.shown.count > 40, "it flows before the loss")
    link.forwardConditions = lossy
    network.run(for: .seconds(8))
    let duringLoss = receiver.shown.count
    link.forwardConditions = LinkConditions(delay: .milliseconds(20))
    let ended = network.now
    let keyFrames = sender.keyFramesSent
    network.run(for: .seconds(4))

    let after = receiver.shown.filter { $0.at > ended }
    let worst = receiver.shown.map(\.psnr).min() ?? 0
    print(
      "\(test.testDescription): \(receiver.shown.count) of \(sender.framesSent) shown,",
      "\(duringLoss) by the end of the loss, \(sender.keyFramesSent) key frames, worst",
      "\(Int(worst)) dB, \(receiver.decodeErrors.count) decode errors")
    #expect(sender.encodeErrors.isEmpty)
    #expect(
      receiver.shown.allSatisfy { $0.index != nil && $0.psnr > 24 }, "nothing damaged is shown")
    let order = receiver.shown.compactMap(\.index)
    #expect(zip(order, order.dropFirst()).allSatisfy { $0 < $1 }, "no frame is shown twice or late")
    #expect(sender.keyFramesSent - keyFrames <= 1, "one key frame is enough")
    #expect(after.count > 100, "the picture is back within half a second or so")
    if test.hasNack { #expect(duringLoss > 250, "retransmission keeps the picture going") }

    // What was recorded of it has gaps, and nothing that a decoder complains of.
    let recorded = try #require(receiver.recorder?.finish())
    #expect(recorded.failure == nil && recorded.framesDamaged == 0)
    #expect(recorded.videoFrames >= receiver.shown.count, "\(recorded)")
    #expect(abs(recorded.duration.inSeconds - 14) < 0.5, "\(recorded.duration)")
    if Self.hasFFprobe { #expect(try Self.complaints(of: file) == "") }
  }

  private static let hasFFprobe = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe")

  /// What ffprobe says while it decodes all of a file.
  private static func complaints(of file: URL) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/ffprobe")
    process.arguments = ["-v", "error", "-count_frames", "-show_streams", file.path]
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let text = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self)
  }

  private func negotiate(_ network: SimulatedNetwork, _ one: CodecParty, _ two: CodecParty) throws {
    let now = network.now
    let offer = try one.core.createOffer()
    try one.core.setLocalDescription(.offer, offer, addresses: [one.address], at: now)
    try two.core.setRemoteDescription(.offer, one.core.localDescription ?? offer, at: now)
    let answer = try two.core.createAnswer()
    try two.core.setLocalDescription(.answer, answer, addresses: [two.address], at: now)
    try one.core.setRemoteDescription(.answer, two.core.localDescription ?? answer, at: now)
    network.deadlinesChanged()
  }
}

extension RTCPeerConnectionFactory {
  /// Codecs that are offered in both directions.
  fileprivate var negotiableKinds: [VideoCodecKind] {
    VideoCodecKind.allCases.filter { kind in
      videoCapabilities.contains { $0.name == kind.encodingName }
    }
  }
}
