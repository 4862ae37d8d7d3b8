import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraTransport
import Testing

/// A client's media as a real one has it: a session that paces, estimates, asks for what is missing and puts frames together,
/// with stamped frames for codecs.
final class ClientMedia: RTPSessionDelegate {
  struct Frame {
    /// The layer of a simulcast, the lowest first, and its frame.
    var layer: Int
    var index: UInt32
    var isKeyFrame: Bool
    var sentAt: Instant
    var at: Instant
  }

  let session: RTPSession
  private let network: SimulatedNetwork
  private(set) var frames: [Frame] = []
  private(set) var damaged = 0
  /// Arrivals of audio packets, with the numbers that the server gave them.
  private(set) var audio: [(number: UInt16, at: Instant)] = []
  private(set) var keyFrameDemands: [Instant] = []
  /// The layers that they were of.
  private(set) var demandedLayers: [Int] = []
  private var layers: [Layer] = []
  /// Layers that aren't sent.
  var starved: Set<Int> = []

  /// A layer as it is sent.
  private struct Layer {
    var stream: RTPSendStream
    var rate: Int
    var keyFrameSize: Int
    var wantsKeyFrame = true
    var nextIndex: UInt32 = 0
  }

  init(_ network: SimulatedNetwork, output: any RTPSessionOutput) {
    self.network = network
    session = RTPSession(
      configuration: RTPSession.Configuration(
        cname: "client", wallClock: WallClock(unixNanoseconds: 1_750_000_000_000_000_000, at: .zero)
      ),
      random: network.random.fork(), output: output)
    session.delegate = self
  }

  /// Takes what the server's description sends.
  func receive(_ description: SessionDescription, at now: Instant) {
    let sections = description.media.filter { $0.port != 0 && $0.direction.sends }.map { media in
      RTPReceiveParameters(
        mid: media.mid ?? "", kind: media.kind == "audio" ? .audio : .video,
        payloads: media.codecs.map { codec in
          RTPReceiveParameters.Payload(
            type: codec.payloadType, codecName: codec.name, clockRate: codec.clockRate,
            associatedType: codec.name == "rtx" ? media.codecs.first?.payloadType : nil)
        }, extensions: media.extensionMap,
        signalledSSRCs: media.sources.map(\.ssrc),
        retransmissionPairs: media.sourceGroups.filter { $0.ssrcs.count == 2 }
          .map { ($0.ssrcs[0], $0.ssrcs[1]) })
    }
    session.setReceiveSections(sections, at: now)
  }

  // MARK: Sending

  /// What a publisher sends.
  struct Video {
    /// Without key frames, bits per second.
    var rate = 1_500_000
    var keyFrameSize = 30_000
    /// Three temporal layers, the lowest with this share of the rate; nil for none.
    var baseShare: Double?
    /// Whether frames say which others they need, as dependency descriptors pass it on; with temporal layers.
    var tellsReferences = false
    /// Bits per second of each layer of a simulcast; empty without one. `rate` and `keyFrameSize` are of no matter then.
    var layers: [Int] = []
  }

  /// Sends 30 frames and 50 packets of audio per second from now on.
  func start(_ video: Video, _ description: SessionDescription, audioMid: String, videoMid: String)
    throws
  {
    if video.layers.isEmpty {
      let stream = try #require(
        session.addSendStream(try parameters(.video, videoMid, description, ssrc: 1111)))
      layers = [Layer(stream: stream, rate: video.rate, keyFrameSize: video.keyFrameSize)]
    }
    for (index, rate) in video.layers.enumerated() {
      let stream = try #require(
        session.addSendStream(
          try parameters(
            .video, videoMid, description, ssrc: 1111 + UInt32(index) * 100, rid: "r\(index)")))
      layers.append(Layer(stream: stream, rate: rate, keyFrameSize: rate / 8 / 10))
    }
    let voice = try #require(
      session.addSendStream(try parameters(.audio, audioMid, description, ssrc: 3333)))
    network.every(.nanoseconds(33_333_333)) { [weak self] now in
      guard let self else { return }
      for index in layers.indices where !starved.contains(index) {
        send(video, on: index, at: now)
      }
    }
    network.every(.milliseconds(20)) { [weak self] now in
      let payload = EncodedBuffer([UInt8](repeating: 0xFC, count: 80))
      self?.session.send(
        EncodedFrame(
          payload: payload, isKeyFrame: true,
          rtpTimestamp: UInt32(truncatingIfNeeded: now.microseconds * 48 / 1000), timestamp: now),
        on: voice, at: now)
    }
  }

  private func parameters(
    _ kind: MediaKind, _ mid: String, _ description: SessionDescription, ssrc: UInt32,
    rid: String? = nil
  ) throws -> RTPSendParameters {
    let media = try #require(description.media.first { $0.mid == mid })
    let codec = try #require(media.codecs.first)
    let rtx = media.codecs.first { $0.name == "rtx" }
    return RTPSendParameters(
      mid: mid, rid: rid, kind: kind, ssrc: ssrc, payloadType: codec.payloadType,
      codecName: codec.name,
      clockRate: codec.clockRate, rtx: rtx.map { (ssrc + 1, $0.payloadType) },
      extensions: media.extensionMap, acceptsNack: kind == .video)
  }

  private func send(_ video: Video, on number: Int, at now: Instant) {
    let isKeyFrame = layers[number].wantsKeyFrame
    let rate = layers[number].rate
    layers[number].wantsKeyFrame = false
    var nextIndex = layers[number].nextIndex
    if isKeyFrame, video.baseShare != nil { nextIndex = (nextIndex + 3) / 4 * 4 }
    // T0 T2 T1 T2: a layer's frames refer to what is below them, and the second of T2 to T1 as well.
    let place = nextIndex % 4
    let layer = video.baseShare == nil ? 0 : [0, 2, 1, 2][Int(place)]
    var size = rate / 8 / 30
    if let base = video.baseShare {
      let rest = (1 - base) / 3
      size = Int(Double(rate) / 8 / 7.5 * (layer == 0 ? base : rest))
    }
    var frame = EncodedFrame(
      payload: Self.payload(
        nextIndex | UInt32(number) << 28, isKeyFrame: isKeyFrame,
        size: isKeyFrame ? layers[number].keyFrameSize : size, at: now),
      isKeyFrame: isKeyFrame,
      rtpTimestamp: UInt32(truncatingIfNeeded: now.microseconds * 9 / 100), timestamp: now)
    frame.temporalLayer = layer
    if video.baseShare != nil {
      frame.layers.temporalLayerCount = 3
      frame.layers.isLayerSync = place == 1 || place == 2
      if video.tellsReferences {
        let back: UInt8 = isKeyFrame ? 0 : [4, 1, 2, 1][Int(place)]
        frame.layers.append(
          SpatialLayerFrame(end: frame.payload.count, references: (back, 0, 0)))
      }
    }
    layers[number].nextIndex = nextIndex + 1
    session.send(frame, on: layers[number].stream, at: now)
  }

  /// Looks like VP8 from outside (RFC 6386 §9.1), and carries index, time and a check of every byte.
  private static func payload(
    _ index: UInt32, isKeyFrame: Bool, size: Int, at now: Instant
  ) -> EncodedBuffer {
    var bytes = [UInt8](repeating: 0, count: 22)
    bytes[0] = isKeyFrame ? 0x10 : 0x11
    if isKeyFrame {
      bytes.replaceSubrange(3..<10, with: [0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01])
    }
    for shift in 0..<4 { bytes[10 + shift] = UInt8(truncatingIfNeeded: index >> UInt32(8 * shift)) }
    for shift in 0..<8 {
      bytes[14 + shift] = UInt8(truncatingIfNeeded: now.nanoseconds >> Int64(8 * shift))
    }
    PayloadFilling.append(max(64, size) - bytes.count, of: index, to: &bytes)
    return EncodedBuffer(bytes)
  }

  // MARK: RTPSessionDelegate

  func session(
    _ session: RTPSession, received frame: EncodedFrame, on stream: RTPReceiveStream,
    at now: Instant
  ) {
    let bytes = frame.payload.bytes
    guard bytes.count >= 64 else {
      damaged += 1
      return
    }
    var index: UInt32 = 0
    for shift in 0..<4 { index |= UInt32(bytes[10 + shift]) << UInt32(8 * shift) }
    var nanoseconds: Int64 = 0
    for shift in 0..<8 { nanoseconds |= Int64(bytes[14 + shift]) << Int64(8 * shift) }
    guard PayloadFilling.isWhole(frame.payload.span, from: 22, of: index) else {
      damaged += 1
      return
    }
    frames.append(
      Frame(
        layer: Int(index >> 28), index: index & 0xFFF_FFFF, isKeyFrame: frame.isKeyFrame,
        sentAt: Instant(nanoseconds: nanoseconds),
        at: now))
  }

  func session(
    _ session: RTPSession, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    on stream: RTPReceiveStream, at now: Instant
  ) {
    audio.append((header.sequenceNumber, now))
  }

  func session(_ session: RTPSession, wantsKeyFrameOn stream: RTPSendStream, at now: Instant) {
    keyFrameDemands.append(now)
    guard let index = layers.firstIndex(where: { $0.stream === stream }) else { return }
    demandedLayers.append(index)
    layers[index].wantsKeyFrame = true
  }

  func session(_ session: RTPSession, changedTargetBitrate bitsPerSecond: Int, at now: Instant) {}
}

extension MediaDescription {
  fileprivate var extensionMap: RTPHeaderExtensionMap {
    RTPHeaderExtensionMap(extensions.map { (id: Int($0.id), uri: $0.uri) })
  }
}
