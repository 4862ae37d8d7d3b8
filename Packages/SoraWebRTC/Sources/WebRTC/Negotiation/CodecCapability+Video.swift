import SoraMedia
import SoraNAL
public import SoraSDP

/// The video codecs as they are declared. Levels say what we receive at best, and senders may stay below: unless the decoder
/// knows better, those of H.264 and H.265 are 5.2, which full HD at 60 frames per second is well within.
extension CodecCapability {
  /// VP8 (RFC 7741).
  public static let vp8 = CodecCapability.video("VP8", preferredPayloadType: 96)

  /// VP9 (RFC 9628), profile 0: 8 bits a sample, 4:2:0.
  public static let vp9 = CodecCapability.video(
    "VP9", parameters: ["profile-id": "0"], preferredPayloadType: 98)

  /// AV1 (its RTP specification §7.2), main profile and tier. The level is the one that an absent one means, 3.1, although
  /// more is received: libwebrtc up to M139 at least takes another level than its own for another codec.
  public static let av1 = CodecCapability.video(
    "AV1", parameters: ["level-idx": "5", "profile": "0", "tier": "0"], preferredPayloadType: 45)

  /// H.265 (RFC 7798 §7.1), Main profile and tier: 8 bits a sample, 4:2:0; one stream.
  public static let h265 = CodecCapability.video(
    "H265",
    parameters: ["level-id": "156", "profile-id": "1", "tier-flag": "0", "tx-mode": "SRST"],
    preferredPayloadType: 49)

  /// H.264 (RFC 6184 §8.1) in the profiles that WebRTC endpoints know, each in both packetization modes, the most common
  /// first.
  public static let h264 = CodecCapability.h264(encodable: h264Profiles, decodable: h264Profiles)

  private static let h264Profiles = ["42e034", "420034", "4d0034", "640c34", "640034"]

  /// H.264 as these encoders and decoders make and take it, by `profile-level-id`. A profile of only one of the two is
  /// declared for that direction; its level is the decoders' highest.
  public static func h264(encodable: [String], decodable: [String]) -> [CodecCapability] {
    let encoded = Set(encodable.compactMap { H264ProfileLevelID($0)?.profile })
    let decoded = decodable.compactMap { H264ProfileLevelID($0) }
    var result: [CodecCapability] = []
    for var format in h264Profiles.compactMap({ H264ProfileLevelID($0) }) {
      let level = decoded.filter { $0.profile == format.profile }.map(\.level).max()
      let direction = MediaDirection(
        sends: encoded.contains(format.profile), receives: level != nil)
      guard direction != .inactive else { continue }
      if let level { format.level = level }
      for mode in [1, 0] {
        var capability = CodecCapability.video(
          "H264",
          parameters: [
            "level-asymmetry-allowed": "1", "packetization-mode": "\(mode)",
            "profile-level-id": format.description,
          ])
        capability.direction = direction
        capability.preferredPayloadType = UInt8(102 + 2 * result.count)
        result.append(capability)
      }
    }
    return result
  }

  /// A video codec with the usual feedback and retransmission.
  public static func video(
    _ name: String, parameters: FormatParameters = [:], preferredPayloadType: UInt8? = nil
  ) -> CodecCapability {
    CodecCapability(
      kind: .video, name: name, clockRate: 90000, parameters: parameters,
      feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"],
      usesRetransmission: true, preferredPayloadType: preferredPayloadType)
  }
}
