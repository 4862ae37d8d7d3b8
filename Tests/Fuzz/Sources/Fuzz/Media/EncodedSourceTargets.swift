import SoraMedia
@_spi(Fuzzing) import WebRTC

extension FuzzTarget {
  /// What a source of encoded frames does with an app's bytes: the first byte chooses the codec, and 0xFF 0xFE ends a frame.
  static var encodedSource: FuzzTarget {
    func seeds() -> [[UInt8]] {
      let frames = [h264Frames.prefix(2).joined(separator: [0xFF, 0xFE]).map(\.self)]
      return frames.map { [3] + $0 } + h265KeyFrames.prefix(1).map { [4] + $0 }
        + [[0, 0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 48, 0, 0xFF, 0xFE, 0x11, 0, 0]]
    }
    return FuzzTarget("encoded-source", maximumLength: 1_024, seeds: seeds()) { input in
      guard let choice = input.first else { return }
      let codec = VideoCodecKind.allCases[Int(choice) % VideoCodecKind.allCases.count]
      let bytes = Array(input.dropFirst())
      var units = AccessUnits(codec)
      var start = 0
      while start < bytes.count {
        var end = start
        while end + 1 < bytes.count, bytes[end] != 0xFF || bytes[end + 1] != 0xFE { end += 1 }
        if end + 1 >= bytes.count { end = bytes.count }
        let frame = EncodedFrame(
          payload: EncodedBuffer(Array(bytes[start..<end])), isKeyFrame: true, rtpTimestamp: 0,
          timestamp: .zero)
        if case .picture(let picture) = units.prepare(frame) {
          check(picture.payload.count > 0, "an empty picture")
          check(picture.payload.count <= end - start + 65_536, "more than was kept")
        }
        start = end + 2
      }
    }
  }
}
