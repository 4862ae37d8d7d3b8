/// Which way a camera looks. On Linux the first camera counts as the front one, the second as the back one.
public enum CameraPosition: Int, Sendable {
  case unspecified, back, front
}

/// How to open the camera.
public struct CameraSettings: CustomStringConvertible, Sendable {
  /// A size to ask the camera for; it gives the nearest that it has.
  public enum Resolution: String, Codable, Sendable, CaseIterable {
    /// 320×240
    case qvga240p
    /// 640×480
    case vga480p
    /// 960×540
    case qhd540p
    /// 1280×720
    case hd720p
    /// 1920×1080
    case hd1080p
    /// 3840×2160
    case uhd2160p
    /// 4032×3024
    case uhd3024p

    public var width: Int32 { size.width }
    public var height: Int32 { size.height }

    private var size: (width: Int32, height: Int32) {
      switch self {
      case .qvga240p: (320, 240)
      case .vga480p: (640, 480)
      case .qhd540p: (960, 540)
      case .hd720p: (1280, 720)
      case .hd1080p: (1920, 1080)
      case .uhd2160p: (3840, 2160)
      case .uhd3024p: (4032, 3024)
      }
    }
  }

  /// 720p at 30 frames per second from the front camera, started automatically.
  public static let `default` = CameraSettings()

  public var resolution: Resolution
  /// Frames per second to ask for.
  public var frameRate: Int
  /// Which camera; connecting starts none where it is unspecified.
  public var position: CameraPosition
  /// Whether connecting starts the camera. False for apps that send frames of their own.
  public var isEnabled: Bool
  /// Whether a camera that encodes with `Configuration.videoCodec` (H.264, H.265) has its frames sent as they are, which costs next to
  /// no processor time; others send raw frames as ever. The camera is asked for key frames and told the network's rate where its driver
  /// lets it; where not, viewers wait for its own key frames, and on a narrow link frames are left out up to one. Linux only.
  public var prefersEncoded: Bool

  public init(
    resolution: Resolution = .hd720p, frameRate: Int = 30, position: CameraPosition = .front,
    isEnabled: Bool = true, prefersEncoded: Bool = false
  ) {
    self.resolution = resolution
    self.frameRate = frameRate
    self.position = position
    self.isEnabled = isEnabled
    self.prefersEncoded = prefersEncoded
  }

  public var description: String { "\(resolution), \(frameRate)fps" }
}
