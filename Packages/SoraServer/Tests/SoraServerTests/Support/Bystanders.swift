import SoraMedia
import SoraNetworkSimulator
import SoraSignalingMessages
import Testing

/// Two clients that keep to the rules: their media have to go on whatever others do, in other channels or in theirs.
final class Bystanders {
  let a: ScriptedClient
  let b: ScriptedClient
  private var sent: UInt16 = 0

  init(_ server: TestServer, channel: String = "quiet") throws {
    a = try ScriptedClient("bystander a", 200, server).connect(.sendrecv, channel: channel)
    b = try ScriptedClient("bystander b", 201, server).connect(.sendrecv, channel: channel)
    let network = server.network
    let (a, b) = (a, b)
    let isThere = network.run(
      until: { !b.sections(of: a, .video).isEmpty && !a.sections(of: b, .audio).isEmpty },
      within: .seconds(5))
    #expect(isThere)
    network.run(for: .milliseconds(500))
  }

  /// Sends one packet of each kind, and expects it at the other one.
  func exchange(_ location: SourceLocation = #_sourceLocation) {
    let number = sent
    sent += 1
    a.send(.video, sequence: number, timestamp: UInt32(number) * 3000)
    a.send(.audio, sequence: number, timestamp: UInt32(number) * 960)
    a.network.deadlinesChanged()
    a.network.run(for: .milliseconds(100))
    for kind in [MediaKind.video, .audio] {
      let last = b.packets(of: a, kind).media.last?.payload
      let isHere = last == ScriptedClient.payload(number)
      #expect(isHere, "\(kind) \(number)", sourceLocation: location)
    }
    #expect(a.closed == nil && b.closed == nil, sourceLocation: location)
  }

  /// Lets go of what came so far.
  func forget() {
    a.forgetReceived()
    b.forgetReceived()
  }
}
