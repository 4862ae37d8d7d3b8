package import SoraICE
import SoraSignaling

// Between the JSON of the wire and the values of the core.

extension SFUMessage {
  /// Reads a message of the wire; never fails: what can't be read is `malformed`.
  package init(parsing text: String) {
    do throws(SignalingError) {
      self.init(try SignalingMessage(parsing: text))
    } catch {
      self = .malformed(error.shortText)
    }
  }

  init(_ message: SignalingMessage) {
    switch message {
    case .connect(let message): self = .connect(SFUConnectRequest(message))
    case .answer(let message): self = .answer(sdp: message.sdp)
    case .reAnswer(let message): self = .reAnswer(sdp: message.sdp)
    case .update(let message): self = .reAnswer(sdp: message.sdp)
    case .candidate(let message): self = .candidate(message.candidate)
    case .pong: self = .pong
    case .disconnect(let message): self = .disconnect(reason: message.reason)
    default: self = .other(message.typeName)
    }
  }
}

extension SignalingError {
  /// What fits a close frame: the field and what is wrong with it.
  fileprivate var shortText: String { (field.map { "\($0): " } ?? "") + detail }
}

extension SFUConnectRequest {
  init(_ message: ConnectMessage) {
    self.init(
      role: SFURole(rawValue: message.role.rawValue) ?? .recvonly, channelID: message.channelID,
      clientID: message.clientID, bundleID: message.bundleID,
      audio: Audio(message.audio ?? .enabled), video: Video(message.video ?? .enabled),
      notifyMetadata: message.notifyMetadata?.text)
    multistream = message.multistream
    spotlight = message.spotlight ?? false
    hasSpotlightRid = message.spotlightFocusRid != nil || message.spotlightUnfocusRid != nil
  }
}

extension SFUConnectRequest.Audio {
  init?(_ setting: MediaSetting<AudioOptions>) {
    guard setting.isEnabled else { return nil }
    let options = setting.options
    self.init(codec: options?.codecType, bitRate: options?.bitRate)
    guard case .object(let wishes)? = options?.opusParams else { return }
    // Sora's names of RFC 7587's parameters.
    let names = [
      "maxplaybackrate": "maxplaybackrate", "minptime": "minptime", "ptime": "ptime",
      "stereo": "stereo", "sprop_stereo": "sprop-stereo", "useinbandfec": "useinbandfec",
      "usedtx": "usedtx",
    ]
    for (key, name) in names { parameters[name] = wishes[key]?.parameterText }
    channels = wishes["channels"]?.intValue
    clockRate = wishes["clock_rate"]?.intValue
  }
}

extension SFUConnectRequest.Video {
  init?(_ setting: MediaSetting<VideoOptions>) {
    guard setting.isEnabled else { return nil }
    let options = setting.options
    self.init(codec: options?.codecType, bitRate: options?.bitRate)
    switch codec?.uppercased() ?? "VP9" {
    case "VP9": parameters["profile-id"] = options?.vp9Params?["profile_id"]?.parameterText
    case "AV1": parameters["profile"] = options?.av1Params?["profile"]?.parameterText
    case "H264":
      parameters["profile-level-id"] = options?.h264Params?["profile_level_id"]?.parameterText
    case "H265": parameters["level-id"] = options?.h265Params?["level_id"]?.parameterText
    default: break
    }
  }
}

extension JSONValue {
  /// As a format parameter: booleans are 1 and 0.
  fileprivate var parameterText: String? {
    switch self {
    case .bool(let value): value ? "1" : "0"
    case .string(let value): value
    default: intValue.map { "\($0)" }
    }
  }

  /// The value of a text that this process has written.
  fileprivate init?(trusted text: String?) {
    guard let text, let value = try? JSONValue(parsing: text) else { return nil }
    self = value
  }
}

extension SignalingMessage {
  /// nil for `close`, which is no message.
  ///
  /// - Parameter turnTransport: how the owner of an address that a TURN server relays reaches that server; nil for other addresses.
  package init?(_ output: SFUOutput, turnTransport: (TransportAddress) -> ICEServerURL.Transport?) {
    switch output {
    case .offer(let offer): self = .offer(OfferMessage(offer))
    case .reOffer(let sdp): self = .reOffer(ReOfferMessage(sdp: sdp))
    case .notify(let notification):
      self = .notify(
        NotifyMessage(
          notification, turnTransport: notification.remoteAddress.flatMap(turnTransport)))
    case .ping(let statistics): self = .ping(PingMessage(statisticsEnabled: statistics))
    case .push(let data): self = .push(PushMessage(data: JSONValue(trusted: data) ?? .null))
    case .close: return nil
    }
  }
}

extension OfferMessage {
  init(_ offer: SFUOffer) {
    var mids: [String: String] = [:]
    mids["audio"] = offer.audioMid
    mids["video"] = offer.videoMid
    self.init(
      sdp: offer.sdp, connectionID: offer.connectionID, clientID: offer.clientID,
      bundleID: offer.bundleID, channelID: offer.channelID, sessionID: offer.sessionID,
      version: offer.version,
      configuration: Configuration(iceServers: [], iceTransportPolicy: "all"), mid: mids,
      simulcast: false, simulcastMulticodec: false, spotlight: false, multistream: true,
      dataChannelSignaling: false, ignoreDisconnectWebSocket: false, audio: offer.audio,
      audioCodecType: offer.audioCodec, audioBitRate: offer.audioBitRate, video: offer.video,
      videoCodecType: offer.videoCodec, videoBitRate: offer.videoBitRate)
  }
}

extension NotifyMessage {
  init(_ notification: SFUNotification, turnTransport: ICEServerURL.Transport?) {
    self.init(eventType: notification.kind.rawValue)
    timestamp = TimestampText.rfc3339(unixNanoseconds: notification.unixNanoseconds)
    role = SignalingRole(rawValue: notification.role.rawValue)
    sessionID = notification.sessionID
    clientID = notification.peer.clientID
    bundleID = notification.peer.bundleID
    connectionID = notification.peer.connectionID
    audio = notification.audio
    video = notification.video
    connectionTime = notification.minutes
    channelConnections = notification.counters.total
    channelSendrecvConnections = notification.counters.sendrecv
    channelSendonlyConnections = notification.counters.sendonly
    channelRecvonlyConnections = notification.counters.recvonly
    turnTransportType = turnTransport?.rawValue
    metadata = JSONValue(trusted: notification.peer.metadata)
    guard notification.kind == .created else { return }
    data = notification.others.map { other in
      Peer(
        clientID: other.clientID, bundleID: other.bundleID, connectionID: other.connectionID,
        metadata: JSONValue(trusted: other.metadata))
    }
  }
}

/// RFC 3339 in UTC with microseconds, as Sora writes times.
enum TimestampText {
  static func rfc3339(unixNanoseconds: Int64) -> String {
    let microseconds = floorDivide(unixNanoseconds, 1000)
    let (seconds, fraction) = divide(microseconds, 1_000_000)
    let (days, second) = divide(seconds, 86_400)
    // The civil calendar from a day count, in eras of 400 years that begin on March 1.
    let shifted = days + 719_468
    let (era, dayOfEra) = divide(shifted, 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
      + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))."
      + "\(padded(fraction, 6))Z"
  }

  private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 { divide(value, by).0 }

  private static func divide(_ value: Int64, _ by: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: by)
    return remainder < 0 ? (quotient - 1, remainder + by) : (quotient, remainder)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let text = "\(value)"
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
