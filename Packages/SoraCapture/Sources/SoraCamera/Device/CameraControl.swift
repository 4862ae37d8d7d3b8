/// Something that can be set on a camera: exposure, focus, zoom, white balance and whatever else its driver has.
public struct CameraControl: Sendable, Hashable, Identifiable {
  public enum Kind: Sendable, Hashable {
    case integer
    case boolean
    /// One of named items; the value is the item's.
    case menu([Item])
    /// One of numbers; the value is the item's, not the number.
    case integerMenu([Item])
    /// Does something once when set, whatever the value.
    case button
    case integer64
    case bitMask
  }

  /// One choice of a menu.
  public struct Item: Sendable, Hashable {
    public var value: Int64
    /// The driver's name for it, or its number.
    public var name: String

    public init(value: Int64, name: String) {
      self.value = value
      self.name = name
    }
  }

  /// V4L2's number (`V4L2_CID_...`).
  public var id: UInt32
  /// The driver's name for it.
  public var name: String
  public var kind: Kind
  public var range: ClosedRange<Int64>
  /// What values differ by at least; above 0.
  public var step: Int64
  /// What it is after the camera was plugged in.
  public var defaultValue: Int64
  public var isReadOnly: Bool
  /// Another control, such as an automatic mode, keeps this one from taking effect now.
  public var isInactive: Bool
  /// It does something when it is set, and has no value to read. All buttons are so.
  public var isWriteOnly: Bool
  /// The camera changes the value by itself, such as the exposure time while that is automatic.
  public var isVolatile: Bool

  /// What it may be set to, in words.
  public var allowed: String {
    switch kind {
    case .menu(let items), .integerMenu(let items):
      items.map { "\($0.value) (\($0.name))" }.joined(separator: ", ")
    case .boolean: "0 or 1"
    case .button: "any value"
    default:
      "\(range.lowerBound) to \(range.upperBound)" + (step > 1 ? " in steps of \(step)" : "")
    }
  }

  /// Standard controls (V4L2's User and Camera Control References).
  public enum Standard: UInt32, Sendable, CaseIterable {
    case brightness = 0x0098_0900
    case contrast = 0x0098_0901
    case saturation = 0x0098_0902
    case hue = 0x0098_0903
    case automaticWhiteBalance = 0x0098_090C
    case gain = 0x0098_0913
    case horizontalFlip = 0x0098_0914
    case verticalFlip = 0x0098_0915
    case powerLineFrequency = 0x0098_0918
    case whiteBalanceTemperature = 0x0098_091A
    case sharpness = 0x0098_091B
    case backlightCompensation = 0x0098_091C
    case exposureMode = 0x009A_0901
    /// In units of 100 microseconds.
    case exposureTime = 0x009A_0902
    case focus = 0x009A_090A
    case automaticFocus = 0x009A_090C
    case zoom = 0x009A_090D
    /// Has a camera that encodes make a key frame.
    case forceKeyFrame = 0x0099_09E5
    /// Bits per second of a camera that encodes.
    case videoBitRate = 0x0099_09CF
  }
}
