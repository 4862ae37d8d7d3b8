import Foundation
import SoraDTLS
import SoraServer
import SoraTransport
import Synchronization
import Testing

/// Those who come to a real server, each with an end of its own.
final class EnduranceGuests: Sendable {
  private enum End: CaseIterable {
    case says, vanishes, losesSignaling, losesItsLink, isEnded, neverAnswers, neverConnects
    case halfRequest, silentPublisher
  }

  private let server: SoraServer
  private let loop: NetworkLoop
  private let certificate: DTLSCertificate
  private let counted = Mutex(Counts())

  struct Counts: Sendable, CustomStringConvertible {
    var visits = 0
    var connected = 0
    var packets = 0
    var failures: [String] = []

    var description: String {
      "\(visits) visits, \(connected) of them connected, \(packets) packets came"
        + (failures.first.map { ", \(failures.count) failed: \($0)" } ?? "")
    }
  }

  init(_ server: SoraServer, on loop: NetworkLoop) throws {
    self.server = server
    self.loop = loop
    certificate = try DTLSCertificate.generate()
  }

  var counts: Counts { counted.withLock { $0 } }

  /// Comes, stays, and goes.
  func visit(_ number: Int) async {
    counted.withLock { $0.visits += 1 }
    // Each place has each end in its turn.
    let end = End.allCases[(number + number / 50) % End.allCases.count]
    do {
      switch end {
      case .halfRequest: try await leaveRequestUnfinished(number)
      case .silentPublisher: try await publishNothing(number)
      default: try await call(number, end)
      }
    } catch {
      counted.withLock { $0.failures.append("\(end): \(error)") }
    }
  }

  private func call(_ number: Int, _ end: End) async throws {
    let client = try await LiveClient(server.url, certificate, on: loop)
    let channel = "room \(number % 7)"
    if end != .neverConnects {
      client.connect(
        ["sendrecv", "sendonly", "recvonly"][number % 3], channel: channel,
        dataChannels: number % 4 == 0, answering: end != .neverAnswers)
    }
    try? await Task.sleep(for: .milliseconds(1000 + number * 37 % 2000))
    if await client.isConnected { counted.withLock { $0.connected += 1 } }
    switch end {
    case .says: client.say(#"{"type":"disconnect","reason":"NO-ERROR"}"#)
    case .vanishes:
      // Its WebSocket stays open, as when its network is gone.
      client.stopAnswering()
      await client.loseMedia()
    case .losesSignaling: client.abortSignaling()
    case .losesItsLink: await client.loseMedia()
    case .isEnded:
      if let id = client.connectionID {
        _ = try await APIClient(server.apiURL).post(
          "Sora_20151104.DisconnectConnection",
          #"{"channel_id":"\#(channel)","connection_id":"\#(id)"}"#)
      }
    case .neverAnswers, .neverConnects, .halfRequest, .silentPublisher: break
    }
    await client.waitForEnd(.seconds(8))
    let received = await client.received
    counted.withLock { $0.packets += received }
    await client.finish()
  }

  /// Posts an offer by WHIP, and sends nothing then.
  private func publishNothing(_ number: Int) async throws {
    let offer = WHIPTests.offer
    _ = try await APIClient(server.httpURL).send(
      "POST /whip/room\(number % 7) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\n\r\n\(offer)")
    try? await Task.sleep(for: .seconds(1))
  }

  /// Opens a connection and stops in the middle, and either goes or waits for the server to have enough.
  private func leaveRequestUnfinished(_ number: Int) async throws {
    let texts = [
      "", "GET / HTTP/1.1\r\nHost:", "GET /signaling HTTP/1.1\r\nHost: localhost\r\nUpgrade: webs",
      "POST /whip/room HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\n"
        + "Content-Length: 4000\r\n\r\nv=0\r\n",
    ]
    let descriptor = try HalfOpenSocket(port: UInt16(server.port))
    descriptor.send(texts[number % texts.count])
    let waits = number % 5 == 0
    for _ in 0..<(waits ? 150 : 15) where !descriptor.isEnded {
      try? await Task.sleep(for: .milliseconds(100))
    }
    if waits, !descriptor.isEnded { throw POSIXError(.ETIMEDOUT) }
  }
}
