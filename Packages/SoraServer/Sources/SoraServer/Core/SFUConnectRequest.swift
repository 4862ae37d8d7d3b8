import SoraMedia
import SoraSignalingChannels
import SoraSignalingMessages

/// A `connect` that the server can serve. Its fields are those of the message.
@dynamicMemberLookup
struct SFUConnectRequest {
  private let message: ConnectMessage
  /// What was decided about it.
  let grant: SFUGrant
  /// What is requested for audio; nil if the client wants none.
  let audio: AudioOptions?
  /// What is requested for video; nil if the client wants none.
  let video: VideoOptions?

  /// Asked for of every member whenever somebody comes or goes, and so not looked up each time.
  let role: SFURole
  /// Whether it sends and receives video in layers.
  let usesSimulcast: Bool
  /// The layers that it shall send; nil for the server's.
  let simulcast: SimulcastOffer?

  /// - Throws: why it can't be served.
  init(_ connect: ConnectMessage, _ grant: SFUGrant = SFUGrant()) throws(SFUObjection) {
    var message = grant.applied(to: connect)
    // Kept as long as the connection: nobody reads what isn't known here.
    message.additional = [:]
    self.message = message
    self.grant = grant
    role = message.role
    usesSimulcast = message.simulcast == true
    let encodings = message.spotlight == true ? grant.settings.spotlightEncodings : nil
    if let encodings = encodings ?? grant.settings.simulcastEncodings {
      simulcast = try SimulcastOffer(encodings)
    } else {
      simulcast = nil
    }
    audio = message.audio == .disabled ? nil : message.audio?.options ?? AudioOptions()
    video = message.video == .disabled ? nil : message.video?.options ?? VideoOptions()
    do throws(SignalingError) {
      try message.check(path: "connect")
    } catch {
      throw SFUObjection(error)
    }
    guard connect.json.bytes.count <= Self.mostBytes else {
      throw SFUObjection(reason: "INVALID-MESSAGE: connect has at most \(Self.mostBytes) bytes")
    }
    try Self.checkMetadata(connect)
    filters = try Self.filters(message)
    messaging = try Self.channels(message.dataChannels ?? [])
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
    if let audio, SFUCodec.audio(audio) == nil {
      let names = AudioCodecKind.allCases.map { $0.encodingName.uppercased() }
      throw SFUObjection(
        reason: "INVALID-AUDIO: codec_type must be one of \(names.joined(separator: ", "))")
    }
    if let video, SFUCodec.video(video) == nil {
      let names = VideoCodecKind.allCases.map(\.encodingName)
      throw SFUObjection(
        reason: "INVALID-VIDEO: codec_type must be one of \(names.joined(separator: ", "))")
    }
  }

  /// The layers that it wants of who is in the spotlight and who isn't; nil without spotlight.
  func spotlightRids(_ standard: SFUSpotlightRids) -> SFUSpotlightRids? {
    guard message.spotlight == true else { return nil }
    return SFUSpotlightRids(
      focus: message.spotlightFocusRid ?? standard.focus,
      unfocus: message.spotlightUnfocusRid ?? standard.unfocus)
  }

  /// Bytes of JSON that all of it may have. In memory that can be thirty times as much.
  private static let mostBytes = 256 * 1024

  /// Bytes of JSON that each of a client's metadata may have: everybody in the channel is told them.
  private static let mostMetadata = 64 * 1024

  private static func checkMetadata(_ message: ConnectMessage) throws(SFUObjection) {
    for (key, value) in [
      ("METADATA", message.metadata),
      ("SIGNALING_NOTIFY_METADATA", message.notifyMetadata),
    ] where (value?.text.utf8.count ?? 0) > mostMetadata {
      throw SFUObjection(reason: "INVALID-\(key): at most \(mostMetadata) bytes of JSON")
    }
  }

  /// Bytes of JSON that its filters may have: each is asked about every track, whenever there is another one.
  private static let mostFilters = 64 * 1024

  /// What it isn't to be forwarded.
  let filters: ForwardingFilters

  private static func filters(
    _ message: ConnectMessage
  ) throws(SFUObjection) -> ForwardingFilters {
    var filters = ForwardingFilters()
    // One alone is a list of one.
    let given = (message.forwardingFilter.map { [$0] } ?? []) + (message.forwardingFilters ?? [])
    guard given.reduce(0, { $0 + $1.json.bytes.count }) <= mostFilters else {
      throw SFUObjection(
        reason: "INVALID-FORWARDING-FILTERS: at most \(mostFilters) bytes of JSON")
    }
    for filter in given {
      switch filters.create(filter) {
      case .done: break
      case .nameTaken, .unknownName:
        throw SFUObjection(reason: "INVALID-FORWARDING-FILTERS: two have one name")
      case .tooMany: throw SFUObjection(reason: "INVALID-FORWARDING-FILTERS: too many")
      }
    }
    return filters
  }

  /// The app's data channels that the client asks for.
  let messaging: [ClientChannel]
  /// What it may call on the data channel `rpc`.
  var rpcMethods: [String] { RPCMethod.allCases.filter(grant.allows).map(\.rawValue) }
  /// Signaling's own data channels.
  var labels: [SignalingLabel] {
    SignalingLabel.allCases.filter { $0 != .rpc || !rpcMethods.isEmpty }
  }

  /// Labels may come once each.
  private static func channels(
    _ options: [DataChannelOptions]
  ) throws(SFUObjection) -> [ClientChannel] {
    guard options.count <= ClientChannel.mostLabels else {
      throw SFUObjection(
        reason: "INVALID-DATA-CHANNELS: at most \(ClientChannel.mostLabels) labels")
    }
    var channels: [ClientChannel] = []
    for option in options {
      let channel = try ClientChannel(option)
      guard !channels.contains(where: { $0.label == channel.label }) else {
        throw SFUObjection(
          reason: "INVALID-DATA-CHANNELS: the label \(channel.label.prefix(60)) comes twice")
      }
      channels.append(channel)
    }
    return channels
  }

  subscript<Value>(dynamicMember field: KeyPath<ConnectFields, Field<Value>>) -> Value {
    message[dynamicMember: field]
  }
}
