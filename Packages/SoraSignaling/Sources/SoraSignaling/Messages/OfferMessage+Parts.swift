extension OfferMessage {
  /// How the client shall gather ICE candidates.
  public struct Configuration: Sendable, Hashable, JSONFields {
    public var iceServers: [ICEServer]
    /// `relay`, or as an extension `all`. Sora itself says `relay`.
    public var iceTransportPolicy: String?

    public init(iceServers: [ICEServer], iceTransportPolicy: String? = nil) {
      self.iceServers = iceServers
      self.iceTransportPolicy = iceTransportPolicy
    }

    init(json: JSONValue, path: String) throws(SignalingError) {
      var reader = try JSONFieldReader(nested: json, path: path)
      iceServers = try reader.array("iceServers", ICEServer.init(json:path:)) ?? []
      iceTransportPolicy = try reader.string("iceTransportPolicy")
    }

    var json: JSONValue {
      var writer = JSONFieldWriter()
      writer.set("iceServers", iceServers.map(\.json))
      writer.set("iceTransportPolicy", iceTransportPolicy)
      return writer.json
    }
  }

  /// One STUN or TURN server.
  public struct ICEServer: Sendable, Hashable, JSONFields {
    public var urls: [String]
    public var username: String?
    public var credential: String?

    public init(urls: [String], username: String? = nil, credential: String? = nil) {
      self.urls = urls
      self.username = username
      self.credential = credential
    }

    init(json: JSONValue, path: String) throws(SignalingError) {
      var reader = try JSONFieldReader(nested: json, path: path)
      guard let urls = try reader.strings("urls") else {
        throw .missing("\(path).urls", expected: "an array of strings")
      }
      self.urls = urls
      username = try reader.string("username")
      credential = try reader.string("credential")
    }

    var json: JSONValue {
      var writer = JSONFieldWriter()
      writer.set("urls", urls)
      writer.set("username", username)
      writer.set("credential", credential)
      return writer.json
    }
  }

  /// One simulcast layer that the client shall send.
  public struct Encoding: Sendable, Hashable, JSONFields {
    /// Largest size of the layer in pixels.
    public struct Resolution: Sendable, Hashable, JSONFields {
      public var maxWidth: Int
      public var maxHeight: Int

      public init(maxWidth: Int, maxHeight: Int) {
        self.maxWidth = maxWidth
        self.maxHeight = maxHeight
      }

      init(json: JSONValue, path: String) throws(SignalingError) {
        var reader = try JSONFieldReader(nested: json, path: path)
        maxWidth = try reader.requiredInt("maxWidth")
        maxHeight = try reader.requiredInt("maxHeight")
      }

      var json: JSONValue {
        ["maxWidth": .integer(Int64(maxWidth)), "maxHeight": .integer(Int64(maxHeight))]
      }
    }

    public var rid: String?
    /// Absent means `true`.
    public var active: Bool?
    /// Bits a second.
    public var maxBitrate: Int?
    public var minBitrate: Int?
    /// Frames a second.
    public var maxFramerate: Double?
    public var scaleResolutionDownBy: Double?
    public var scaleResolutionDownTo: Resolution?
    /// E.g. `L1T1`.
    public var scalabilityMode: String?
    public var adaptivePtime: Bool?
    public var networkPriority: String?
    /// Only with several codecs in one simulcast.
    public var codec: JSONValue?
    /// Keys that this version doesn't know.
    public var additional: [String: JSONValue]

    public var isActive: Bool { active ?? true }

    public init(
      rid: String? = nil, active: Bool? = nil, maxBitrate: Int? = nil, minBitrate: Int? = nil,
      maxFramerate: Double? = nil, scaleResolutionDownBy: Double? = nil,
      scaleResolutionDownTo: Resolution? = nil, scalabilityMode: String? = nil,
      adaptivePtime: Bool? = nil, networkPriority: String? = nil, codec: JSONValue? = nil,
      additional: [String: JSONValue] = [:]
    ) {
      self.rid = rid
      self.active = active
      self.maxBitrate = maxBitrate
      self.minBitrate = minBitrate
      self.maxFramerate = maxFramerate
      self.scaleResolutionDownBy = scaleResolutionDownBy
      self.scaleResolutionDownTo = scaleResolutionDownTo
      self.scalabilityMode = scalabilityMode
      self.adaptivePtime = adaptivePtime
      self.networkPriority = networkPriority
      self.codec = codec
      self.additional = additional
    }

    /// Reads one element of `encodings`.
    public init(json: JSONValue) throws(SignalingError) {
      try self.init(json: json, path: "encodings")
    }

    init(json: JSONValue, path: String) throws(SignalingError) {
      var reader = try JSONFieldReader(nested: json, path: path)
      rid = try reader.string("rid")
      active = try reader.bool("active")
      maxBitrate = try reader.int("maxBitrate")
      minBitrate = try reader.int("minBitrate")
      maxFramerate = try reader.double("maxFramerate")
      scaleResolutionDownBy = try reader.double("scaleResolutionDownBy")
      scaleResolutionDownTo = try reader.nested(
        "scaleResolutionDownTo", Resolution.init(json:path:))
      scalabilityMode = try reader.string("scalabilityMode")
      adaptivePtime = try reader.bool("adaptivePtime")
      networkPriority = try reader.string("networkPriority")
      codec = reader.any("codec")
      additional = reader.rest
    }

    public var json: JSONValue {
      var writer = JSONFieldWriter(additional: additional)
      writer.set("rid", rid)
      writer.set("active", active)
      writer.set("maxBitrate", maxBitrate)
      writer.set("minBitrate", minBitrate)
      writer.set("maxFramerate", maxFramerate)
      writer.set("scaleResolutionDownBy", scaleResolutionDownBy)
      writer.set("scaleResolutionDownTo", scaleResolutionDownTo?.json)
      writer.set("scalabilityMode", scalabilityMode)
      writer.set("adaptivePtime", adaptivePtime)
      writer.set("networkPriority", networkPriority)
      writer.set("codec", codec)
      return writer.json
    }
  }
}
