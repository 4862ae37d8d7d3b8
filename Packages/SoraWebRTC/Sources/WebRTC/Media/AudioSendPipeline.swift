import Dispatch
import SoraAudio
import SoraMedia
import SoraRTP
import SoraTransport
import Synchronization

/// From a source's sound to Opus packets that fit receiver and network, on a serial queue of its own.
final class AudioSendPipeline: AudioSink, @unchecked Sendable {
  // @unchecked: codec state is touched on `queue` alone; what is shared is in `shared`.

  /// What was negotiated.
  struct Settings: Sendable, Hashable {
    var format = OpusFormatParameters()
    /// Bits a second, of the section; nil without one.
    var bitrateLimit: Int?
    /// Earlier packets that each packet repeats.
    var redundancy = 0
  }

  private struct Shared {
    var isStopped = false
    var packetsEncoded: UInt64 = 0
    var errors: UInt64 = 0
    var totalAudioEnergy = 0.0
    var totalSamplesDuration = 0.0
    var audioLevel = 0.0
    var encoderSettings: OpusEncoderSettings
  }

  private let queue = DispatchQueue(label: "sora.audio.encode", qos: .userInteractive)
  private let shared: Mutex<Shared>
  private let output: @Sendable (EncodedFrame, RTPAudioLevel) -> Void
  private weak let track: RTCAudioTrack?
  private let encoder: OpusEncoder
  private var adapter: OpusNetworkAdapter
  private var resampler: (rate: Int, channels: Int, resampler: AudioResampler)?
  private var converted: [Int16] = []

  /// - Parameter output: takes each packet with its loudness, on the encoder's queue.
  init(
    track: RTCAudioTrack?, settings: Settings,
    output: @escaping @Sendable (EncodedFrame, RTPAudioLevel) -> Void
  ) throws(AudioCodecError) {
    var wanted = settings.format.encoderSettings(bitrateLimit: settings.bitrateLimit)
    let room =
      RTPSendStream.maximumPayload
      - (settings.redundancy == 0
        ? 0
        : settings.redundancy * REDPayload.redundantHeaderCount + REDPayload.primaryHeaderCount)
    adapter = OpusNetworkAdapter(
      OpusNetworkAdapter.Configuration(
        bitsPerSecond: wanted.bitsPerSecond ?? 32_000, channels: wanted.channels,
        durations: settings.format.packetDurations, allowsInBandFEC: wanted.usesInBandFEC,
        redundancy: settings.redundancy, maximumPayload: room))
    wanted.maximumPacketSize = room
    wanted.apply(adapter.decision)
    encoder = try OpusEncoder(wanted)
    shared = Mutex(Shared(encoderSettings: wanted))
    self.track = track
    self.output = output
  }

  func stop() { shared.withLock { $0.isStopped = true } }

  /// The encoder's settings at present.
  var encoderSettings: OpusEncoderSettings { shared.withLock { $0.encoderSettings } }

  /// Fits the encoder to what the network does. From any thread, about once a second.
  func setNetwork(_ network: OpusNetworkState, at now: Instant) {
    queue.async { self.fit(network, at: now) }
  }

  private func fit(_ network: OpusNetworkState, at now: Instant) {
    var settings = encoder.settings
    settings.apply(adapter.update(network, at: now))
    guard settings != encoder.settings else { return }
    do {
      try encoder.update(settings)
      shared.withLock { $0.encoderSettings = settings }
    } catch {
      shared.withLock { $0.errors &+= 1 }
    }
  }

  /// Members of W3C `RTCAudioSourceStats`.
  var energy: (level: Double, total: Double, duration: Double) {
    shared.withLock { ($0.audioLevel, $0.totalAudioEnergy, $0.totalSamplesDuration) }
  }

  func receive(_ frame: AudioFrame) {
    guard !shared.withLock({ $0.isStopped }) else { return }
    queue.async { self.encode(frame) }
  }

  private func encode(_ captured: AudioFrame) {
    guard !shared.withLock({ $0.isStopped }) else { return }
    guard var frame = at48kHz(captured) else {
      shared.withLock { $0.errors &+= 1 }
      return
    }
    // W3C mediacapture-main §4.3.1: a disabled audio track gives silence.
    if track?.isEnabled == false {
      frame.samples = [Int16](repeating: 0, count: frame.samples.count)
    }
    let meanSquare = frame.samples.withUnsafeBufferPointer { AudioLevel.meanSquare($0) }
    let level = AudioLevel.decibelsBelowOverload(meanSquare: meanSquare)
    let seconds = frame.duration.inSeconds
    shared.withLock { shared in
      shared.audioLevel = meanSquare.squareRoot() / 32_768
      shared.totalAudioEnergy += meanSquare / (32_768 * 32_768) * seconds
      shared.totalSamplesDuration += seconds
    }
    do {
      try encoder.encode(frame) { packet in
        shared.withLock { $0.packetsEncoded &+= 1 }
        // Louder than 50 dB below full scale counts as voice: RFC 6464 leaves the decision to the sender.
        output(packet, RTPAudioLevel(level: level, hasVoice: level < 50))
      }
    } catch {
      shared.withLock { $0.errors &+= 1 }
    }
  }

  private func at48kHz(_ frame: AudioFrame) -> AudioFrame? {
    guard frame.sampleRate != 48_000 else { return frame }
    if resampler?.rate != frame.sampleRate || resampler?.channels != frame.channels {
      guard
        let made = AudioResampler(
          inputRate: frame.sampleRate, outputRate: 48_000, channels: frame.channels)
      else { return nil }
      resampler = (frame.sampleRate, frame.channels, made)
    }
    converted.removeAll(keepingCapacity: true)
    frame.samples.withUnsafeBufferPointer { resampler?.resampler.process($0, into: &converted) }
    return AudioFrame(
      samples: converted, sampleRate: 48_000, channels: frame.channels, timestamp: frame.timestamp)
  }
}
