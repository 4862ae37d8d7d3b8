import Dispatch
public import SoraMedia
import Synchronization

/// What can be told to a camera that encodes its pictures itself: to make a key frame, and how many bits per second.
///
/// Not every driver has these controls: `canMakeKeyFrames` and `bitRates` say so. The stream goes on at the camera's own interval and
/// rate then. Safe from any thread; the device is asked on a queue of its own, and never waited for.
public final class CameraEncoding: Sendable {
  /// Whether key frames can be asked for.
  public let canMakeKeyFrames: Bool
  /// Bits per second that the camera can be told to keep to; nil where it can't be told.
  public let bitRates: ClosedRange<Int>?

  private let tell: @Sendable (CameraControl, Int64) throws(CameraError) -> Void
  private let keyFrame: CameraControl?
  private let rate: CameraControl?
  private let queue = DispatchQueue(label: "sora.camera.encoding")
  private let state = Mutex(State())

  private struct State {
    /// Bits per second that were set last.
    var rate: Int?
    /// Why a control was refused.
    var failure: CameraError?
  }

  /// Asks the camera for its controls; one that can't be asked has none.
  public convenience init(_ device: CameraDevice) {
    self.init((try? device.controls()) ?? []) { control, value throws(CameraError) in
      try device.set(control, to: value)
    }
  }

  /// - Parameter tell: sets a control; may take its time.
  package init(
    _ controls: [CameraControl],
    tell: @escaping @Sendable (CameraControl, Int64) throws(CameraError) -> Void
  ) {
    self.tell = tell
    let controls = controls.filter { !$0.isReadOnly }
    keyFrame = controls.first { $0.id == CameraControl.Standard.forceKeyFrame.rawValue }
    rate = controls.first {
      $0.id == CameraControl.Standard.videoBitRate.rawValue && $0.range.upperBound > 0
    }
    canMakeKeyFrames = keyFrame != nil
    bitRates = rate.map { control in
      Int(
        clamping: max(1, control.range.lowerBound))...Int(
          clamping: max(1, control.range.upperBound))
    }
  }

  /// Why the camera refused what it was told last; nil while all is well.
  public var failure: CameraError? { state.withLock { $0.failure } }

  /// Has the next picture be a key frame (`V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME`). Returns at once.
  ///
  /// - Returns: whether the camera can be asked.
  @discardableResult
  public func requestKeyFrame() -> Bool {
    guard let keyFrame else { return false }
    set(keyFrame, to: 1)
    return true
  }

  /// Has pictures take so many bits per second, within `bitRates` (`V4L2_CID_MPEG_VIDEO_BITRATE`). Returns at once; changes of less than
  /// a tenth aren't told.
  ///
  /// - Returns: whether the camera can be told.
  @discardableResult
  public func setBitRate(_ bitsPerSecond: Int) -> Bool {
    guard let rate, let bitRates else { return false }
    let wanted = min(max(bitsPerSecond, bitRates.lowerBound), bitRates.upperBound)
    let isNew = state.withLock { state in
      if let before = state.rate, abs(before - wanted) < before / 10 { return false }
      state.rate = wanted
      return true
    }
    if isNew { set(rate, to: Int64(wanted)) }
    return true
  }

  private func set(_ control: CameraControl, to value: Int64) {
    queue.async { [self] in
      do throws(CameraError) {
        try tell(control, value)
        state.withLock { $0.failure = nil }
      } catch {
        state.withLock { state in
          state.failure = error
          // The next wish is told again, however near it is.
          if control.id == rate?.id { state.rate = nil }
        }
      }
    }
  }
}

extension CameraPixelFormat {
  /// The format of pictures that a camera encodes with a codec; nil for those that no camera has.
  public init?(codec: VideoCodecKind) {
    switch codec {
    case .h264: self = .h264
    case .h265: self = .h265
    case .vp8, .vp9, .av1: return nil
    }
  }

  /// The codec of pictures that the camera has encoded; nil for others.
  public var codec: VideoCodecKind? {
    switch self {
    case .h264: .h264
    case .h265: .h265
    default: nil
    }
  }
}
