import Foundation
import SignalingTestSupport
import SoraICE
import SoraMedia
import SoraSDK
import SoraServer
import SoraSignaling
import SoraTURNStream
import Testing
import WebRTC

/// Whole calls of the SDK over real sockets, from a network whose one way out is a proxy.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ProxiedRelayTests {
  typealias Way = SoraServer.Configuration.TURN.Transport

  /// A server that wants everything relayed, and names one way to its relay.
  private func start(_ way: Way) async throws -> SoraServer {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.iceTransportPolicy = .relay
    var turn = SoraServer.Configuration.TURN(port: 0)
    turn.securePort = 0
    turn.tls = try await Certificates.shared.value.identity("server")
    turn.transports = [way]
    configuration.turn = turn
    return try await SoraServer.start(configuration)
  }

  private enum Gate {
    case http(TestProxy)
    case socks(TestSOCKSProxy)

    init(_ scheme: Proxy.Scheme) async throws {
      self =
        switch scheme {
        case .http: .http(try await TestProxy(credentials: "user:pa:ss é"))
        case .socks5: .socks(try await TestSOCKSProxy(credentials: ("user", "pa:ss é")))
        }
    }

    func proxy(password: String = "pa:ss é") -> Proxy {
      switch self {
      case .http(let proxy):
        Proxy(host: "127.0.0.1", port: proxy.port, username: "user", password: password)
      case .socks(let proxy):
        Proxy(
          scheme: .socks5, host: "127.0.0.1", port: proxy.port, username: "user",
          password: password)
      }
    }

    /// Whether somebody wanted to go to a port of this machine.
    func hasLed(to port: Int) -> Bool {
      switch self {
      case .http(let proxy):
        proxy.requests.elements.contains { $0.hasPrefix("CONNECT 127.0.0.1:\(port) ") }
      case .socks(let proxy): proxy.requests.elements.contains("127.0.0.1:\(port)")
      }
    }

    func stop() async {
      switch self {
      case .http(let proxy): await proxy.stop()
      case .socks(let proxy): await proxy.stop()
      }
    }
  }

  private func configuration(
    _ server: SoraServer, _ role: Role, through proxy: Proxy?
  ) async throws -> Configuration {
    var configuration = Configuration(
      url: try #require(URL(string: server.url)), channelId: "proxied", role: role)
    configuration.cameraSettings.isEnabled = false
    configuration.tls = TLSSettings(caFile: try await Certificates.shared.value.path("ca.pem"))
    configuration.proxy = proxy
    return configuration
  }

  @Test(arguments: [Way.tcp, .tls], [Proxy.Scheme.http, .socks5])
  func pictureGoesThroughProxyAndRelay(way: Way, scheme: Proxy.Scheme) async throws {
    let server = try await start(way)
    let gate = try await Gate(scheme)
    let relay = try #require(server.turnURLs.first.flatMap { ICEServerURL($0) })
    #expect(server.turnURLs.count == 1)
    #expect(relay.relayProtocol == (way == .tls ? "tls" : "tcp"))

    let sora = Sora()
    let publisher = try await sora.connect(
      configuration: configuration(server, .sendonly, through: gate.proxy()))
    // Signaling goes through it too.
    #expect(gate.hasLed(to: server.port) && gate.hasLed(to: Int(relay.port)))
    let player = try await sora.connect(
      configuration: configuration(server, .recvonly, through: nil))
    let stream = try #require(publisher.senderStream)
    let feeder = Task {
      while !Task.isCancelled {
        let buffer = PixelBuffer(width: 160, height: 90, format: .i420) { _ in }
        stream.send(videoFrame: .init(from: buffer))
        try await Task.sleep(for: .milliseconds(33))
      }
    }
    let peer = try #require(player.native)
    let sink = PictureSink()
    while peer.receivers.allSatisfy({ !($0.track is RTCVideoTrack) }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    peer.receivers.compactMap { $0.track as? RTCVideoTrack }.first?.add(sink: sink)
    await sink.sizes.wait(for: 30)
    #expect(sink.sizes.elements.allSatisfy { $0 == "160x90" })

    let report = try #require(await publisher.native?.statistics())
    let transport = try #require(report.all("transport").first)
    let pair = try #require(
      transport.text("selectedCandidatePairId").flatMap { report.statistics[$0] })
    let local = try #require(pair.text("localCandidateId").flatMap { report.statistics[$0] })
    #expect(local.text("candidateType") == "relay")
    #expect(local.text("relayProtocol") == relay.relayProtocol)
    #expect(local.text("url") == "\(relay)")

    feeder.cancel()
    await publisher.disconnect()
    await player.disconnect()
    await server.shutdown()
    await gate.stop()
  }

  /// A proxy that lets signaling through and not what comes after it.
  @Test(arguments: [Way.tcp, .tls])
  func aWrongProxyPasswordIsNamed(way: Way) async throws {
    let server = try await start(way)
    let proxy = try await TestProxy(credentials: "user:right")
    let relay = try #require(server.turnURLs.first)
    var configuration = try await configuration(server, .sendonly, through: nil)
    var connector = TURNStreamConnector.Configuration()
    connector.proxy = ProxyOptions(
      host: "127.0.0.1", port: proxy.port, username: "user", password: "wrong")
    configuration.engine.streamConnector = TURNStreamConnector(configuration: connector)
    do {
      let channel = try await Sora().connect(configuration: configuration)
      await channel.disconnect()
      Issue.record("it connected")
    } catch {
      let text = "\(error)"
      #expect(text.contains("the proxy refuses the user name or password"), "\(text)")
      #expect(text.contains(relay), "\(text)")
      #expect(!text.contains("wrong"), "the password is nobody's business: \(text)")
    }
    #expect(proxy.requests.elements.count == 1)

    // And where signaling has to go the same way, it says so before.
    configuration = try await self.configuration(
      server, .sendonly, through: Gate.http(proxy).proxy(password: "wrong"))
    do {
      let channel = try await Sora().connect(configuration: configuration)
      await channel.disconnect()
      Issue.record("it connected")
    } catch {
      #expect("\(error)".contains("the proxy refuses the user name or password"), "\(error)")
    }
    await server.shutdown()
    await proxy.stop()
  }
}

/// Notes the sizes of pictures.
private final class PictureSink: VideoSink {
  let sizes = Recorder<String>()
  func receive(_ frame: RawVideoFrame) { sizes.append("\(frame.width)x\(frame.height)") }
}
