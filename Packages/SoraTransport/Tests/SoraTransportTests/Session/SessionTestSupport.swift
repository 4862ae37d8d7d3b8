import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import SoraWire
import Testing

/// What two ends of a test agree on.
enum TestStreams {
  static var extensions: RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    map.mid = 1
    map.absSendTime = 2
    map.audioLevel = 3
    map.transportSequenceNumber = 4
    map.videoOrientation = 5
    map.rid = 6
    map.repairedRid = 7
    return map
  }

  static func video(
    mid: String = "1", ssrc: UInt32 = 1000, rtx: Bool = true, nack: Bool = true
  ) -> RTPSendParameters {
    RTPSendParameters(
      mid: mid, kind: .video, ssrc: ssrc, payloadType: 96, codecName: "VP8", clockRate: 90_000,
      rtx: rtx ? (ssrc + 1, 97) : nil, extensions: extensions, acceptsNack: nack)
  }

  static func audio(mid: String = "0", ssrc: UInt32 = 2000) -> RTPSendParameters {
    RTPSendParameters(
      mid: mid, kind: .audio, ssrc: ssrc, payloadType: 111, codecName: "opus", clockRate: 48_000,
      extensions: extensions, acceptsNack: false)
  }

  static func videoSection(
    mid: String = "1", signalled: [UInt32] = [], nack: Bool = true
  ) -> RTPReceiveParameters {
    RTPReceiveParameters(
      mid: mid, kind: .video,
      payloads: [
        .init(type: 96, codecName: "VP8", clockRate: 90_000),
        .init(type: 97, codecName: "rtx", clockRate: 90_000, associatedType: 96),
      ],
      extensions: extensions, signalledSSRCs: signalled,
      retransmissionPairs: signalled.map { ($0, $0 + 1) }, sendsNack: nack)
  }

  static func audioSection(mid: String = "0") -> RTPReceiveParameters {
    RTPReceiveParameters(
      mid: mid, kind: .audio,
      payloads: [
        .init(type: 111, codecName: "opus", clockRate: 48_000),
        .init(type: 110, codecName: "telephone-event", clockRate: 48_000),
      ],
      extensions: extensions, sendsNack: false)
  }
}

/// `a` sends video and audio to `b` in virtual time; the video follows the estimate.
final class MediaCall {
  let pair: PeerPair
  let video: RTPSendStream
  let audio: RTPSendStream
  /// The most video to make, bits a second.
  var maximumVideo: Int

  init(
    _ pair: PeerPair, maximumVideo: Int, nack: Bool = true, rtx: Bool = true,
    audioFirst: Duration = .zero, videoStops: Instant? = nil,
    sending: (inout RTPSendParameters) -> Void = { _ in },
    receiving: (inout RTPReceiveParameters) -> Void = { _ in }
  ) throws {
    self.pair = pair
    self.maximumVideo = maximumVideo
    var parameters = [TestStreams.video(rtx: rtx, nack: nack), TestStreams.audio()]
    var sections = [TestStreams.audioSection(), TestStreams.videoSection(nack: nack)]
    for index in parameters.indices { sending(&parameters[index]) }
    for index in sections.indices { receiving(&sections[index]) }
    video = try #require(pair.a.session.addSendStream(parameters[0]))
    audio = try #require(pair.a.session.addSendStream(parameters[1]))
    pair.b.session.setReceiveSections(sections, at: pair.network.now)
    try #require(pair.connect())
    let start = pair.network.now
    let network = pair.network
    network.every(.nanoseconds(33_333_333)) { [a = pair.a, video, weak self] now in
      guard let self, now - start >= audioFirst, now < videoStops ?? .distant else { return }
      let target = a.targets.last ?? a.session.estimatedBitrate
      let rate = max(30_000, min(target - 50_000, self.maximumVideo))
      a.sendVideo(on: video, size: rate / 8 / 30, at: now)
    }
    network.every(.milliseconds(20)) { [a = pair.a, audio] now in a.sendAudio(on: audio, at: now) }
  }

  var received: RTPReceiveStream? {
    pair.b.session.receiveStreams.first { $0.kind == .video }
  }

  /// Bytes of all RTP packets that have left.
  var bytesSent: UInt64 {
    [video, audio].reduce(0) { $0 + $1.statistics.bytesSent + $1.statistics.headerBytesSent }
  }

  /// The longest time between two frames that came out.
  var longestPause: Duration {
    var longest = Duration.zero
    for (one, next) in zip(pair.b.frames, pair.b.frames.dropFirst()) {
      longest = max(longest, next.at - one.at)
    }
    return longest
  }
}

extension Instant {
  static let distant = Instant(nanoseconds: .max)
}

/// A session whose packets are kept instead of sent, and whose peer is the test.
final class SessionBench: RTPSessionDelegate, RTPSessionOutput {
  private(set) var session: RTPSession
  private(set) var rtp: [[UInt8]] = []
  private(set) var rtcp: [[UInt8]] = []
  private(set) var frames: [EncodedFrame] = []
  private(set) var audio: [UInt16] = []
  private(set) var keyFrameDemands: [Instant] = []
  private(set) var changedSSRCs: [UInt32] = []
  var now = Instant(nanoseconds: 1_000_000_000)
  var isWritable = true

  /// Stands in for the output until the session is there.
  private final class Relay: RTPSessionOutput {
    unowned var bench: SessionBench?
    func sendRTP(_ packet: UnsafeRawBufferPointer, ecn: ECNCodepoint) -> Bool {
      bench?.sendRTP(packet, ecn: ecn) ?? false
    }
    func sendRTCP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
      bench?.sendRTCP(capacity: capacity, write) ?? false
    }
  }

  init(seed: UInt64 = 3) {
    let relay = Relay()
    session = RTPSession(
      configuration: RTPSession.Configuration(
        cname: "bench",
        wallClock: WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero)),
      random: RandomSource(seed: seed), output: relay)
    relay.bench = self
    session.delegate = self
  }

  func sendRTP(_ packet: UnsafeRawBufferPointer, ecn: ECNCodepoint) -> Bool {
    if isWritable { rtp.append(Array(packet)) }
    return isWritable
  }

  func sendRTPAgain(_ packet: UnsafeRawBufferPointer) -> Bool { sendRTP(packet, ecn: .notECT) }

  func sendRTCP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
    guard isWritable else { return false }
    var bytes = [UInt8](repeating: 0, count: capacity)
    let count = bytes.withUnsafeMutableBytes { write($0) }
    if count > 0 { rtcp.append(Array(bytes[..<count])) }
    return count > 0
  }

  /// Takes what was sent since the last call.
  func takeRTP() -> [[UInt8]] {
    defer { rtp = [] }
    return rtp
  }
  func takeRTCP() -> [[UInt8]] {
    defer { rtcp = [] }
    return rtcp
  }

  func receive(_ packet: [UInt8]) {
    var copy = packet
    copy.withUnsafeMutableBytes { session.receiveRTP($0, at: now) }
  }

  func receiveRTCP(_ packet: [UInt8]) {
    packet.withUnsafeBytes { session.receiveRTCP($0, at: now) }
  }

  /// Lets time pass, with polls where the session wants them; how many there were.
  @discardableResult
  func pass(_ duration: Duration) -> Int {
    let end = now + duration
    var polls = 0
    while let deadline = session.nextDeadline, deadline <= end, polls < 100_000 {
      now = max(now, deadline)
      session.poll(at: now)
      polls += 1
    }
    now = end
    return polls
  }

  func session(
    _ session: RTPSession, received frame: EncodedFrame, on stream: RTPReceiveStream,
    at now: Instant
  ) { frames.append(frame) }
  func session(
    _ session: RTPSession, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    on stream: RTPReceiveStream, at now: Instant
  ) { audio.append(header.sequenceNumber) }
  func session(_ session: RTPSession, wantsKeyFrameOn stream: RTPSendStream, at now: Instant) {
    keyFrameDemands.append(now)
  }
  func session(_ session: RTPSession, changedTargetBitrate bitsPerSecond: Int, at now: Instant) {}
  func session(_ session: RTPSession, changedSSRCOf stream: RTPSendStream, from ssrc: UInt32) {
    changedSSRCs.append(ssrc)
  }
}

extension SessionBench {
  /// A plain video packet that is a whole key frame by itself.
  static func videoPacket(
    number: UInt16, timestamp: UInt32, ssrc: UInt32 = 1000, mid: String? = "1",
    payloadType: UInt8 = 96, isKeyFrame: Bool = true, pictureID: UInt16 = 0, rid: String? = nil,
    repairs: String? = nil, original: UInt16? = nil
  ) -> [UInt8] {
    var packet = [UInt8](repeating: 0, count: 200)
    let count = packet.withUnsafeMutableBytes { memory -> Int in
      var writer = RTPPacketWriter(into: memory)
      var values = RTPHeaderExtensions()
      values.mid = mid.flatMap { RTPExtensionText($0) }
      values.rid = rid.flatMap { RTPExtensionText($0) }
      values.repairedRid = repairs.flatMap { RTPExtensionText($0) }
      values.transportSequenceNumber = number
      let header = RTPHeader(
        payloadType: payloadType, sequenceNumber: number, timestamp: timestamp, ssrc: ssrc,
        marker: true)
      guard
        (try? writer.writeHeader(header, extensions: values, map: TestStreams.extensions)) != nil
      else { return 0 }
      var frame = [UInt8](repeating: 0, count: 40)
      StampedFrame.fill(&frame, index: UInt32(original ?? number), isKeyFrame: isKeyFrame)
      // X, S; I; a 15-bit picture id (RFC 7741 §4.2).
      let descriptor: [UInt8] = [
        0x90, 0x80, 0x80 | UInt8(pictureID >> 8 & 0x7F), UInt8(truncatingIfNeeded: pictureID),
      ]
      // RFC 4588 §4: a retransmission has the original's number first.
      let number = original.map { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
      let payload = number + descriptor + frame
      writer.free.copyBytes(from: payload)
      writer.advance(by: payload.count)
      return writer.count
    }
    return Array(packet[..<count])
  }

  static func pli(_ media: UInt32) -> [UInt8] {
    rtcp { writer throws(RTPError) in try writer.pictureLossIndication(sender: 7, media: media) }
  }

  static func rtcp(_ body: (inout RTCPWriter) throws(RTPError) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1200)
    let count = bytes.withUnsafeMutableBytes { memory -> Int in
      var writer = RTCPWriter(into: memory)
      do throws(RTPError) { try body(&writer) } catch { return 0 }
      return writer.count
    }
    return Array(bytes[..<count])
  }
}
