import SoraCodecs
import SoraMedia
import SoraRTP
import SoraVP8

extension FuzzTarget {
  static var vp8Payload: FuzzTarget {
    let seeds: () -> [[UInt8]] = {
      [
        [0x10, 0x9D, 0x01, 0x2A], [0x90, 0x80, 0x85, 0x12, 0x34],
        [0x90, 0xE0, 0x80, 1, 7, 0x60, 0x30, 1, 0, 0x9D, 0x01, 0x2A, 64, 1, 180, 0],
        [0x80, 0xF0, 5, 9, 0xA3, 1],
      ]
    }
    return FuzzTarget("vp8-payload", maximumLength: 256, seeds: seeds()) { input in
      var count = 0
      if (try? VP8Descriptor(parsing: input, count: &count)) != nil {
        check(count <= input.count, "a descriptor longer than its payload")
      }
      _ = VP8FrameHeader(input.bindMemory(to: UInt8.self).span)
      checkPayload(input, VP8Depayloader(), isVerbatim: true)
      cutVP8(input)
    }
  }

  /// What a payloader cuts up must come together again.
  private static func cutVP8(_ input: UnsafeRawBufferPointer) {
    guard input.count > 2 else { return }
    var frame = Self.frame(Array(input))
    frame.layers.temporalLayerCount = 1 + Int(input[1] & 1)
    if let whole = joined(frame, VP8PayloadFormat(), 1 + Int(input[0])) {
      check(whole.elementsEqual(input), "the frame came out changed")
    }
  }

  static var videoJitterBuffer: FuzzTarget {
    func seeds() -> [[UInt8]] {
      var script = ScriptWriter()
      for index in 0..<24 {
        let isKey = index % 12 < 2
        script.byte(UInt8(index % 5 == 4 ? 0x05 : 0x01))
        script.number16(65_530 + (index ^ (index % 3 == 0 ? 1 : 0)))
        script.number32(UInt32(index / 2) * 3_000)
        script.byte(index % 2 == 1 ? 0x80 | 96 : 96)
        script.byte(8)
        script.raw([
          index % 2 == 0 ? 0x90 : 0x80, 0xE0, 0x80, UInt8(index / 2), UInt8(index / 2), 0x20,
          isKey ? 0x10 : 0x11, 2,
        ])
        if index % 4 == 3 { script.raw([0x02, 20]) }
      }
      return [script.bytes]
    }
    return jitterBuffer("video-jitter-buffer", RTPPayloadFormats.vp8, seeds: seeds())
  }

  /// Packets, losses and time for a jitter buffer, as a script.
  static func jitterBuffer(
    _ name: String, _ format: any RTPPayloadFormat, seeds: @autoclosure @escaping () -> [[UInt8]]
  ) -> FuzzTarget {
    FuzzTarget(name, maximumLength: 2048, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      var configuration = VideoJitterBuffer.Configuration()
      configuration.maximumPayload = 200
      configuration.maximumFrames = 24
      let buffer = VideoJitterBuffer(configuration: configuration)
      buffer.setFormat(format, payloadType: 96)
      var now = Instant.zero
      while !input.isAtEnd {
        let operation = input.byte()
        switch operation & 3 {
        case 0, 1:
          var header = RTPHeader(
            payloadType: 0, sequenceNumber: input.number16(), timestamp: input.number32(), ssrc: 1)
          let type = input.byte()
          header.marker = type & 0x80 != 0
          header.payloadType = type & 0x7F
          let payload = input.shortChunk()
          lendExactly(payload) {
            buffer.insert(
              header, payload: UnsafeRawBufferPointer($0), isRetransmission: operation & 4 != 0,
              rotation: operation & 8 != 0 ? VideoRotation(rawValue: operation >> 6) : nil, at: now)
          }
        case 2:
          let end = now + input.step()
          drive(until: end, from: now, deadline: buffer.nextDeadline) { drain(buffer, at: $0) }
          now = end
        default:
          buffer.setRoundTrip(input.step())
          if operation & 4 != 0 {
            buffer.setFormat(format, payloadType: input.byte())
          }
        }
        drain(buffer, at: now)
        _ = (buffer.playoutDelay, buffer.targetDelay, buffer.oldestUsefulSequenceNumber)
      }
    }
  }

  private static func drain(_ buffer: VideoJitterBuffer, at now: Instant) {
    var frames = 0
    while let frame = buffer.nextFrame(at: now) {
      check(frame.payload.count > 0, "an empty frame")
      frames += 1
      check(frames < 10_000, "frames without end")
    }
    _ = buffer.takeKeyFrameRequest(at: now)
  }
}
