package import Dispatch
package import SoraAudio
package import SoraMedia
package import SoraRTP
import SoraTransport
import Synchronization

/// From a source's audio to packets that fit receiver and network, on a serial queue of its own. Opus packets that are encoded already go
/// on as they are, where Opus was negotiated.
///
/// The source's thread only hands frames over. If the encoder's queue stands still, the oldest frames are dropped and
/// counted, and RTP timestamps go on over what is missing.
package final class AudioSendPipeline: AudioSink, AudioPacketSink, @unchecked Sendable {
  // @unchecked: codec state is touched on `queue` alone; what is shared is in `shared`.

  /// What was negotiated.
  package struct Settings: Sendable, Hashable {
    var codec = AudioCodecKind.opus
    var format = OpusFormatParameters()
    /// Bits per second, of the section; nil without one.
    var bitrateLimit: Int?
    /// Earlier packets that each packet repeats.
    var redundancy = 0
    /// Whether the length of packets may follow the network.
    var adaptsPacketTime = true

    package init() {}

    init(
      codec: AudioCodecKind, format: OpusFormatParameters, bitrateLimit: Int?, redundancy: Int,
      adaptsPacketTime: Bool
    ) {
      self.codec = codec
      self.format = format
      self.bitrateLimit = bitrateLimit
      self.redundancy = redundancy
      self.adaptsPacketTime = adaptsPacketTime
    }
  }

  /// Audio that was to be sent and wasn't.
  package struct Losses: Sendable, Hashable {
    /// Frames that gave way to newer ones because the encoder was behind.
    package var framesDropped: UInt64 = 0
    /// Frames that couldn't be resampled or encoded.
    package var framesFailed: UInt64 = 0
  }

  /// Captured audio that waits for the encoder. A busy machine may keep a thread waiting for as long; more would be heard
  /// as delay.
  package static let maximumBacklog = Duration.milliseconds(200)

  /// Packets of 2.5 ms at least that may wait for the queue.
  private static let maximumPackets = 80

  private struct Shared {
    var isStopped = false
    var backlog = AudioBacklog(limit: maximumBacklog)
    var framesFailed: UInt64 = 0
    /// Packets that were encoded before, on their way to the queue.
    var packetsWaiting = 0
    var packetsDropped: UInt64 = 0
    /// nil for G.711, which has none.
    var encoderSettings: OpusEncoderSettings?
    var source = AudioSourceStatistics()
  }

  private let queue: DispatchQueue
  private let shared: Mutex<Shared>
  private let output: @Sendable (EncodedFrame, RTPAudioLevel?) -> Void
  private weak let track: RTCAudioTrack?
  private let encoder: any AudioPacketEncoder
  /// Where it is Opus.
  private var opus: FittedOpus?
  private var resampler: (rate: Int, channels: Int, resampler: AudioResampler)?
  private var converted: [Int16] = []
  private var packets: AudioPacketClock

  /// - Parameters:
  ///   - start: where RTP timestamps begin. Who sends one pipeline's audio behind another's says by how much later that is: receivers take
  ///     timestamps that go back for packets that come too late.
  ///   - queue: serial; the encoder runs on it.
  ///   - output: takes each packet with its level, nil if unknown, on the encoder's queue.
  package init(
    track: RTCAudioTrack?, settings: Settings, start: Instant = .zero,
    queue: DispatchQueue = DispatchQueue(label: "sora.audio.encode", qos: .userInteractive),
    output: @escaping @Sendable (EncodedFrame, RTPAudioLevel?) -> Void
  ) throws(AudioCodecError) {
    if let law = G711Law(settings.codec) {
      encoder = G711Encoder(law)
    } else {
      let made = try FittedOpus(
        format: settings.format, bitrateLimit: settings.bitrateLimit,
        redundancy: settings.redundancy, adaptsPacketTime: settings.adaptsPacketTime)
      opus = made
      encoder = made.encoder
    }
    let samples = start.nanoseconds / 1_000_000 * Int64(encoder.sampleRate / 1_000)
    encoder.skip(sampleCount: Int(samples))
    packets = AudioPacketClock(start: UInt32(truncatingIfNeeded: samples))
    shared = Mutex(Shared(encoderSettings: opus?.encoder.settings))
    self.track = track
    self.queue = queue
    self.output = output
  }

  /// Encodes no more. From any thread.
  package func stop() {
    shared.withLock {
      $0.isStopped = true
      $0.backlog.removeAll()
    }
  }

  /// The encoder's settings at present. From any thread.
  var encoderSettings: OpusEncoderSettings? { shared.withLock { $0.encoderSettings } }

  /// How loud the source was. From any thread.
  var sourceStatistics: AudioSourceStatistics { shared.withLock { $0.source } }

  /// From any thread.
  package var losses: Losses {
    shared.withLock {
      Losses(
        framesDropped: $0.backlog.framesDropped &+ $0.packetsDropped,
        framesFailed: $0.framesFailed)
    }
  }

  /// Fits the encoder to what the network does. From any thread, about once per second.
  func setNetwork(_ network: OpusNetworkState, at now: Instant) {
    queue.async { self.fit(network, at: now) }
  }

  private func fit(_ network: OpusNetworkState, at now: Instant) {
    guard let settings = opus?.fit(network, at: now) else { return }
    shared.withLock { $0.encoderSettings = settings }
  }

  /// Hands a frame to the encoder's queue. From any thread, one at a time.
  package func receive(_ frame: AudioFrame) {
    let starts = shared.withLock { !$0.isStopped && $0.backlog.append(frame) }
    if starts { queue.async { self.encodeNext() } }
  }

  /// One frame per job, so that other work of the queue isn't kept waiting by a backlog.
  private func encodeNext() {
    if let next = shared.withLock({ $0.backlog.takeFirst() }) {
      // The receiver plays comfort noise over the gap and what follows at its time.
      if next.lost > .zero {
        encoder.skip(
          sampleCount: Int(next.lost.wholeNanoseconds * Int64(encoder.sampleRate) / 1_000_000_000))
      }
      encode(next.frame)
    }
    if shared.withLock({ $0.backlog.finishFirst() }) { queue.async { self.encodeNext() } }
  }

  private func encode(_ captured: AudioFrame) {
    guard var frame = atEncodersRate(captured) else {
      shared.withLock { $0.framesFailed &+= 1 }
      return
    }
    // W3C mediacapture-main §4.3.1: a disabled audio track gives silence.
    if track?.isEnabled == false {
      frame.samples = [Int16](repeating: 0, count: frame.samples.count)
    }
    let meanSquare = AudioLevel.meanSquare(frame.samples.span)
    let level = AudioLevel.decibelsBelowOverload(meanSquare: meanSquare)
    shared.withLock {
      $0.source.count(
        meanSquare: meanSquare, seconds: Double(frame.frameCount) / Double(frame.sampleRate))
    }
    do {
      try encoder.encode(frame) { packet in
        if opus != nil { packets.sent(packet) }
        // Louder than 50 dB below full scale counts as voice: RFC 6464 leaves the decision to the sender.
        output(packet, RTPAudioLevel(level: level, hasVoice: level < 50))
      }
    } catch {
      shared.withLock { $0.framesFailed &+= 1 }
    }
  }

  /// Hands a packet that is encoded already to the queue. From any thread, one at a time.
  package func receive(packet: EncodedFrame) {
    let takes = shared.withLock { shared in
      guard !shared.isStopped else { return false }
      guard shared.packetsWaiting < Self.maximumPackets else {
        shared.packetsDropped &+= 1
        return false
      }
      shared.packetsWaiting += 1
      return true
    }
    guard takes else { return }
    queue.async {
      self.shared.withLock { $0.packetsWaiting -= 1 }
      self.send(packet)
    }
  }

  private func send(_ packet: EncodedFrame) {
    guard let opus, let samples = packet.opusSampleCount,
      packet.payload.count <= opus.encoder.settings.maximumPacketSize
    else {
      shared.withLock { $0.framesFailed &+= 1 }
      return
    }
    let placed = packets.place(packet, samples: samples)
    // Audio that is encoded here later goes on behind it.
    encoder.skip(sampleCount: placed.advance)
    // W3C mediacapture-main §4.3.1 has silence of a disabled track, which receivers make of a gap.
    guard track?.isEnabled != false else { return }
    output(placed.packet, nil)
  }

  private func atEncodersRate(_ frame: AudioFrame) -> AudioFrame? {
    guard frame.sampleRate != encoder.sampleRate else { return frame }
    if resampler?.rate != frame.sampleRate || resampler?.channels != frame.channels {
      guard
        let made = AudioResampler(
          inputRate: frame.sampleRate, outputRate: encoder.sampleRate, channels: frame.channels)
      else { return nil }
      resampler = (frame.sampleRate, frame.channels, made)
    }
    converted.removeAll(keepingCapacity: true)
    resampler?.resampler.process(frame.samples.span, into: &converted)
    return AudioFrame(
      samples: converted, sampleRate: encoder.sampleRate, channels: frame.channels,
      timestamp: frame.timestamp)
  }
}
