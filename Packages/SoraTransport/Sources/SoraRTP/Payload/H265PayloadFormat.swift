public import SoraMedia

/// H.265 in RTP (RFC 7798), units in decoding order (`sprop-max-don-diff` of 0) in one stream. Frames are access units with
/// start codes (annex B of ITU-T H.265).
///
/// Received key frames without parameter sets of their own get those that came last in front. PACI packets are refused with
/// `RTPError.unsupportedPayload`.
public struct H265PayloadFormat: RTPPayloadFormat {
  /// Units that the description brought (`sprop-vps`, `sprop-sps`, `sprop-pps`), without start codes.
  public var parameterSets: [[UInt8]]

  public init(parameterSets: [[UInt8]] = []) { self.parameterSets = parameterSets }

  /// From the format parameters of a description. `nil` where decoding order differs from transmission order, which puts
  /// numbers into the packets that aren't read here (RFC 7798 §7.1, `sprop-max-don-diff`).
  public init?(parameters: [String: String]) {
    guard (parameters["sprop-max-don-diff"] ?? "0") == "0" else { return nil }
    parameterSets = ["sprop-vps", "sprop-sps", "sprop-pps"].flatMap { key in
      parameters[key].map(SpropParameterSets.units) ?? []
    }
  }

  public var name: String { "H265" }
  public var kind: MediaKind { .video }
  public var clockRate: Int { 90_000 }

  public func makePayloader(random: RandomSource) -> any RTPPayloader {
    NALPayloader<H265Syntax>(isFlexible: true)
  }

  public func makeDepayloader() -> any RTPDepayloader {
    NALDepayloader<H265Syntax>(parameterSets: parameterSets)
  }
}
