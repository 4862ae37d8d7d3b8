import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraServer
import Testing

/// What becomes of packets that wait for a narrow link when a lower layer's key frame comes.
struct WithdrawalTests {
  /// A publisher of two layers, and a viewer that is sent the upper one.
  private final class Call {
    let network = SimulatedNetwork(seed: 71)
    let server: TestServer
    let publisher: ScriptedClient
    let viewer: ScriptedClient
    private var numbers: [UInt16] = [0, 0]
    private var frame: UInt16 = 0

    init() throws {
      server = try TestServer(network)
      publisher = try ScriptedClient("publisher", 1, server)
        .connect(.sendonly) { $0.simulcast = true }
      viewer = try ScriptedClient("viewer", 2, server)
        .connect(.recvonly) { $0.simulcastRequestRid = .r1 }
      #expect(network.connects([viewer], to: publisher))
      network.run(for: .milliseconds(200))
      for index in 0..<60 { sendFrame(isKey: index < 20, every: .milliseconds(33)) }
      #expect(try status.rid == "r1")
    }

    var status: SFUConnectionStatus.Subscription {
      get throws {
        try #require(server.status(viewer)?.subscriptions.first { $0.kind == .video })
      }
    }

    /// A packet of VP8, whose last byte tells it from others.
    private func payload(
      temporal: UInt8 = 0, begins: Bool = true, isKey: Bool = false, count: Int, mark: UInt8 = 0
    ) -> [UInt8] {
      let id = [0x80 | UInt8(frame >> 8 & 0x7F), UInt8(frame & 255), UInt8(frame & 255)]
      let head = [begins ? 0x90 : 0x80, 0xE0] + id + [temporal << 6]
      let picture: [UInt8] = isKey ? [0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 64, 0] : [0x11, 0, 0]
      let body = head + (begins ? picture : [])
      return body + [UInt8](repeating: 0, count: count - body.count - 1) + [mark]
    }

    private func send(_ layer: Int, _ payload: [UInt8], as number: UInt16? = nil) {
      publisher.send(
        .video, sequence: number ?? numbers[layer], timestamp: UInt32(frame) * 3000,
        ssrc: UInt32(11 + layer), rid: "r\(layer)", payload: payload)
      if number == nil { numbers[layer] &+= 1 }
    }

    /// One frame of each layer.
    func sendFrame(isKey: Bool = false, every interval: Duration) {
      send(0, payload(isKey: isKey, count: 60))
      send(1, payload(isKey: isKey, count: 400))
      frame &+= 1
      network.run(for: interval)
    }

    /// Frames of the upper layer of a packet each, and now and then one of the lower.
    func sendSmall(frames count: Int) {
      for index in 0..<count {
        if index % 40 == 0 { send(0, payload(count: 40)) }
        send(1, payload(count: 40))
        frame &+= 1
        if index % 20 == 0 { network.run(for: .milliseconds(20)) }
      }
      network.run(for: .milliseconds(100))
    }

    /// The link turns narrow, and the lower layer is aimed at.
    func narrow() throws {
      viewer.sendRTCP {
        try $0.receiverEstimate(sender: 1, bitsPerSecond: 60_000, sources: [])
      }
      network.run(for: .milliseconds(30))
      #expect(try status.nextRid == "r0")
    }

    /// A frame of the upper layer that has to wait.
    func sendLongFrame() {
      for index in 0..<3 { send(1, payload(begins: index == 0, count: 1000)) }
      frame &+= 1
      network.run(for: .milliseconds(10))
    }

    /// A frame that is left out, whose first packet comes behind its second: a number is kept for that, and leaves without it.
    func sendLeftOut() throws {
      let before = try status
      let gap = numbers[1]
      numbers[1] &+= 1
      send(1, payload(temporal: 1, begins: false, count: 400))
      network.run(for: .milliseconds(5))
      send(1, payload(temporal: 1, count: 400), as: gap)
      frame &+= 1
      network.run(for: .milliseconds(5))
      let now = try status
      #expect(
        now.layerFramesLeftOut + now.congestedFramesLeftOut
          > before.layerFramesLeftOut + before.congestedFramesLeftOut)
      #expect(now.rid == "r1")
    }

    /// A key frame of the lower layer, of six packets.
    func enterLower() throws {
      for index in 0..<6 as Range<UInt8> {
        send(0, payload(begins: index == 0, isKey: index == 0, count: 100, mark: 200 + index))
      }
      frame &+= 1
      network.run(for: .seconds(3))
      #expect(try status.rid == "r0")
      #expect(try status.dropped == 0)
      let marks = viewer.packets(of: publisher, .video).media.compactMap(\.payload.last)
      #expect(marks.filter { $0 >= 200 } == [200, 201, 202, 203, 204, 205])
    }
  }

  /// A number that has left without its packet isn't given out once more: SRTP would refuse it, and the subscriber would never ask for
  /// what it takes for padding.
  @Test func numbersThatHaveLeftAreNotGivenOutAgain() throws {
    let call = try Call()
    try call.narrow()
    call.sendLongFrame()
    try call.sendLeftOut()
    try call.enterLower()
  }

  @Test func whatWaitsIsWithdrawn() throws {
    let call = try Call()
    try call.narrow()
    call.sendLongFrame()
    try call.enterLower()
    #expect(try call.status.withdrawn > 0)
  }

  /// Half of all numbers later the same number isn't one that left ahead.
  @Test func aNumberThatLeftLongAgoIsForgotten() throws {
    let call = try Call()
    try call.narrow()
    try call.sendLeftOut()
    call.viewer.sendRTCP {
      try $0.receiverEstimate(sender: 1, bitsPerSecond: 50_000_000, sources: [])
    }
    call.sendSmall(frames: 33_000)
    try call.narrow()
    call.sendLongFrame()
    call.sendLongFrame()
    try call.enterLower()
    #expect(try call.status.withdrawn > 0)
  }
}
