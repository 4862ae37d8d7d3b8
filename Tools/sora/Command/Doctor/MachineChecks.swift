import SoraCapture
import SoraClock
import SoraCodecs
import SoraCommandSupport
import SoraICE
import SoraMedia
import SoraSignaling
import SoraTransport
import WebRTC

/// What `sora doctor` looks at without a server.
enum MachineChecks {
  /// - Parameter serving: the local port that the server under examination has; nil for none.
  static func run(serving: Int?, _ tell: (Finding) -> Void) async {
    let files = MachineFiles()
    tell(files.time(SystemClock.realtimeNanoseconds / 1_000_000_000))
    tell(network)
    tell(await loopback())
    tell(await port(5000, serving: serving))
    tell(files.authorities)
    for finding in codecs { tell(finding) }
    tell(files.cameras)
    tell(files.sound)
  }

  private static var network: Finding {
    let addresses: [HostAddress]
    do {
      addresses = try NetworkLoop.hostAddresses()
    } catch {
      return .fail("network", "\(error)", "check the interfaces: ip address")
    }
    let others = addresses.filter { !$0.isLoopback }
    guard !others.isEmpty else {
      return .warn(
        "network", "only the loopback interface is up",
        "media reaches programs on this machine alone; bring an interface up for others")
    }
    return .ok("network", others.map { "\($0.ip) (\($0.interfaceName))" }.joined(separator: ", "))
  }

  /// Sends a datagram to this machine itself.
  private static func loopback() async -> Finding {
    let advice = "allow UDP on the interface lo: media is UDP"
    do {
      let loop = try NetworkLoop.make()
      defer { loop.shutdown() }
      let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
      let timeout = Task {
        try? await Task.sleep(for: .seconds(2))
        continuation.finish()
      }
      defer { timeout.cancel() }
      let failure = await loop.run { () -> String? in
        do {
          let handler = ArrivalHandler(continuation)
          let address = TransportAddress(ip: .loopbackV4, port: 0)
          let receiver = try loop.openUDP(address, handler: handler)
          let sender = try loop.openUDP(address, handler: handler)
          _ = unsafe sender.send(to: receiver.localAddress) { buffer in
            unsafe buffer.copyBytes(from: [0x73, 0x6F, 0x72, 0x61])
            return 4
          }
          return nil
        } catch {
          return "\(error)"
        }
      }
      if let failure { return .fail("udp", failure, advice) }
      for await _ in arrivals { return .ok("udp", "datagrams pass on the loopback interface") }
      return .fail("udp", "a datagram to 127.0.0.1 never arrived", advice)
    } catch {
      return .fail("udp", "\(error)", advice)
    }
  }

  private static func port(_ number: Int, serving: Int?) async -> Finding {
    guard serving != number else {
      return .ok("port", "\(number) is the server's that is examined here")
    }
    do {
      let server = try await SignalingServer.start(host: "127.0.0.1", port: number) { _ in }
      await server.stop()
      return .ok("port", "\(number) is free for `sora serve`")
    } catch {
      return .warn("port", "\(number): \(error.detail)", "give `sora serve` another: --port NUMBER")
    }
  }

  /// Each library makes one picture, or one decoder.
  private static var codecs: [Finding] {
    let registry = RTCPeerConnectionFactory().videoCodecs
    var broken: [Finding] = []
    for capability in registry.capabilities {
      do throws(CodecError) {
        try probe(registry, capability)
      } catch {
        broken.append(
          .fail(
            "codecs", "\(capability.kind.encodingName) by \(capability.implementation): \(error)",
            "install its library anew: make deps"))
      }
    }
    func names(_ kinds: [VideoCodecKind]) -> String {
      kinds.map(\.encodingName).joined(separator: ", ")
    }
    let both = VideoCodecKind.allCases.filter {
      registry.encodableKinds.contains($0) && registry.decodableKinds.contains($0)
    }
    let rest = VideoCodecKind.allCases.filter { !both.contains($0) }
    guard rest.isEmpty else {
      return broken + [
        .warn(
          "codecs", "\(names(both)) both ways, and not \(names(rest))",
          "build with the package traits of these codecs, if they are wanted")
      ]
    }
    return broken + [.ok("codecs", "\(names(both)), each both ways")]
  }

  private static func probe(
    _ registry: VideoCodecRegistry, _ capability: VideoCodecCapability
  ) throws(CodecError) {
    if capability.canEncode {
      let settings = VideoEncoderSettings(width: 320, height: 192, allowsFrameDropping: false)
      let encoder = try registry.makeEncoder(
        capability.kind, settings: settings, implementation: capability.implementation)
      let picture = TestPattern(width: 320, height: 192).frame(index: 0, milliseconds: 0)
      _ = try encoder.encode(
        RawVideoFrame(buffer: picture, timestamp: .zero), forceKeyFrame: true, rtpTimestamp: 0)
    }
    if capability.canDecode {
      _ = try registry.makeDecoder(capability.kind, implementation: capability.implementation)
    }
  }
}

/// Tells that a datagram came.
private final class ArrivalHandler: DatagramHandler {
  private let arrivals: AsyncStream<Void>.Continuation

  init(_ arrivals: AsyncStream<Void>.Continuation) { self.arrivals = arrivals }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    arrivals.yield()
  }
}
