import SoraAudio
import SoraMedia
import SoraRTP

extension FuzzTarget {
  /// A few packets of a tone, as our encoder makes them.
  static var opusPackets: [[UInt8]] {
    guard let encoder = try? OpusEncoder(OpusEncoderSettings()) else { return [] }
    var packets: [[UInt8]] = []
    let tone = AudioFrame(
      samples: (0..<5_760).map { Int16(truncatingIfNeeded: ($0 % 96) * 300) }, sampleRate: 48_000,
      channels: 1, timestamp: .zero)
    try? encoder.encode(tone) { packets.append(Array($0.payload.bytes)) }
    return packets
  }

  static var opus: FuzzTarget {
    func seeds() -> [[UInt8]] {
      var script = ScriptWriter()
      for packet in opusPackets.prefix(4) { script.chunk(packet) }
      // Two frames of one size, two of different sizes, several with padding (RFC 6716 §3.2).
      script.chunk([0x79, 1, 2, 3, 4])
      script.chunk([0x7A, 2, 1, 2, 3])
      script.chunk([0x7B, 0xC2, 1, 1, 5, 6, 0])
      return [script.bytes]
    }
    return FuzzTarget("opus", maximumLength: 1500, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      guard let decoder = try? OpusDecoder(channels: 1 + bytes.count % 2) else { return }
      let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 5_760 * decoder.channels)
      defer { samples.deallocate() }
      for _ in 0..<10 where !input.isAtEnd {
        let packet = input.chunk()
        lendExactly(packet) { memory in
          let payload = UnsafeRawBufferPointer(memory)
          let count = OpusPacket.sampleCount(payload)
          _ = decoder.isSilence(payload)
          let missing = decoder.redundantSampleCount(of: payload)
          if missing > 0 {
            _ = try? decoder.decodeRedundancy(of: payload, sampleCount: missing, into: samples)
          }
          if let decoded = try? decoder.decode(payload, into: samples) {
            check(decoded == count, "decoded \(decoded) samples of \(count ?? 0)")
          }
        }
        _ = try? decoder.conceal(sampleCount: 480, into: samples)
      }
    }
  }

  static var audioJitterBuffer: FuzzTarget {
    jitterBuffer("audio-jitter-buffer") { choice in
      SilentPayloadDecoder(
        samplesPerPacket: [960, 480, 120, 5_760][Int(choice & 3)],
        channels: 1 + Int(choice >> 2 & 1))
    }
  }

  static var audioJitterBufferOpus: FuzzTarget {
    jitterBuffer("audio-jitter-buffer-opus") { try? OpusDecoder(channels: 1 + Int($0 & 1)) }
  }

  private static func jitterBuffer(
    _ name: String, decoder: @escaping (UInt8) -> (any AudioPayloadDecoder)?
  ) -> FuzzTarget {
    func seeds() -> [[UInt8]] {
      var script = ScriptWriter()
      script.byte(0)
      let packets = opusPackets
      for index in 0..<30 where index % 9 != 5 {
        script.byte(0)
        script.number16(65_520 + index)
        script.number32(UInt32(index) * 960)
        script.raw([20])
        let packet = packets[safe: index % max(1, packets.count)] ?? [0xF8, 0xFF, 0xFE]
        let short = index % 3 == 0 ? Array(packet.prefix(60)) : [0xF8, 0xFF, 0xFE]
        script.raw([UInt8(short.count)] + short)
        script.raw([1, 2])
      }
      return [script.bytes]
    }
    return FuzzTarget(name, maximumLength: 1500, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      let first = input.byte()
      guard let decoder = decoder(first) else { return }
      var configuration = AudioJitterBuffer.Configuration()
      if first & 0x80 != 0 { configuration.maximumPackets = Int(first & 0x7F) }
      if first & 0x40 != 0 { configuration.minimumDelay = .milliseconds(Int64(first)) }
      let buffer = AudioJitterBuffer(decoder: decoder, configuration: configuration)
      let output = UnsafeMutableBufferPointer<Int16>.allocate(
        capacity: AudioJitterBuffer.samplesPerPull * buffer.channels)
      defer { output.deallocate() }
      var now = Instant.zero
      var pulls = 0
      while !input.isAtEnd {
        let operation = input.byte()
        switch operation & 3 {
        case 0, 3:
          let number = input.number16()
          let timestamp = input.number32()
          now += input.step()
          let payload = input.shortChunk()
          lendExactly(payload) {
            buffer.insert(
              sequenceNumber: number, timestamp: timestamp, payload: UnsafeRawBufferPointer($0),
              at: now)
          }
        case 1:
          for _ in 0..<min(Int(input.byte() & 15), 400 - pulls) {
            now += .milliseconds(10)
            buffer.getAudio(at: now, into: output)
            pulls += 1
          }
        default:
          if operation & 0xFC == 0 { buffer.reset() } else { now += input.step() }
        }
        _ = (buffer.packetCount, buffer.targetDelay)
      }
    }
  }
}

extension Array {
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
