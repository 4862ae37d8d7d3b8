package import SoraCamera
package import SoraMedia
import Synchronization

/// Pictures to publish from a camera, as the camera has them: encoded ones, where it encodes as is wanted.
package final class CameraInput: VideoFeed {
  package let resolution: Resolution
  package let framesPerSecond: Double
  private let device: CameraDevice
  private let format: CameraFormat
  package let codec: VideoCodecKind?
  private let state = Mutex(VideoFeedCounters())
  private let capture = Mutex<CameraCapture?>(nil)
  /// What the camera's encoder can be told; nil for raw pictures.
  private let encoding: CameraEncoding?

  /// Chooses the nearest format that the camera has; nothing is captured yet.
  ///
  /// - Parameters:
  ///   - path: the camera's file; nil for the machine's first camera.
  ///   - framesPerSecond: nil for 30, or what the camera has.
  ///   - codec: what the camera may encode its pictures with; where it can't, or nil is given, pictures come raw.
  package init(
    path: String?, resolution: Resolution, framesPerSecond: Double?, codec: VideoCodecKind? = nil
  ) throws(UsageError) {
    guard let path = path ?? CameraDevice.all.first?.path else {
      throw UsageError(
        "--video camera: this machine has no camera; use test-pattern, FILE.y4m or none")
    }
    do throws(CameraError) {
      device = try CameraDevice(path: path)
      let wanted = framesPerSecond ?? 30
      let formats = try device.formats()
      let encoded = codec.flatMap(CameraPixelFormat.init(codec:)).flatMap {
        formats.nearest(
          width: resolution.width, height: resolution.height, framesPerSecond: wanted, codec: $0)
      }
      guard
        let format = encoded
          ?? formats.nearest(
            width: resolution.width, height: resolution.height, framesPerSecond: wanted)
      else { throw .formatRefused(wanted: "pictures that can be read here", given: "others only") }
      self.codec = encoded == nil ? nil : codec
      encoding = encoded == nil ? nil : CameraEncoding(device)
      self.format = format
      self.resolution = Resolution(width: format.width, height: format.height)
      self.framesPerSecond = format.frameRate(upTo: wanted)
    } catch {
      throw UsageError("--video camera: \(error)")
    }
  }

  package var counters: VideoFeedCounters {
    let lost = capture.withLock { $0 }?.statistics.framesLost ?? 0
    return state.withLock { state in
      var counters = state
      counters.skipped = lost
      return counters
    }
  }

  /// Starts the camera, which has its own clock.
  package func start(at _: Instant, publish: @escaping @Sendable (PublishedPicture) -> Void) {
    do throws(CameraError) {
      let running = try CameraCapture(
        device, format: format, framesPerSecond: framesPerSecond,
        deliver: { [self] frame in
          state.withLock { $0.frames += 1 }
          if let picture = PublishedPicture(
            frame, codec: codec, width: format.width, height: format.height)
          {
            publish(picture)
          }
        },
        notify: { [self] event in
          guard case .ended(let error) = event else { return }
          state.withLock { $0.failure = "\(error)" }
        })
      capture.withLock { $0 = running }
    } catch {
      state.withLock { $0.failure = "\(error)" }
    }
  }

  /// Asks a camera that encodes for a key frame; one that can't be asked goes on at its own interval.
  package func requestKeyFrame() { encoding?.requestKeyFrame() }
  package var followsBitrate: Bool { encoding?.bitRates != nil }
  package func setTargetBitrate(_ bitsPerSecond: Int) { encoding?.setBitRate(bitsPerSecond) }

  package func stop() { capture.withLock { $0 }?.stop() }
}

extension PublishedPicture {
  /// What a camera gave, with all that its driver says of it.
  ///
  /// - Parameters:
  ///   - codec: of what it encodes.
  ///   - width: of what it encodes, in pixels.
  ///   - height: likewise.
  /// - Returns: nil for what is encoded without a codec that is known.
  package init?(_ frame: CapturedFrame, codec: VideoCodecKind?, width: Int, height: Int) {
    if let picture = frame.rawFrame {
      self = .raw(picture)
    } else if let codec, let encoded = frame.encodedFrame(width: width, height: height) {
      self = .encoded(encoded, codec)
    } else {
      return nil
    }
  }
}
