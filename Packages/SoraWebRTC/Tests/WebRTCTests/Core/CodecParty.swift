import SoraCapture
import SoraCodecs
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRecording
import SoraRTP
import SoraSDP
import SoraTransport
import SoraWire
import WebRTC

/// One end of a simulated call with real codecs: it encodes the test pattern, or decodes and compares with it.
final class CodecParty: SimulatedEndpoint, PeerConnectionCoreDelegate {
  /// A picture that was shown.
  struct Shown {
    /// The frame's index; nil where its stamp couldn't be read.
    var index: UInt32?
    var psnr: Double
    var at: Instant
  }

  let core: PeerConnectionCore
  let address: TransportAddress
  private let kind: VideoCodecKind
  private let registry: VideoCodecRegistry
  private let pattern = TestPattern(width: 320, height: 180)
  private var encoder: (any VideoEncoder)?
  private var decoder: (any VideoDecoder)?
  private var wantsKeyFrame = true
  private(set) var framesSent: UInt32 = 0
  private(set) var keyFramesSent = 0
  private(set) var encodeErrors: [any Error] = []
  private(set) var shown: [Shown] = []
  private(set) var decodeErrors: [any Error] = []
  /// Gets what is received before it is decoded.
  var recorder: MediaRecorder?

  init(
    _ network: SimulatedNetwork, _ address: TransportAddress, serial: UInt64, sends: Bool,
    codec: CodecCapability, kind: VideoCodecKind, registry: VideoCodecRegistry
  ) throws {
    self.address = address
    self.kind = kind
    self.registry = registry
    var configuration = PeerConnectionCore.Configuration(
      certificate: try SimulationCertificate.make(serial), dtls: StandInDTLSFactory(),
      wallClock: WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero))
    configuration.videoCodecs = [codec]
    core = PeerConnectionCore(
      configuration: configuration, random: network.random.fork(), sink: network)
    core.delegate = self
    if sends { core.negotiator.addTrack(.video, trackID: "video", streamIDs: ["stream"]) }
    network.bind(self, to: address)
  }

  /// Encodes and sends the next picture.
  func sendVideo(at now: Instant) {
    guard core.transport.isWritable,
      let section = core.media.first(where: { $0.kind == .video }), let send = section.send
    else { return }
    let frame = RawVideoFrame(
      buffer: pattern.frame(index: framesSent, milliseconds: UInt32(now.microseconds / 1000)),
      timestamp: now)
    do {
      let encoder = try self.encoder ?? makeEncoder(send.codec.parameters)
      self.encoder = encoder
      let isKeyFrame = wantsKeyFrame
      guard
        let encoded = try encoder.encode(
          frame, forceKeyFrame: isKeyFrame,
          rtpTimestamp: UInt32(truncatingIfNeeded: now.microseconds * 9 / 100))
      else { return }
      wantsKeyFrame = false
      framesSent += 1
      if encoded.isKeyFrame { keyFramesSent += 1 }
      core.send(encoded, transceiverID: section.transceiverID, at: now)
    } catch {
      encodeErrors.append(error)
    }
  }

  private func makeEncoder(_ parameters: FormatParameters) throws(CodecError) -> any VideoEncoder {
    var settings = VideoEncoderSettings(
      width: pattern.width, height: pattern.height, targetBitsPerSecond: 500_000, threads: 1)
    settings.formatParameters = parameters.dictionary
    return try registry.makeEncoder(kind, settings: settings)
  }

  // MARK: SimulatedEndpoint

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    core.receive(bytes, from: source, on: local, ecn: ecn, at: now)
  }

  func poll(at now: Instant) { core.poll(at: now) }
  var nextDeadline: Instant? { core.nextDeadline }

  // MARK: PeerConnectionCoreDelegate

  func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant) {
    if case .keyFrameWanted = event { wantsKeyFrame = true }
  }

  func core(
    _ core: PeerConnectionCore, receivedVideo frame: EncodedFrame, codec: String,
    transceiverID: Int, at now: Instant
  ) {
    if let recorder, let codec = MediaCodec(encodingName: codec) {
      recorder.receive(
        EncodedTrackFrame(
          codec: codec, frame: frame,
          captureTime: core.captureTime(of: frame.rtpTimestamp, transceiverID: transceiverID),
          receiveTime: now))
    }
    do {
      let decoder = try self.decoder ?? registry.makeDecoder(kind)
      self.decoder = decoder
      guard let picture = try decoder.decode(frame) else { return }
      show(picture, at: now)
    } catch {
      decodeErrors.append(error)
      core.requestKeyFrame(transceiverID: transceiverID, at: now)
    }
  }

  func core(
    _ core: PeerConnectionCore, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    transceiverID: Int, at now: Instant
  ) {}

  private func show(_ picture: RawVideoFrame, at now: Instant) {
    guard let stamp = FrameStamp(reading: picture.buffer) else {
      shown.append(Shown(index: nil, psnr: 0, at: now))
      return
    }
    let original = pattern.frame(index: stamp.index, milliseconds: stamp.milliseconds)
    shown.append(
      Shown(
        index: stamp.index, psnr: PictureQuality.psnr(original, picture.buffer) ?? 0, at: now))
  }
}
