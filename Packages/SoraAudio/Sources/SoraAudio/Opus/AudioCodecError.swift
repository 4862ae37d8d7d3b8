/// Why an audio codec could not do what it was asked to.
public enum AudioCodecError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A setting is outside of what the codec can do: which, its value, and what is allowed.
  case invalidSetting(name: String, value: String, allowed: String)
  /// The samples handed in (or the room for those handed out) don't make up one frame: how many each channel, and
  /// how many there should be.
  case wrongSampleCount(given: Int, expected: Int)
  /// The bytes aren't a packet of this codec. Conceal it.
  case malformedPacket
  /// The library failed. `detail` is its own text.
  case library(operation: String, code: Int, detail: String)

  public var description: String {
    switch self {
    case .invalidSetting(let name, let value, let allowed):
      "\(name) is \(value); allowed: \(allowed)"
    case .wrongSampleCount(let given, let expected):
      "\(given) samples a channel where \(expected) are needed"
    case .malformedPacket: "the bytes are not a packet of this codec"
    case .library(let operation, let code, let detail):
      "libopus failed to \(operation): \(detail) (\(code))"
    }
  }
}
