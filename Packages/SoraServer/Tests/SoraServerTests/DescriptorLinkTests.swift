import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraServer
import Testing

/// Dependency descriptors of a whole sender through the server, where layers change and temporal ones are left out.
@Suite struct DescriptorLinkTests {
  /// What a receiver can tell of a stream from its descriptors.
  private struct Reader {
    /// Whether frames may be lost for good, of which a last one's number is missing.
    let isLossy: Bool
    private(set) var frames: [(number: Int64, layer: Int, isKeyFrame: Bool)] = []
    private(set) var temporalLayers: Set<Int> = []
    private var structure: DependencyDescriptor.Structure?
    private var known: Set<Int64> = []
    private var extender = SequenceNumberExtender()
    private var timestamp: UInt32?

    init(isLossy: Bool) { self.isLossy = isLossy }

    mutating func read(_ packet: ScriptedClient.Packet) throws {
      let bytes = try #require(packet.descriptor)
      let descriptor = try bytes.withUnsafeBytes {
        try DependencyDescriptor(parsing: $0, structure: structure)
      }
      structure = descriptor.structure ?? structure
      let number = extender.extend(descriptor.frameNumber)
      guard packet.timestamp != timestamp else {
        #expect(number == frames.last?.number && !descriptor.isFrameStart)
        return
      }
      timestamp = packet.timestamp
      #expect(descriptor.isFrameStart)
      let payload = try packet.payload.withUnsafeBytes { bytes in
        var count = 0
        let head = try VP9Descriptor(parsing: bytes, count: &count)
        #expect(Int(head.temporalLayer) == descriptor.frame.temporalLayer)
        return Array(bytes[count...])
      }
      temporalLayers.insert(descriptor.frame.temporalLayer)
      let (layer, isKeyFrame) = (Int(payload[13] >> 4), payload[0] == 0x10)
      #expect((descriptor.structure != nil) == isKeyFrame)
      #expect(descriptor.frame.frameDifferences.isEmpty == isKeyFrame)
      if let last = frames.last {
        #expect(number > last.number, "a number is used again")
        if last.layer != layer {
          #expect(isKeyFrame && (isLossy || number == last.number + 1), "numbers don't go on")
          known = []
        }
      }
      for difference in descriptor.frame.frameDifferences {
        #expect(known.contains(number - Int64(difference)), "a frame needs one that wasn't sent")
      }
      known.insert(number)
      frames.append((number, layer, isKeyFrame))
    }
  }

  @Test(arguments: [0, 0.01])
  func framesLeadToFramesThatWereSent(loss: Double) throws {
    let network = SimulatedNetwork(seed: 17)
    let server = try TestServer(network)
    let publisher = try ScriptedClient(
      "publisher", 1, server, LinkConditions(delay: .milliseconds(5), loss: loss)
    ).withMedia().connect(.sendonly, video: "VP9") { $0.simulcast = true }
    let link = LinkConditions(
      delay: .milliseconds(20), loss: loss, bitsPerSecond: 800_000,
      queue: .time(.milliseconds(300)))
    let viewer = try ScriptedClient("viewer", 2, server, link).withMedia().connect(.recvonly)
    viewer.notesMedia = true
    #expect(
      network.run(
        until: {
          publisher.isConnected && viewer.isConnected
            && viewer.sections(of: publisher, .video).count == 1
        }, within: .seconds(5)))
    network.run(for: .milliseconds(100))
    try publisher.startMedia(
      .init(baseShare: 0.5, tellsReferences: true, layers: [150_000, 600_000, 1_100_000]))
    network.run(for: .seconds(15))
    for rid in [SignalingRid.r0, .r2] {
      #expect(
        server.core.requestSimulcastRid(
          rid, channelID: "room", receiver: viewer.offer!.connectionID,
          sender: publisher.offer!.connectionID, at: network.now))
      network.deadlinesChanged()
      network.run(for: .seconds(10))
    }

    let (media, rtx) = viewer.packets(of: publisher, .video)
    var extender = SequenceNumberExtender()
    var packets: [Int64: ScriptedClient.Packet] = [:]
    for packet in media where !packet.payload.isEmpty {
      packets[extender.extend(packet.sequenceNumber)] = packet
    }
    // What was sent again is what was sent, or takes its place.
    var repeated = 0
    for packet in rtx where packet.payload.count > 2 {
      let number = UInt16(packet.payload[0]) << 8 | UInt16(packet.payload[1])
      guard
        let place = packets.keys.first(where: { UInt16(truncatingIfNeeded: $0) == number })
      else {
        let newest = try #require(packets.keys.max())
        let back = UInt16(truncatingIfNeeded: newest) &- number
        var original = packet
        original.payload.removeFirst(2)
        packets[newest - Int64(back)] = original
        continue
      }
      #expect(packets[place]?.descriptor == packet.descriptor)
      repeated += 1
    }
    #expect(repeated > 0)
    var reader = Reader(isLossy: loss > 0)
    for (_, packet) in packets.sorted(by: { $0.key < $1.key }) { try reader.read(packet) }
    let frames = reader.frames
    let changes = zip(frames, frames.dropFirst()).count { $0.layer != $1.layer }
    let gaps = zip(frames, frames.dropFirst()).count { $1.number > $0.number + 1 }
    print("\(frames.count) frames, \(changes) changes, \(gaps) gaps, \(repeated) again")
    #expect(changes >= 2 && gaps > 100 && reader.temporalLayers == [0, 1, 2])
    // And the receiver's own machinery makes frames of them.
    #expect(viewer.media!.damaged == 0)
    #expect(viewer.media!.frames.count > frames.count * 95 / 100)
  }
}
