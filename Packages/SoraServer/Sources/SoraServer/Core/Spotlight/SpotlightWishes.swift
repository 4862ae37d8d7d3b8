public import SoraSignalingMessages

/// The layers of a sender's simulcast while it is in the spotlight, and while it isn't.
public struct SFUSpotlightRids: Sendable, Hashable {
  public var focus: SignalingRid
  public var unfocus: SignalingRid

  /// - Parameters:
  ///   - focus: the layer in the spotlight; `none` for no video.
  ///   - unfocus: the layer outside.
  public init(focus: SignalingRid, unfocus: SignalingRid) {
    self.focus = focus
    self.unfocus = unfocus
  }
}

/// Which layers a client is sent of who is in the spotlight and of who isn't. Plain memory.
struct SpotlightWishes {
  private let first: SFUSpotlightRids
  private var wishes: SenderWishes<SFUSpotlightRids>

  /// - Parameter first: what `connect` asks for.
  init(_ first: SFUSpotlightRids) {
    self.first = first
    wishes = SenderWishes(first)
  }

  subscript(sender: String) -> SFUSpotlightRids { wishes[sender] }

  /// Asks for layers of one sender, or of all where none is named.
  mutating func set(_ rids: SFUSpotlightRids, of sender: String?) { wishes.set(rids, of: sender) }

  /// Asks for what `connect` asked for; of one sender, for what is asked for of all.
  mutating func reset(of sender: String?) {
    if let sender {
      wishes.forget(sender)
    } else {
      wishes.set(first, of: nil)
    }
  }

  /// A sender is gone.
  mutating func forget(_ sender: String) { wishes.forget(sender) }
}

extension SignalingRid {
  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// The lower of two layers; no video is the lowest.
  func lower(_ other: SignalingRid) -> SignalingRid { rank <= other.rank ? self : other }
}
