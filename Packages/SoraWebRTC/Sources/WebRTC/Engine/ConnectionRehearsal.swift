import SoraClock
import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraTransport
import SoraWire

/// A call between two connections in memory, which ends once they are connected. Swift's runtime takes ten times as long for a type
/// that it meets first: who goes through all of them beforehand, on a thread that nobody waits for, connects in half of the time.
///
/// Nothing of it leaves the process: there are neither sockets nor codecs, and its time is its own.
enum ConnectionRehearsal {
  /// Two connections send each other some twenty datagrams.
  private static let longest = 200

  /// - Returns: whether both ends were connected.
  static func run(
    dtls: any DTLSEndpointFactory, certificate: DTLSCertificate, videoCodecs: [CodecCapability]
  ) -> Bool {
    var configuration = PeerConnectionCore.Configuration(
      certificate: certificate, dtls: dtls, wallClock: WallClock(unixNanoseconds: 0, at: .zero))
    configuration.videoCodecs = videoCodecs
    let server = Party(configuration, port: 1)
    let client = Party(configuration, port: 2)
    for kind in [MediaKind.audio, .video] {
      server.core.negotiator.addTransceiver(kind, direction: .recvonly)
    }
    var now = Instant.zero
    do {
      try server.core.setLocalDescription(
        .offer, server.core.createOffer(), addresses: [server.address], at: now)
      try client.core.setRemoteDescription(
        .offer, server.core.localDescription ?? "", at: now)
      for transceiver in client.core.negotiator.transceivers {
        client.core.negotiator.setTrack(
          of: transceiver, "\(transceiver.kind)", streamIDs: ["stream"])
      }
      try client.core.setLocalDescription(
        .answer, client.core.createAnswer(), addresses: [client.address], at: now)
      try server.core.setRemoteDescription(
        .answer, client.core.localDescription ?? "", at: now)
    } catch {
      return false
    }
    let parties = [server, client]
    for _ in 0..<longest where !parties.allSatisfy(\.core.transport.isWritable) {
      now = now + .milliseconds(1)
      client.receive(from: server, at: now)
      server.receive(from: client, at: now)
      for party in parties { party.core.poll(at: now) }
    }
    return parties.allSatisfy(\.core.transport.isWritable)
  }

  /// One of the two.
  private struct Party {
    let address: TransportAddress
    let core: PeerConnectionCore
    private let outbox = Outbox()

    init(_ configuration: PeerConnectionCore.Configuration, port: UInt16) {
      // Of those that are for documentation (RFC 5737).
      address = TransportAddress(ip: IPAddress(v4: 0xC000_0201), port: port)
      core = PeerConnectionCore(configuration: configuration, random: .system(), sink: outbox)
    }

    /// Takes what the other one has sent.
    func receive(from other: Party, at now: Instant) {
      for var datagram in other.outbox.take() {
        unsafe datagram.withUnsafeMutableBytes {
          unsafe core.receive($0, from: other.address, on: address, at: now)
        }
      }
    }
  }

  /// What was sent and hasn't arrived yet.
  private final class Outbox: DatagramSink {
    private var datagrams: [[UInt8]] = []

    func send(
      from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
      _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) {
      datagrams.append(
        unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
          count = unsafe write(UnsafeMutableRawBufferPointer(buffer))
        })
    }

    func take() -> [[UInt8]] {
      defer { datagrams = [] }
      return datagrams
    }
  }
}
