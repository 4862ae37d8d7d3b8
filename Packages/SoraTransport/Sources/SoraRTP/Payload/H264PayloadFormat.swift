public import SoraMedia

/// H.264 in RTP (RFC 6184). Frames are access units with start codes (annex B of ITU-T H.264).
///
/// Received key frames without parameter sets of their own get those that came last in front. The interleaved mode isn't
/// spoken: its packets are refused with `RTPError.unsupportedPayload`.
public struct H264PayloadFormat: RTPPayloadFormat {
  /// How units become packets (RFC 6184 §6).
  public enum PacketizationMode: Int, Sendable {
    /// Each unit is a packet. A frame with a unit that is larger than a packet can't be sent.
    case singleUnit = 0
    /// Units are put together (STAP-A) and cut (FU-A) as need be.
    case nonInterleaved = 1
  }

  /// How frames are sent; packets of both modes are received in either.
  public var packetizationMode: PacketizationMode
  /// Units that the description brought (`sprop-parameter-sets`), without start codes.
  public var parameterSets: [[UInt8]]

  public init(
    packetizationMode: PacketizationMode = .nonInterleaved, parameterSets: [[UInt8]] = []
  ) {
    self.packetizationMode = packetizationMode
    self.parameterSets = parameterSets
  }

  /// From the format parameters of a description: `packetization-mode`, 0 where there is none (RFC 6184 §8.1), and
  /// `sprop-parameter-sets`. `nil` for the interleaved mode and for what isn't a mode.
  public init?(parameters: [String: String]) {
    guard let mode = Int(parameters["packetization-mode"] ?? "0").flatMap(PacketizationMode.init)
    else { return nil }
    packetizationMode = mode
    parameterSets = parameters["sprop-parameter-sets"].map(SpropParameterSets.units) ?? []
  }

  public var name: String { "H264" }
  public var kind: MediaKind { .video }
  public var clockRate: Int { 90_000 }

  public func makePayloader(random: RandomSource) -> any RTPPayloader {
    NALPayloader<H264Syntax>(isFlexible: packetizationMode == .nonInterleaved)
  }

  public func makeDepayloader() -> any RTPDepayloader {
    NALDepayloader<H264Syntax>(parameterSets: parameterSets)
  }
}
