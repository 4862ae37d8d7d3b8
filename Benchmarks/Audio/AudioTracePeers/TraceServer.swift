import Foundation
import SoraClock
import SoraDTLS
import SoraICE
import SoraMedia
import SoraSignaling
import SoraTransport

/// What arrives when; see `AudioTrace`.
struct TracePacket: Sendable {
  var time: Duration
  var index: Int
  var payload: [UInt8]

  static func read(_ path: String) throws -> [TracePacket] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func number(_ offset: Int, _ count: Int) -> Int {
      (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
    var packets: [TracePacket] = []
    var offset = 0
    while offset + 14 <= bytes.count {
      let length = number(offset + 12, 2)
      guard offset + 14 + length <= bytes.count else { fail("\(path) ends within a packet") }
      packets.append(
        TracePacket(
          time: .nanoseconds(Int64(number(offset, 8))), index: number(offset + 8, 4),
          payload: Array(bytes[(offset + 14)..<(offset + 14 + length)])))
      offset += 14 + length
    }
    return packets
  }
}

/// Sora's signaling, with a peer of its own for each client.
final class TraceServer: Sendable {
  private let address: IPAddress
  private let folder: String
  private let loop: NetworkLoop
  private let certificate: DTLSCertificate
  private let players = LoopState()

  /// Of the loop alone.
  private final class LoopState: @unchecked Sendable {
    // @unchecked: confined to the loop.
    var players: [TracePlayer] = []
  }

  init(address: String, folder: String) throws {
    guard let ip = IPAddress(address) else { fail("\(address) is no address") }
    self.address = ip
    self.folder = folder
    loop = try NetworkLoop.make()
    certificate = try DTLSCertificate.generate()
  }

  func run() async throws {
    let server = try await SignalingServer.start { [self] connection in
      Task { await serve(connection) }
    }
    say("ws://127.0.0.1:\(server.boundPort)/signaling")
    while await nextLine() != nil {
      let start = await loop.run { [self] in
        let start = loop.now + .milliseconds(500)
        for player in players.players { player.play(from: start) }
        return start
      }
      say("start \(start.nanoseconds)")
    }
    exit(0)
  }

  private func serve(_ connection: WebSocketConnection) async {
    for await case .text(let text) in connection.messages {
      guard let message = try? SignalingMessage(parsing: text) else { continue }
      switch message {
      case .connect(let connect):
        guard let packets = try? TracePacket.read("\(folder)/\(connect.channelID).trace") else {
          connection.close(reason: "no trace of that name")
          continue
        }
        let channel = connect.channelID
        loop.execute { [self] in
          do {
            let player = try TracePlayer(
              packets, connection, on: loop, address: address, certificate: certificate)
            players.players.append(player)
            player.offer(to: channel)
          } catch { fail("no peer for \(channel): \(error)") }
        }
      case .answer(let answer):
        let sdp = answer.sdp
        loop.execute { [self] in player(of: connection)?.answer(sdp) }
      case .candidate(let candidate):
        let text = candidate.candidate
        loop.execute { [self] in player(of: connection)?.add(candidate: text) }
      default: break
      }
    }
  }

  private func player(of connection: WebSocketConnection) -> TracePlayer? {
    players.players.first { $0.connection === connection }
  }
}
