import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import Testing
import WebRTC

/// Media that aren't sent for a while, by agreement, and then are again.
@Suite(.timeLimit(.minutes(5))) struct CoreHoldTests {
  /// A call that is put on hold and taken up again, several times.
  @Test(arguments: [71, 72, 73, 74] as [UInt64])
  func whatWasOnHoldIsHeardAgain(seed: UInt64) throws {
    let pair = CorePair(seed: seed, LinkConditions(delay: .milliseconds(20)))
    try pair.negotiate()
    pair.network.run(for: .seconds(8))
    for round in 0..<4 {
      for direction in [MediaDirection.recvonly, .sendrecv] {
        for transceiver in pair.caller.core.negotiator.transceivers {
          pair.caller.core.setDirection(
            direction, transceiverID: transceiver.id, at: pair.network.now)
        }
        try pair.negotiate()
        pair.network.run(for: .seconds(1))
        let (sounds, pictures) = (pair.callee.audioReceived, pair.callee.frames.count)
        pair.network.run(for: .seconds(3))
        let heard = pair.callee.audioReceived - sounds
        let seen = pair.callee.frames.count - pictures
        let isSent = direction.sends
        #expect(isSent ? heard > 100 : heard == 0, "round \(round): \(heard) packets")
        #expect(isSent ? seen > 50 : seen == 0, "round \(round): \(seen) pictures")
      }
    }
  }
}
