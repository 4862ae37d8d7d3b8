import Foundation
import SoraDTLS
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// What a channel makes for its connection before there is an offer.
@Suite(.timeLimit(.minutes(5))) struct ConnectPreparationTests {
  private func fingerprint(_ sdp: String?) -> String? {
    sdp?.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=fingerprint:") }.map {
      String($0.dropFirst(14))
    }
  }

  /// `connect` and `answer` name one certificate, that of the connection; the next channel has another.
  @Test func oneCertificateAChannel() async throws {
    var seen: [String?] = []
    for _ in 0..<2 {
      let far = try await FarEnd(receives: true)
      let server = try await ScriptedSora(far)
      let attempt = Attempt(server.configuration(), face: .tasks)
      let channel = try await attempt.channel()
      let answer = server.received.elements.compactMap { message in
        if case .answer(let answer) = message { answer.sdp } else { nil }
      }
      let connect = fingerprint(server.connects().first?.sdp)
      #expect(connect != nil)
      #expect(fingerprint(answer.first) == connect)
      seen.append(connect)
      await channel.disconnect()
      far.peer.close()
    }
    #expect(seen[0] != seen[1])
  }

  @Test func missingCryptographyIsTheReason() {
    let factory = RTCPeerConnectionFactory(
      videoCodecs: RTCPeerConnectionFactory().videoCodecs,
      endpoints: .failure(.library(reason: "no such provider")))
    let failure = #expect(throws: ConnectPreparation.Failure.self) {
      try ConnectPreparation(for: .sendonly, factory: factory)
    }
    #expect(failure?.reason.hasPrefix("setup: cryptography: ") == true)
    #expect(failure?.reason.contains("no such provider") == true)
  }

  @Test(arguments: Face.allCases) func socketsThatCantBeOpened(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(far.offer()) }
    }
    var configuration = server.configuration()
    // Of nobody (RFC 5737).
    configuration.engine.localAddresses = ["203.0.113.77"]
    let attempt = Attempt(configuration, face: face)
    guard case .peerChannelError(let reason) = try await attempt.error() else {
      Issue.record("not a peerChannelError")
      return
    }
    #expect(reason.hasPrefix("setup: sockets: none could be opened: 203.0.113.77"), "\(reason)")
    #expect(reason.contains("check localAddresses"))
    #expect(attempt.channels.elements.first?.failureReason == reason)
    far.peer.close()
  }

  @Test func anAddressThatIsNone() async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(far.offer()) }
    }
    var configuration = server.configuration()
    configuration.engine.localAddresses = ["eth0"]
    guard
      case .peerChannelError(let reason) = try await Attempt(configuration, face: .tasks).error()
    else {
      Issue.record("not a peerChannelError")
      return
    }
    #expect(reason.hasPrefix("setup: sockets: \"eth0\" in localAddresses"), "\(reason)")
    far.peer.close()
  }
}
