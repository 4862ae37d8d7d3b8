import SoraSignalingMessages

/// A `connect` that the server can serve. Its fields are those of the message.
@dynamicMemberLookup
struct SFUConnectRequest {
  private let message: ConnectMessage
  /// What is requested for audio; nil if the client wants none.
  let audio: AudioOptions?
  /// What is requested for video; nil if the client wants none.
  let video: VideoOptions?

  /// - Throws: why it can't be served.
  init(_ message: ConnectMessage) throws(SFUObjection) {
    self.message = message
    audio = message.audio == .disabled ? nil : message.audio?.options ?? AudioOptions()
    video = message.video == .disabled ? nil : message.video?.options ?? VideoOptions()
    do throws(SignalingError) {
      try message.check(path: "connect")
    } catch {
      throw SFUObjection(error)
    }
    if message.multistream == false {
      throw SFUObjection(
        reason: "LEGACY-STREAM: multistream false is not supported any more; leave it out")
    }
    if message.spotlightFocusRid != nil || message.spotlightUnfocusRid != nil,
      message.spotlight != true
    {
      throw SFUObjection(
        reason:
          "INVALID-SPOTLIGHT: spotlight_focus_rid and spotlight_unfocus_rid need spotlight true")
    }
    if let codec = audio?.codecType, codec.uppercased() != "OPUS" {
      throw SFUObjection(reason: "INVALID-AUDIO: codec_type must be OPUS")
    }
    if let video, SFUCodec.video(video) == nil {
      throw SFUObjection(
        reason: "INVALID-VIDEO: codec_type must be VP8, VP9, AV1, H264 or H265")
    }
  }

  /// Whether the client asks for data channels.
  var wantsDataChannels: Bool { message.dataChannelSignaling == true }

  subscript<Value>(dynamicMember field: KeyPath<ConnectFields, Field<Value>>) -> Value {
    message[dynamicMember: field]
  }
}

/// Why a server can't accept a `connect`, fit for a close frame.
struct SFUObjection: Error {
  let reason: String

  init(reason: String) { self.reason = reason }

  /// A field that breaks its rule: `connect.audio.bit_rate` gives `INVALID-AUDIO` and what to send.
  init(_ error: SignalingError) {
    let key = error.field?.split(separator: ".").dropFirst().first?.prefix { $0 != "[" }
    reason = "INVALID-\(key?.uppercased() ?? "MESSAGE"): \(error.wayOut)"
  }
}
