import SoraDTLS
import SoraICE
import SoraTransport
import Testing
import WebRTC

/// What keeps a connection from being made, told with its cause.
@Suite struct SetupErrorTests {
  private func connect(
    _ change: (inout RTCConfiguration) -> Void
  ) throws -> RTCPeerConnection {
    var configuration = RTCConfiguration()
    change(&configuration)
    return try RTCPeerConnectionFactory().makePeerConnection(with: configuration)
  }

  @Test func missingCryptographyIsSaidToBeMissing() throws {
    let factory = RTCPeerConnectionFactory(
      videoCodecs: RTCPeerConnectionFactory().videoCodecs,
      endpoints: .failure(.library(reason: "no such provider")))
    let error = #expect(throws: RTCSetupError.self) {
      try factory.makePeerConnection(with: RTCConfiguration())
    }
    #expect(error == .noCryptography(.library(reason: "no such provider")))
    let text = try #require(error?.description)
    #expect(text.hasPrefix("cryptography: ") && text.contains("no such provider"))
    #expect(text.contains("OpenSSL"), "\(text)")
    // libwebrtc's name has no other word for it.
    #expect(factory.peerConnection(with: RTCConfiguration()) == nil)
    #expect(throws: RTCSetupError.self) { try factory.prepare() }
  }

  @Test func aServerThatCantBeUsedIsNamed() throws {
    let error = #expect(throws: RTCSetupError.self) {
      try connect { $0.iceServers = [RTCIceServer(urlStrings: ["turn:[::1"])] }
    }
    guard case .unusableServer = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.description.contains("turn:[::1") == true)
  }

  @Test func aLocalAddressThatIsNoneIsNamed() throws {
    var configuration = RTCConfiguration()
    configuration.settings.localAddresses = ["127.0.0.1", "eth0"]
    let error = #expect(throws: RTCSetupError.self) { try configuration.validate() }
    #expect(error == .malformedLocalAddress("eth0"))
  }

  /// Addresses of nobody here (RFC 5737, RFC 3849): each is named, with what was wrong with it.
  @Test func socketsThatCantBeBoundAreAllNamed() async throws {
    let peer = try connect { $0.settings.localAddresses = ["203.0.113.77", "2001:db8::77"] }
    defer { peer.close() }
    try await peer.addTransceiver(of: .audio)
    let offer = try await peer.offer()
    let error = await #expect(throws: RTCSetupError.self) {
      try await peer.setLocalDescription(offer)
    }
    guard case .noSocket(let failures) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failures.count == 2)
    let text = try #require(error?.description)
    #expect(text.hasPrefix("sockets: none could be opened"))
    #expect(text.contains("203.0.113.77") && text.contains("2001:db8::77"), "\(text)")
  }

  @Test func oneAddressOfTwoIsEnough() async throws {
    let peer = try connect { $0.settings.localAddresses = ["203.0.113.77", "127.0.0.1"] }
    defer { peer.close() }
    try await peer.addTransceiver(of: .audio)
    try await peer.setLocalDescription(peer.offer())
    let candidates = peer.localDescription?.sdp.split(whereSeparator: \.isNewline).filter {
      $0.hasPrefix("a=candidate:")
    }
    #expect(candidates?.count == 1)
    #expect(candidates?.first?.contains("127.0.0.1") == true)
  }
}
