import SoraICE
import Testing
import WebRTC

/// STUN and TURN servers of a configuration.
@Suite struct ServerConfigurationTests {
  @Test func aURLThatBreaksTheGrammarIsNamed() {
    var configuration = RTCConfiguration()
    configuration.iceServers = [RTCIceServer(urlStrings: ["turn:192.0.2.1", "turn:h:0"])]
    #expect(throws: ICEError.malformedServerURL("turn:h:0")) { try configuration.validate() }
    #expect(RTCPeerConnectionFactory().peerConnection(with: configuration) == nil)
  }

  /// RFC 8265 §4.2: a control is refused before anything is sent, and so is nothing at all.
  @Test(
    arguments: [
      ("an\u{9}n", "secret", "username", OpaqueString.Unusable.disallowed("\t")),
      ("ann", "", "credential", .empty),
      ("ann", nil, "credential", .empty),
      ("\u{30DE}\u{AD}", "secret", "username", .disallowed("\u{AD}")),
    ] as [(String, String?, String, OpaqueString.Unusable)])
  func aNameThatNoServerCanHaveIsRefused(
    username: String, credential: String?, field: String, reason: OpaqueString.Unusable
  ) {
    var configuration = RTCConfiguration()
    configuration.iceServers = [
      RTCIceServer(urlStrings: ["turn:192.0.2.1"], username: username, credential: credential)
    ]
    let error = ICEError.unusableCredential(field: field, server: "turn:192.0.2.1", reason)
    #expect(throws: error) { try configuration.validate() }
    #expect("\(error)".contains(field))
    // A STUN server isn't asked with them.
    configuration.iceServers[0].urlStrings = ["stun:192.0.2.1"]
    #expect(throws: Never.self) { try configuration.validate() }
  }

  /// Gathering is over only when the server has been given up or has answered; candidates of the host come at once.
  @Test func whatTheServerDoesNotAnswerIsWaitedFor() async throws {
    var configuration = RTCConfiguration()
    configuration.settings.localAddresses = ["127.0.0.1"]
    // Nobody listens on the discard port.
    configuration.iceServers = [
      RTCIceServer(urlStrings: ["turn:127.0.0.1:9"], username: "u", credential: "c")
    ]
    let factory = RTCPeerConnectionFactory()
    let connection = try #require(factory.peerConnection(with: configuration))
    try await connection.addTransceiver(of: .audio)
    try await connection.setLocalDescription(try await connection.offer())
    #expect(connection.iceGatheringState == .gathering)
    #expect(connection.localDescription?.sdp.contains("typ host") == true)
    let candidates = await connection.statistics().statistics.values.filter {
      $0.type == "local-candidate"
    }
    #expect(candidates.count == 1)
    connection.close()
  }
}
