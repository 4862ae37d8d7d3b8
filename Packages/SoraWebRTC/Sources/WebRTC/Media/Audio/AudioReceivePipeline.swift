package import Dispatch
package import SoraAudio
package import SoraMedia
package import SoraRTP
import Synchronization

/// From packets to a track's audio.
///
/// Three threads meet here and none waits for another: the network loop hands packets over, the playout queue decodes
/// 10 ms at a time, and a serial queue of this track's own runs the app's sinks. Sinks that are too slow lose the oldest
/// frames (`framesDropped`) and delay no packet, no decoder and no other track.
package final class AudioReceivePipeline: @unchecked Sendable {
  // @unchecked: what stands below `Playout queue alone` is touched by `playOut` only, which one serial queue calls.

  private struct Snapshot {
    var buffer = AudioJitterBufferStats()
    var blocksSkipped: UInt64 = 0
    var played: PlayedMedia?
  }

  /// Decoded audio that waits for the sinks. Bridges a sink's write to a slow disk.
  package static let maximumBacklog = Duration.milliseconds(500)

  private let packets = AudioPacketHandover()
  private let track: RTCAudioTrack
  private let sinkQueue: DispatchQueue
  private let backlog = Mutex(AudioBacklog(limit: maximumBacklog))
  private let published = Mutex(Snapshot())
  private let minimumDelay = Mutex(Duration.zero)

  // Playout queue alone.
  private let buffer: AudioJitterBuffer
  private var clock: RTPClockScale
  private var batch = AudioPacketBatch()
  private var skipped: UInt64 = 0
  private var samples: [Int16]

  /// - Parameters:
  ///   - decoder: this pipeline's alone from now on.
  ///   - clockRate: of the packets' RTP timestamps, in Hz: 48,000 or a part of it.
  ///   - sinkQueue: serial; the track's sinks run on it.
  package init(
    track: RTCAudioTrack, decoder: any AudioPayloadDecoder, clockRate: Int = 48_000,
    sinkQueue: DispatchQueue = DispatchQueue(label: "sora.audio.sinks", qos: .userInteractive)
  ) {
    self.track = track
    self.sinkQueue = sinkQueue
    clock = RTPClockScale(clockRate: clockRate)
    buffer = AudioJitterBuffer(decoder: decoder)
    samples = [Int16](
      repeating: 0, count: AudioJitterBuffer.samplesPerPull * buffer.channels)
  }

  /// A pipeline with a codec's decoder. Throws `AudioCodecError` if there is none to be had.
  convenience init(track: RTCAudioTrack, codec: AudioCodecKind) throws(AudioCodecError) {
    let decoder: any AudioPayloadDecoder =
      if let law = G711Law(codec) { try G711Decoder(law) } else { try OpusDecoder(channels: 2) }
    self.init(track: track, decoder: decoder, clockRate: codec.clockRate)
  }

  /// The jitter buffer's counters as of the last 10 ms that were played. From any thread.
  package var statistics: AudioJitterBufferStats { published.withLock { $0.buffer } }
  /// What was handed to the sinks last, and when it is heard; nil before the first packet was played. From any thread.
  package var played: PlayedMedia? {
    guard var played = published.withLock({ $0.played }) else { return nil }
    played.time = played.time + playoutLatency
    return played
  }
  /// From the sinks to what is heard. From any thread.
  var playoutLatency: Duration { track.source.broadcaster.playoutLatency }
  /// Keeps audio back for at least so long from the next 10 ms on, counted from the fastest packets. From any thread.
  package func setMinimumDelay(_ value: Duration) { minimumDelay.withLock { $0 = value } }
  /// Parts of redundant packets that are of another codec than the one that is decoded. From any thread.
  package var blocksSkipped: UInt64 { published.withLock { $0.blocksSkipped } }
  /// Frames of 10 ms that the track's sinks were too slow for. From any thread.
  package var framesDropped: UInt64 { backlog.withLock { $0.framesDropped } }

  // MARK: Network loop

  /// Takes one packet. From the network loop; never waits for decoding or sinks.
  package func insert(
    _ header: RTPHeader, _ payload: UnsafeRawBufferPointer, at now: Instant
  ) {
    unsafe packets.insert(
      sequenceNumber: header.sequenceNumber, timestamp: header.timestamp, redundantCodec: nil,
      payload: payload, arrival: now)
  }

  /// Takes one packet with copies of those before it (RFC 2198), likewise.
  ///
  /// - Parameter codec: the payload type of the blocks that can be decoded; others are left out.
  package func insertRedundant(
    _ header: RTPHeader, _ payload: UnsafeRawBufferPointer, codec: UInt8, at now: Instant
  ) {
    unsafe packets.insert(
      sequenceNumber: header.sequenceNumber, timestamp: header.timestamp, redundantCodec: codec,
      payload: payload, arrival: now)
  }

  // MARK: Playout queue

  /// Decodes the next 10 ms and hands them to the queue of the track's sinks. On the playout queue.
  package func playOut(at now: Instant) {
    let discarded = packets.exchange(&batch)
    unsafe batch.forEach { packet, payload in
      if let codec = packet.redundantCodec {
        unsafe decodeLaterFromRedundant(packet, payload, codec: codec)
      } else {
        unsafe decodeLater(packet, payload)
      }
    }
    buffer.configuration.minimumDelay = minimumDelay.withLock { $0 }
    var output = samples.mutableSpan
    let playout = buffer.getAudio(at: now, into: &output)
    var statistics = buffer.stats
    statistics.packetsDiscarded &+= discarded
    let played = playout.rtpTimestamp.flatMap { timestamp in
      buffer.currentDelay.map {
        PlayedMedia(rtpTimestamp: clock.packetTime(timestamp), time: now, delay: $0)
      }
    }
    published.withLock {
      $0 = Snapshot(
        buffer: statistics, blocksSkipped: skipped, played: played ?? $0.played)
    }
    // Before the first packet there is nothing to hear, and nothing to count as heard.
    guard playout.rtpTimestamp != nil, track.isEnabled, !track.source.broadcaster.isEmpty else {
      return
    }
    deliver(
      AudioFrame(
        samples: samples, sampleRate: 48_000, channels: buffer.channels, timestamp: now))
  }

  private func decodeLater(_ packet: AudioPacketBatch.Packet, _ payload: UnsafeRawBufferPointer) {
    unsafe buffer.insert(
      sequenceNumber: packet.sequenceNumber, timestamp: clock.bufferTime(packet.timestamp),
      payload: payload, at: packet.arrival)
  }

  private func decodeLaterFromRedundant(
    _ packet: AudioPacketBatch.Packet, _ payload: UnsafeRawBufferPointer, codec: UInt8
  ) {
    guard let blocks = unsafe try? REDPayload.Blocks(parsing: payload) else {
      // Not a packet of any codec: counted as malformed there.
      return unsafe decodeLater(packet, UnsafeRawBufferPointer(start: nil, count: 0))
    }
    func bytes(_ block: REDPayload.Block) -> UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(rebasing: payload[block.range])
    }
    for block in blocks where block.payloadType != codec { skipped &+= 1 }
    // The newest first: it is what tells the buffer where the stream is.
    for block in blocks where block.isPrimary && block.payloadType == codec {
      unsafe decodeLater(packet, bytes(block))
    }
    var distance = blocks.count
    for block in blocks where !block.isPrimary {
      distance -= 1
      guard block.payloadType == codec, block.timestampOffset > 0 else { continue }
      // Senders repeat their last packets without a gap, so a copy's place tells its number.
      unsafe buffer.insertRedundant(
        sequenceNumber: packet.sequenceNumber &- UInt16(truncatingIfNeeded: distance),
        timestamp: packet.timestamp &- UInt32(block.timestampOffset), payload: bytes(block),
        at: packet.arrival)
    }
  }

  // MARK: Sinks

  private func deliver(_ frame: AudioFrame) {
    if backlog.withLock({ $0.append(frame) }) { sinkQueue.async { self.deliverNext() } }
  }

  /// One frame per job, on the queue of the sinks.
  private func deliverNext() {
    if var frame = backlog.withLock({ $0.takeFirst() })?.frame {
      let volume = track.source.volume
      frame.scale(from: volume, to: volume)
      track.source.push(frame)
    }
    if backlog.withLock({ $0.finishFirst() }) { sinkQueue.async { self.deliverNext() } }
  }
}
