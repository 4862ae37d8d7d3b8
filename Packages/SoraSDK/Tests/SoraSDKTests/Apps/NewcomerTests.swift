import Foundation
import Sora
import SoraMedia
import Testing
import WebRTC

/// What an app writes that imports the modules below as well: no name means two things.
struct NewcomerTests {
  private final class Eyes: VideoSink {
    let sizes = Recorder<Int>()
    func receive(_ frame: RawVideoFrame) { sizes.append(frame.width) }
  }

  private final class Ears: AudioSink {
    func receive(_ frame: AudioFrame) {}
  }

  /// As iOS samples have it: the frame is taken apart and put together again.
  private final class Glasses: VideoFilter {
    func filter(videoFrame: VideoFrame) -> VideoFrame {
      switch videoFrame {
      case .native(let capturer, let frame): .native(capturer: capturer, frame: frame)
      }
    }
  }

  private final class Screen: VideoRenderer {
    let widths = Recorder<Int>()
    func onChange(size: CGSize) {}
    func render(videoFrame: VideoFrame?) { widths.append(videoFrame?.width ?? 0) }
  }

  @Test func framesGoFromOneWordToTheOther() {
    let buffer = PixelBuffer(width: 64, height: 48) { _ in }
    let before = Instant.now
    let made = VideoFrame(from: buffer)
    let raw = RawVideoFrame(buffer: buffer, timestamp: .now, rotation: VideoRotation.clockwise90)
    #expect(made.raw.timestamp >= before && made.raw.timestamp <= raw.timestamp)
    let shown = Glasses().filter(videoFrame: VideoFrame(raw))
    #expect(shown.raw.rotation == .clockwise90 && shown.raw.timestamp == raw.timestamp)
    let (eyes, screen) = (Eyes(), Screen())
    eyes.receive(shown.raw)
    screen.render(videoFrame: shown)
    #expect(eyes.sizes.elements == [64] && screen.widths.elements == [64])
    Ears().receive(AudioFrame(samples: []))
  }

  @Test func soundIsOfNow() {
    let before = Instant.now
    let mono = AudioFrame(samples: [1, 2, 3, 4])
    #expect(mono.sampleRate == 48_000 && mono.channels == 1 && mono.frameCount == 4)
    #expect(mono.timestamp >= before && mono.timestamp <= .now)
    let stereo = AudioFrame(samples: [1, 2, 3, 4], sampleRate: 16_000, channels: 2)
    #expect(stereo.frameCount == 2 && stereo.duration == .microseconds(125))
  }
}
