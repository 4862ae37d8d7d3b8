extension SFUConnectRequest {
  /// Why a server can't accept it, for a close frame; nil where it can.
  var objection: String? {
    if let objection = Self.objection("channel_id", channelID) { return objection }
    if let clientID, let objection = Self.objection("client_id", clientID) { return objection }
    if let bundleID, let objection = Self.objection("bundle_id", bundleID) { return objection }
    if multistream == false {
      return "LEGACY-STREAM: multistream false is not supported any more; leave it out"
    }
    if hasSpotlightRid, !spotlight {
      return "INVALID-SPOTLIGHT: spotlight_focus_rid and spotlight_unfocus_rid need spotlight true"
    }
    if let audio {
      if let codec = audio.codec, codec.uppercased() != "OPUS" {
        return "INVALID-AUDIO: codec_type must be OPUS"
      }
      if let bitRate = audio.bitRate, !(6...510).contains(bitRate) {
        return "INVALID-AUDIO: bit_rate must be 6 to 510 kbit/s"
      }
      if !Self.arePlain(audio.parameters) { return "INVALID-AUDIO: opus_params can't be used" }
      if let objection = audio.opusObjection { return objection }
    }
    if let video {
      if SFUCodec.video(video) == nil {
        return "INVALID-VIDEO: codec_type must be VP8, VP9, AV1, H264 or H265"
      }
      if let bitRate = video.bitRate, !(1...50_000).contains(bitRate) {
        return "INVALID-VIDEO: bit_rate must be 1 to 50000 kbit/s"
      }
      if !Self.arePlain(video.parameters) { return "INVALID-VIDEO: codec parameters can't be used" }
    }
    return nil
  }

  private static func objection(_ key: String, _ text: String) -> String? {
    (1...255).contains(text.utf8.count)
      ? nil : "INVALID-\(key.uppercased()): \(key) must have 1 to 255 bytes"
  }

  /// They end up in descriptions for others, so nothing but words and numbers may be in them.
  private static func arePlain(_ parameters: [String: String]) -> Bool {
    func isPlain(_ text: String) -> Bool {
      (1...32).contains(text.utf8.count)
        && text.utf8.allSatisfy { byte in
          (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }
    return parameters.count <= 16 && parameters.allSatisfy { isPlain($0.key) && isPlain($0.value) }
  }
}

extension SFUConnectRequest.Audio {
  /// What Opus hasn't got (RFC 7587 §4.1, §6.1).
  fileprivate var opusObjection: String? {
    if let channels, !(1...2).contains(channels) {
      return "INVALID-AUDIO: opus_params.channels must be 1 or 2"
    }
    if let clockRate, clockRate != 48_000 {
      return "INVALID-AUDIO: opus_params.clock_rate must be 48000"
    }
    let ranges = [
      ("maxplaybackrate", 8_000...48_000), ("minptime", 3...120), ("ptime", 3...120),
    ]
    for (name, range) in ranges {
      guard let text = parameters[name] else { continue }
      guard let value = Int(text), range.contains(value) else {
        return
          "INVALID-AUDIO: opus_params.\(name) must be \(range.lowerBound) to \(range.upperBound)"
      }
    }
    for name in ["stereo", "sprop-stereo", "useinbandfec", "usedtx"] {
      guard let text = parameters[name], text != "0", text != "1" else { continue }
      return "INVALID-AUDIO: opus_params.\(name) must be true or false"
    }
    return nil
  }
}
