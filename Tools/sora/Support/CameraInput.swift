import SoraCamera
package import SoraMedia
import Synchronization

/// Pictures to publish from a camera, as the camera has them.
package final class CameraInput: VideoFeed {
  package let resolution: Resolution
  package let framesPerSecond: Double
  private let device: CameraDevice
  private let format: CameraFormat
  private let state = Mutex(VideoFeedCounters())
  private let capture = Mutex<CameraCapture?>(nil)

  /// Chooses the nearest format that the camera has; nothing is captured yet.
  ///
  /// - Parameters:
  ///   - path: the camera's file; nil for the machine's first camera.
  ///   - framesPerSecond: nil for 30, or what the camera has.
  package init(path: String?, resolution: Resolution, framesPerSecond: Double?)
    throws(UsageError)
  {
    guard let path = path ?? CameraDevice.all.first?.path else {
      throw UsageError(
        "--video camera: this machine has no camera; use test-pattern, FILE.y4m or none")
    }
    do throws(CameraError) {
      device = try CameraDevice(path: path)
      let wanted = framesPerSecond ?? 30
      guard
        let format = try device.formats().nearest(
          width: resolution.width, height: resolution.height, framesPerSecond: wanted)
      else { throw .formatRefused(wanted: "pictures that can be read here", given: "others only") }
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
  package func start(at _: Instant, deliver: @escaping @Sendable (RawVideoFrame) -> Void) {
    do throws(CameraError) {
      let running = try CameraCapture(
        device, format: format, framesPerSecond: framesPerSecond,
        deliver: { [self] frame in
          guard case .picture(let picture) = frame.content else { return }
          state.withLock { $0.frames += 1 }
          deliver(RawVideoFrame(buffer: picture, timestamp: frame.timestamp))
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

  package func stop() { capture.withLock { $0 }?.stop() }
}
