import Foundation
import SoraCamera
import SoraMedia
import Synchronization
import Testing

/// When a camera that encodes is told what, and when its own format is taken.
@Suite(.timeLimit(.minutes(5))) struct CameraEncodingTests {
  /// What a camera was told, and what it answers.
  private final class Told: Sendable {
    let values = Mutex<[Int64]>([])
    let refusal = Mutex<CameraError?>(nil)

    func take(_ value: Int64) throws(CameraError) {
      values.withLock { $0.append(value) }
      if let refusal = refusal.withLock({ $0 }) { throw refusal }
    }

    /// Waits for so many, and gives them.
    func first(_ count: Int) -> [Int64] {
      pause(while: values.withLock({ $0.count }) < count)
      return values.withLock { $0 }
    }
  }

  private let told = Told()

  private func encoding(_ answers: ControlAnswer...) throws -> CameraEncoding {
    let told = told
    return CameraEncoding(try MadeUpControls(answers).controls()) {
      _, value throws(CameraError) in try told.take(value)
    }
  }

  private func rate(
    _ least: Int64 = 100_000, _ most: Int64 = 10_000_000, flags: UInt32 = 0
  ) -> ControlAnswer {
    ControlAnswer(
      id: CameraControl.Standard.videoBitRate.rawValue, type: 1, flags: flags,
      name: "Video Bitrate", least: least, most: most)
  }

  private func keyFrame(flags: UInt32 = 0x0240) -> ControlAnswer {
    ControlAnswer(
      id: CameraControl.Standard.forceKeyFrame.rawValue, type: 4, flags: flags,
      name: "Force Key Frame")
  }

  @Test func whatACameraLacksItIsntTold() throws {
    let others = [
      try encoding(), try encoding(rate(flags: 0x0004), keyFrame(flags: 0x0004)),
      // A rate that is none.
      try encoding(rate(0, 0)), try encoding(rate(-5, -1)),
    ]
    for camera in others {
      #expect(camera.bitRates == nil && !camera.canMakeKeyFrames)
      #expect(!camera.requestKeyFrame() && !camera.setBitRate(1_000_000))
      #expect(camera.failure == nil)
    }
    #expect(told.values.withLock { $0 }.isEmpty)
    #expect(
      CameraEncoding(CameraDevice(path: "/dev/none", name: "", bus: "", driver: "")).bitRates == nil
    )
  }

  @Test func keyFramesAreAskedForEachTime() throws {
    let camera = try encoding(keyFrame(), rate())
    #expect(camera.canMakeKeyFrames && camera.requestKeyFrame() && camera.requestKeyFrame())
    #expect(told.first(2) == [1, 1])
  }

  /// Within the camera's range, and not for changes of less than a tenth.
  @Test func ratesAreToldWhereTheyMatter() throws {
    let camera = try encoding(rate())
    #expect(camera.bitRates == 100_000...10_000_000)
    let wishes = [
      (1_000_000, true), (1_000_000, false), (1_099_999, false), (900_001, false),
      (1_100_000, true), (991_000, false), (990_000, true), (.max, true), (10_500_000, false),
      (.min, true), (0, false), (109_999, false), (110_000, true),
    ]
    for (wish, _) in wishes { #expect(camera.setBitRate(wish)) }
    let wanted = wishes.filter(\.1).map { Int64(min(max($0.0, 100_000), 10_000_000)) }
    #expect(told.first(wanted.count) == wanted)
    #expect(try encoding(rate(0, .max)).bitRates == 1...Int.max)
  }

  /// A refusal is told, ends with the next success, and keeps no rate from being told again.
  @Test func refusalsAreToldAndTriedAgain() throws {
    let camera = try encoding(rate())
    let refusal = CameraError.controlRefused(name: "Video Bitrate", value: 1, allowed: "nothing")
    told.refusal.withLock { $0 = refusal }
    camera.setBitRate(1_000_000)
    pause(while: camera.failure == nil)
    #expect(camera.failure == refusal)
    told.refusal.withLock { $0 = nil }
    camera.setBitRate(1_000_000)
    #expect(told.first(2) == [1_000_000, 1_000_000])
    pause(while: camera.failure != nil)
  }

  @Test func aCodecHasItsFormat() {
    #expect(CameraPixelFormat(codec: .h264) == .h264 && CameraPixelFormat.h264.codec == .h264)
    #expect(CameraPixelFormat(codec: .h265) == .h265 && CameraPixelFormat.h265.codec == .h265)
    for codec in [VideoCodecKind.vp8, .vp9, .av1] {
      #expect(CameraPixelFormat(codec: codec) == nil)
    }
    for format in [CameraPixelFormat.mjpeg, .jpeg, .nv12, .yuyv] { #expect(format.codec == nil) }
  }

  /// What is encoded is taken for its codec alone; size comes before rate, and rate before cost.
  @Test func theFormatOfACodec() {
    func format(_ kind: CameraPixelFormat, _ width: Int, _ height: Int, _ rates: Double...)
      -> CameraFormat
    {
      CameraFormat(
        pixelFormat: kind, width: width, height: height, frameRateRanges: rates.map { $0...$0 })
    }
    let formats = [
      format(.h264, 640, 360, 30), format(.h265, 1280, 720, 15), format(.h264, 1280, 720, 15),
      format(.yuyv, 1280, 720, 30), format(.h264, 1280, 720, 60), format(.mjpeg, 1920, 1080, 30),
    ]
    func chosen(_ width: Int, _ height: Int, _ rate: Double?, _ codec: CameraPixelFormat?) -> Int? {
      formats.nearest(width: width, height: height, framesPerSecond: rate, codec: codec)
        .flatMap { formats.firstIndex(of: $0) }
    }
    #expect(chosen(1280, 720, 60, .h264) == 4, "the rate")
    #expect(chosen(1280, 720, 25, .h264) == 2, "the first, where none has the rate")
    #expect(chosen(1280, 720, nil, .h264) == 2)
    #expect(chosen(700, 400, 60, .h264) == 0, "the size, whatever the rate")
    #expect(chosen(640, 360, 30, .h265) == 1, "the codec, whatever the size")
    #expect(chosen(640, 360, 30, nil) == 3, "no codec, nothing encoded")
    #expect(chosen(1920, 1080, 60, nil) == 5)
    #expect(chosen(640, 360, 30, .nv12) == nil)
  }
}
