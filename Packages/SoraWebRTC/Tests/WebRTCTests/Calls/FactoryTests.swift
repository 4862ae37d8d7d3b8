import SoraDTLS
import SoraICE
import Testing
import WebRTC

/// A connection that can't be made says why.
@Suite struct FactoryTests {
  @Test func aServerThatCantBeUsedIsNamed() {
    var configuration = RTCConfiguration()
    configuration.iceServers = [RTCIceServer(urlStrings: ["turn:"])]
    #expect {
      try RTCPeerConnectionFactory().makePeerConnection(with: configuration)
    } throws: { error in
      guard case RTCPeerConnectionError.unusableServer(.malformedServerURL("turn:")) = error else {
        return false
      }
      return "\(error)".contains("\"turn:\"")
    }
    #expect(RTCPeerConnectionFactory().peerConnection(with: configuration) == nil)
  }

  @Test func missingCryptographyIsNoWantOfAConnection() {
    let factory = RTCPeerConnectionFactory(
      videoCodecs: RTCPeerConnectionFactory().videoCodecs,
      endpoints: .failure(.library(reason: "no entropy")))
    #expect {
      try factory.makePeerConnection(with: RTCConfiguration())
    } throws: { error in
      guard
        case RTCPeerConnectionError.noCryptography(.library(reason: "no entropy")) = error
      else { return false }
      return "\(error)".contains("no entropy")
    }
  }
}
