/// How a server's spotlights work.
public struct SFUSpotlightConfiguration: Sendable, Hashable {
  /// The layers for who asks for none: of who isn't in the spotlight the lowest, as Sora's documentation has it. Which of the others are
  /// Sora's defaults isn't public.
  public var rids = SFUSpotlightRids(focus: .r1, unfocus: .r0)
  /// How many places a spotlight has, 1 to 8, where nobody says.
  public var number = 5
  /// How long somebody has to speak for a place, up to 1.5 seconds; it is heard at once.
  public var delay = Duration.milliseconds(500)

  public init() {}
}

/// How a channel's spotlight, or what one of its connections sees of it, is changed.
public enum SFUSpotlightChange: Sendable, Hashable {
  /// Layers for one sender, or for all where none is named.
  public struct Layers: Sendable, Hashable {
    public var sender: String?
    public var rids: SFUSpotlightRids

    /// - Parameters:
    ///   - sender: whose layers; nil for everybody's.
    ///   - rids: which layers.
    public init(sender: String?, rids: SFUSpotlightRids) {
      self.sender = sender
      self.rids = rids
    }
  }

  /// Puts a connection into the spotlight.
  case focus(String, isFixed: Bool)
  case unfocus(String)
  /// 1 to 8 places.
  case number(Int)
  /// Which layers a receiver is sent; one after the other.
  case request([Layers], receiver: String)
  /// What its `connect` asked for holds again; of one sender, where one is named, what is asked for of all.
  case reset(receiver: String, sender: String?)
}

/// What became of a change of a spotlight.
public enum SFUSpotlightOutcome: Sendable, Hashable {
  case done
  /// There is no such channel, or a connection isn't in it.
  case notFound
  /// The channel has no spotlight, or the receiver doesn't use it.
  case noSpotlight
  /// All places are fixed.
  case full
}
