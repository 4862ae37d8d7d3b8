import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// Has a scripted client send three layers of VP8, told apart by the sizes of their packets, and audio.
final class LayeredSender {
  static let sizes = [100, 300, 900]
  let client: ScriptedClient
  var isSpeaking = false
  private var frame: UInt16 = 0
  private var audio: UInt16 = 0

  init(_ client: ScriptedClient) { self.client = client }

  /// The source of a layer.
  static func ssrc(_ layer: Int) -> UInt32 { UInt32(11 + layer) }

  /// One frame of each layer, all key frames.
  func sendFrame() {
    for (layer, size) in Self.sizes.enumerated() {
      var payload: [UInt8] = [0x90, 0xE0, 0x80 | UInt8(frame >> 8 & 0x7F), UInt8(frame & 255)]
      payload += [UInt8(frame & 255), 0, 0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 64, 0]
      payload += [UInt8](repeating: 0, count: size - payload.count)
      client.send(
        .video, sequence: frame, timestamp: UInt32(frame) * 3600, ssrc: Self.ssrc(layer),
        rid: frame < 3 ? "r\(layer)" : nil, payload: payload)
    }
    frame += 1
  }

  func sendAudio() {
    client.send(
      .audio, sequence: audio, timestamp: UInt32(audio) * 960, payloadCount: 60,
      level: isSpeaking ? 30 : 80)
    audio += 1
  }
}

extension [LayeredSender] {
  /// 25 frames and 50 packets of audio per second of each.
  func run(milliseconds: Int) {
    for tick in 0..<milliseconds / 20 {
      for one in self {
        if tick % 2 == 0 { one.sendFrame() }
        one.sendAudio()
      }
      self[0].client.network.run(for: .milliseconds(20))
    }
  }
}

extension ScriptedClient {
  /// The sizes of the video packets that came of a sender in the last 800 ms.
  func sizes(of sender: LayeredSender) -> Set<Int> {
    let since = network.now - .milliseconds(800)
    let lately = packets(of: sender.client, .video).media.filter { $0.at > since }
    return Set(lately.map(\.payload.count))
  }

  /// Connects with what was decided about it, written as claims and replies have it.
  @discardableResult
  func connect(_ request: ConnectMessage, granted: String) throws -> Self {
    let peer = try #require(peer)
    let asked = try #require(server.core.examine(request, of: peer, at: network.now))
    let settings = try GrantSettings.read(try JSONValue(parsing: granted), path: "grant")
    server.core.admit(
      request, SFUGrant(settings: settings, connectionID: asked.connectionID), of: peer,
      at: network.now)
    return self
  }
}
