import Foundation
import SoraMedia
import SoraRecording
import Testing

/// Key frames of 64x48 pixels that vpxenc (VP9) and aomenc (AV1) made.
private enum KeyFrame {
  static let vp9Of8Bits: [UInt8] = [
    0x82, 0x49, 0x83, 0x42, 0x00, 0x03, 0xF0, 0x02, 0xF6, 0x00, 0x38, 0x24, 0x1C, 0x18, 0x00, 0x00,
    0x00, 0x20, 0x00, 0x00, 0x78, 0xB9, 0xDF, 0xA0, 0x01, 0x58, 0x9D, 0x29, 0xA3, 0x80,
  ]
  static let vp9Of10Bits: [UInt8] = [
    0x92, 0x49, 0x83, 0x42, 0x00, 0x01, 0xF8, 0x01, 0x7B, 0x00, 0x1C, 0x12, 0x0E, 0x0C, 0x01, 0x00,
    0x00, 0x18, 0x60, 0x00, 0x00, 0x13, 0xBF, 0xFF, 0xF5, 0x4F, 0xA0, 0x00, 0x00, 0x00,
  ]
  /// Only what parameters are read from.
  static let vp9Of12Bits: [UInt8] = [
    0x92, 0x49, 0x83, 0x42, 0x80, 0x01, 0xF8, 0x01, 0x7B, 0x00, 0x1C, 0x12, 0x0E, 0x0C, 0x01, 0x00,
  ]
  static let av1Of8Bits: [UInt8] = [
    0x12, 0x00, 0x0A, 0x06, 0x18, 0x15, 0x7F, 0xBD, 0xA0, 0x08, 0x32, 0x09, 0x10, 0x00, 0x00, 0x00,
    0x4A, 0x7D, 0xF7, 0xFF, 0xFC,
  ]
  static let av1Of10Bits: [UInt8] = [
    0x12, 0x00, 0x0A, 0x06, 0x18, 0x15, 0x7F, 0xBD, 0xA8, 0x08, 0x32, 0x0B, 0x10, 0x00, 0x00, 0x00,
    0x4B, 0x18, 0x0D, 0xE4, 0xBF, 0xFF, 0x80,
  ]
}

@Suite struct BitDepthTests {
  @Test(arguments: [
    (VideoCodecKind.vp9, KeyFrame.vp9Of8Bits, 8), (.vp9, KeyFrame.vp9Of10Bits, 10),
    (.vp9, KeyFrame.vp9Of12Bits, 12), (.av1, KeyFrame.av1Of8Bits, 8),
    (.av1, KeyFrame.av1Of10Bits, 10),
  ]) func aKeyFrameTellsItsBitDepth(_ codec: VideoCodecKind, _ bytes: [UInt8], _ depth: Int) throws
  {
    let frame = EncodedFrame(
      payload: bytes.withUnsafeBytes { EncodedBuffer($0) }, isKeyFrame: true, rtpTimestamp: 0,
      timestamp: .zero)
    let known = try #require(VideoTrackParameters(keyFrame: frame, codec: codec))
    #expect(known.bitDepth == depth)
    #expect(known.width == 64 && known.height == 48)
  }

  /// VP Codec ISO Media File Format Binding §2.2 and AV1 Codec ISO Media File Format Binding §2.3: players choose decoders by these.
  @Test(arguments: [
    (VideoCodecKind.vp9, KeyFrame.vp9Of8Bits, 0, 8), (.vp9, KeyFrame.vp9Of10Bits, 2, 10),
    (.av1, KeyFrame.av1Of8Bits, 0, 8), (.av1, KeyFrame.av1Of10Bits, 0, 10),
  ]) func anMP4TellsProfileAndBitDepth(
    _ codec: VideoCodecKind, _ bytes: [UInt8], _ profile: Int, _ depth: Int
  ) throws {
    let folder = try Folder()
    let path = folder.path("deep.mp4")
    let recorder = try MediaRecorder(path: path)
    for index in 0..<3 {
      let frame = EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: true, rtpTimestamp: UInt32(index * 3_000),
        timestamp: .zero + .milliseconds(index * 33))
      recorder.receive(
        EncodedTrackFrame(
          codec: .video(codec), frame: frame, receiveTime: .zero + .milliseconds(index * 33)))
    }
    let outcome = recorder.finish()
    #expect(outcome.failure == nil && outcome.videoFrames == 3, "\(outcome)")
    let file = try Data(contentsOf: URL(fileURLWithPath: path))
    let name = codec == .vp9 ? "vpcC" : "av1C"
    let box = try #require(file.range(of: Data(name.utf8))).upperBound
    if codec == .vp9 {
      // Version and flags, profile, level; then the bit depth in the upper half of a byte.
      #expect(Int(file[box + 4]) == profile && Int(file[box + 6] >> 4) == depth)
    } else {
      // seq_profile, and high_bitdepth behind seq_tier_0.
      #expect(Int(file[box + 1] >> 5) == profile && (file[box + 2] & 0x40 != 0) == (depth == 10))
    }
  }

  /// Where a key frame of 10 bits is cut, it has no parameters, or those of the whole, and nothing traps.
  @Test func aCutKeyFrameTellsNothingElse() {
    for count in 0..<KeyFrame.vp9Of10Bits.count {
      let bytes = Array(KeyFrame.vp9Of10Bits[..<count])
      let known = VideoTrackParameters(keyFrame: EncodedBuffer(bytes).span, codec: .vp9)
      // 8 bits, a start code of 24, 5 of colours, 32 of size: 69, in nine bytes.
      #expect((known == nil) == (count < 9))
      #expect(known == nil || known?.bitDepth == 10 && known?.height == 48)
    }
  }
}
