import SoraMedia
import SoraNAL
public import SoraSDP

/// The video codecs as they are declared, each with the format parameters of its `VideoCodecFormat`. Levels say what we
/// receive at best: unless the decoder knows better, those of H.264 and H.265 are 5.2.
extension CodecCapability {
  public static let vp8 = CodecCapability.video(.vp8)
  public static let vp9 = CodecCapability.video(.vp9)
  /// VP9's profile 2 (RFC 9628 §6): 10 bits a sample, 4:2:0.
  public static let vp9Profile2: CodecCapability = {
    var capability = CodecCapability.vp9
    capability.parameters["profile-id"] = "2"
    capability.preferredPayloadType = VideoCodecKind.vp9.format.offeredPayloadType + 2
    return capability
  }()
  public static let av1 = CodecCapability.video(.av1)
  public static let h265 = CodecCapability.video(.h265)

  /// VP9 as these encoders and decoders make and take it, by `profile-id`, the most common first. A profile of only one of the two is
  /// declared for that direction.
  public static func vp9(encodable: [String], decodable: [String]) -> [CodecCapability] {
    [vp9, vp9Profile2].compactMap { capability in
      guard let profile = capability.parameters["profile-id"] else { return nil }
      let direction = MediaDirection(
        sends: encodable.contains(profile), receives: decodable.contains(profile))
      guard direction != .inactive else { return nil }
      var capability = capability
      capability.direction = direction
      return capability
    }
  }

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
        capability.preferredPayloadType =
          VideoCodecKind.h264.format.offeredPayloadType + UInt8(2 * result.count)
        result.append(capability)
      }
    }
    return result
  }

  /// A codec in the format that is offered where nothing else is asked for.
  private static func video(_ codec: VideoCodecKind) -> CodecCapability {
    video(
      codec.encodingName, parameters: FormatParameters(codec.format),
      preferredPayloadType: codec.format.offeredPayloadType)
  }

  /// A video codec with the usual feedback and retransmission.
  public static func video(
    _ name: String, parameters: FormatParameters = [:], preferredPayloadType: UInt8? = nil
  ) -> CodecCapability {
    CodecCapability(
      kind: .video, name: name, clockRate: VideoCodecFormat.clockRate, parameters: parameters,
      feedback: VideoCodecFormat.feedback, usesRetransmission: true,
      preferredPayloadType: preferredPayloadType)
  }
}
