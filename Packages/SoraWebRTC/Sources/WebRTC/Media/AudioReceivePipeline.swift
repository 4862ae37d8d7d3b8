import SoraAudio
import SoraMedia
import SoraRTP
import Synchronization

/// From Opus packets to a track's sound: the network loop puts packets in, the playout thread takes 10 ms at a time.
final class AudioReceivePipeline: @unchecked Sendable {
  // @unchecked: `buffer` and `skipped` are touched only under `lock`.

  private let lock = Mutex(())
  private let buffer: AudioJitterBuffer
  private var skipped: UInt64 = 0
  private let track: RTCAudioTrack
  private let channels: Int

  init(track: RTCAudioTrack) throws(AudioCodecError) {
    let decoder = try OpusDecoder(channels: 2)
    channels = decoder.channels
    buffer = AudioJitterBuffer(decoder: decoder)
    self.track = track
  }

  var statistics: AudioJitterBufferStats { lock.withLock { _ in buffer.stats } }
  /// Parts of redundant packets that are of another codec than the one that is decoded.
  var blocksSkipped: UInt64 { lock.withLock { _ in skipped } }

  /// Takes one packet. From the network loop.
  func insert(_ header: RTPHeader, _ payload: UnsafeRawBufferPointer, at now: Instant) {
    lock.withLock { _ in
      buffer.insert(
        sequenceNumber: header.sequenceNumber, timestamp: header.timestamp, payload: payload,
        at: now)
    }
  }

  /// Takes one packet with copies of those before it (RFC 2198). From the network loop.
  ///
  /// - Parameter codec: the payload type of the blocks that can be decoded; others are left out.
  func insertRedundant(
    _ header: RTPHeader, _ payload: UnsafeRawBufferPointer, codec: UInt8, at now: Instant
  ) {
    guard let blocks = try? REDPayload.Blocks(parsing: payload) else {
      // Not a packet of any codec: counted there.
      return insert(header, UnsafeRawBufferPointer(start: nil, count: 0), at: now)
    }
    func bytes(_ block: REDPayload.Block) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: payload[block.range])
    }
    lock.withLock { _ in
      for block in blocks where block.payloadType != codec { skipped &+= 1 }
      // The newest first: it is what tells the buffer where the stream is.
      for block in blocks where block.isPrimary && block.payloadType == codec {
        buffer.insert(
          sequenceNumber: header.sequenceNumber, timestamp: header.timestamp,
          payload: bytes(block), at: now)
      }
      var distance = blocks.count
      for block in blocks where !block.isPrimary {
        distance -= 1
        guard block.payloadType == codec, block.timestampOffset > 0 else { continue }
        // Senders repeat their last packets without a gap, so a copy's place tells its number.
        buffer.insertRedundant(
          sequenceNumber: header.sequenceNumber &- UInt16(truncatingIfNeeded: distance),
          timestamp: header.timestamp &- UInt32(block.timestampOffset), payload: bytes(block),
          at: now)
      }
    }
  }

  /// Gives the next 10 ms to the track's sinks. On the playout thread.
  func playOut(at now: Instant) {
    let count = AudioJitterBuffer.samplesPerPull * channels
    var hasBegun = false
    var samples = [Int16](unsafeUninitializedCapacity: count) { output, initialized in
      let playout = lock.withLock { _ in
        buffer.getAudio(at: now, into: UnsafeMutableBufferPointer(rebasing: output[..<count]))
      }
      hasBegun = playout.rtpTimestamp != nil
      initialized = count
    }
    // Before the first packet there is nothing to hear, and nothing to count as heard.
    guard hasBegun, track.isEnabled else { return }
    let volume = track.source.volume
    if volume != 1 {
      for index in samples.indices {
        samples[index] = Int16(clamping: Int((Double(samples[index]) * volume).rounded()))
      }
    }
    track.source.push(
      AudioFrame(samples: samples, sampleRate: 48_000, channels: channels, timestamp: now))
  }
}
