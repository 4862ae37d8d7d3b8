import Foundation
import SoraSDK
import SoraSignaling
import Testing

/// Certificates, slow handlers, and what is left behind.
@Suite(.timeLimit(.minutes(5))) struct TrustAndLifetimeTests {
  /// A certificate for localhost that nobody has signed but itself.
  private func certificate() async throws -> TLSOptions.Identity {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-sdk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try await openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem "
        + "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1",
      in: directory)
    return TLSOptions.Identity(
      certificateFile: directory.appendingPathComponent("cert.pem").path,
      keyFile: directory.appendingPathComponent("key.pem").path)
  }

  /// What openssl makes of a certificate's public key: the SHA-256 that pins it.
  private func pin(_ identity: TLSOptions.Identity) async throws -> [UInt8] {
    let directory = URL(fileURLWithPath: identity.keyFile).deletingLastPathComponent()
    try await openssl("pkey -in key.pem -pubout -outform der -out key.spki", in: directory)
    try await openssl("dgst -sha256 -binary -out key.hash key.spki", in: directory)
    return Array(try Data(contentsOf: directory.appendingPathComponent("key.hash")))
  }

  @Test(arguments: Face.allCases) func certificateThatNobodySigned(_ face: Face) async throws {
    let identity = try await certificate()
    let server = try await ScriptedSora(tls: identity) { connection, _ in
      connection.close(code: .signalingError, reason: "SEEN")
    }
    var configuration = server.configuration(.recvonly)
    configuration.urlCandidates = [
      URL(string: "wss://localhost:\(server.server.boundPort)/signaling")!
    ]
    let attempt = Attempt(configuration, face: face)
    guard case .webSocketError(let error) = try await attempt.error() else { throw AnotherError() }
    #expect((error as? SignalingError)?.code == .certificateNotVerified)
    #expect((error as? SignalingError)?.stage == .tls)

    // Trusted by name, trusted blindly, and pinned.
    let other = [UInt8](repeating: 7, count: 32)
    let pins = [other, try await pin(identity)]
    for tls in [
      TLSSettings(caFile: identity.certificateFile), TLSSettings(isInsecure: true),
      TLSSettings(caFile: identity.certificateFile, signalingKeySHA256: pins),
    ] {
      configuration.tls = tls
      let trusting = Attempt(configuration, face: face)
      guard case .webSocketClosed(.other(4490), "SEEN") = try await trusting.error() else {
        throw AnotherError()
      }
    }

    // Trusted, and not with the key that is pinned.
    configuration.tls = TLSSettings(
      caFile: identity.certificateFile, signalingKeySHA256: [other])
    let pinning = Attempt(configuration, face: face)
    guard case .webSocketError(let error) = try await pinning.error() else { throw AnotherError() }
    #expect((error as? SignalingError)?.code == .certificateNotVerified)
    #expect((error as? SignalingError)?.field == "acceptsKey")
  }

  /// A handler that blocks holds up the handlers after it, and not the protocol.
  @Test func handlerThatBlocks() async throws {
    let far = try await FarEnd(receives: false)
    let connections = Recorder<WebSocketConnection>()
    let server = try await ScriptedSora { connection, message in
      if case .connect = message {
        connections.append(connection)
        connection.send(far.offer())
      }
      try await far.handle(message)
    }
    let configuration = server.configuration(.recvonly)
    let attempt = Attempt(configuration, face: .tasks)
    let channel = try await attempt.channel()
    let release = DispatchSemaphore(value: 0)
    let entered = Recorder<Void>()
    channel.handlers.onReceiveSignaling = {
      guard case .push = $0 else { return }
      entered.append(())
      release.wait()
    }
    let connection = try #require(connections.elements.first)
    connection.send(.push(PushMessage(data: 1)))
    await entered.wait(for: 1)
    connection.send(.ping(PingMessage()))
    await server.wait(for: "pong")
    release.signal()
    await channel.disconnect()
  }

  /// Nothing of a channel is left when it has ended and the app has let go of it.
  @Test(arguments: [true, false]) func nothingIsLeft(_ succeeds: Bool) async throws {
    let freed = Recorder<Void>()
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      if case .connect = message {
        if succeeds {
          connection.send(far.offer())
        } else {
          connection.close(code: .signalingError, reason: "NO")
        }
      }
      try await far.handle(message)
    }
    try await call(server, Probe(freed), succeeds: succeeds)
    await freed.wait(for: 1)
  }

  private func call(_ server: ScriptedSora, _ probe: Probe, succeeds: Bool) async throws {
    var configuration = server.configuration()
    // Held by the handlers, which only the channel's configuration holds.
    let handlers = MediaChannelHandlers()
    handlers.onConnect = { _ in withExtendedLifetime(probe) {} }
    configuration.mediaChannelHandlers = handlers
    let channel = try? await Sora().connect(configuration: configuration)
    #expect((channel != nil) == succeeds)
    await channel?.disconnect()
  }
}

/// Tells when it is let go of.
final class Probe: Sendable {
  private let freed: Recorder<Void>
  init(_ freed: Recorder<Void>) { self.freed = freed }
  deinit { freed.append(()) }
}
