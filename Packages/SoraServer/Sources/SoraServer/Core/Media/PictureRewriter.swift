package import SoraRTP

/// Picture ids and indices of base-layer frames towards one subscriber: they go on over changes of the publisher's source, and in
/// VP8 over frames that are left out (RFC 7741 §4.2). Plain memory.
package struct PictureRewriter {
  package enum Format: Sendable {
    case vp8
    /// Its frames have places in a group, which ids tell (RFC 9628 §4.2): only with a key frame they move.
    case vp9
  }

  /// nil for formats that have none, or leave them to dependency descriptors.
  package let format: Format?
  private var base: (pictureID: UInt16, baseLayerIndex: UInt8) = (0, 0)
  /// Of the newest frame that went on.
  private var newest: (pictureID: UInt16?, baseLayerIndex: UInt8?) = (nil, nil)
  private var isRebased = false

  package init(_ format: Format?) { self.format = format }

  /// The publisher's source changed.
  package mutating func rebase() { isRebased = true }

  /// A frame is about to go on.
  ///
  /// - Parameters:
  ///   - info: of its first packet.
  ///   - leftOut: frames that were left out so far.
  package mutating func begin(_ info: RTPPayloadInfo, leftOut: UInt16) {
    guard let format else { return }
    let leftOut = format == .vp8 ? leftOut : 0
    if isRebased {
      isRebased = false
      if let last = newest.pictureID, let id = info.pictureID {
        base.pictureID = last &+ 1 &- id &+ leftOut
      }
      if let last = newest.baseLayerIndex, let index = info.baseLayerIndex {
        base.baseLayerIndex = last &+ 1 &- index
      }
    }
    if let id = info.pictureID { newest.pictureID = id &+ base.pictureID &- leftOut }
    if let index = info.baseLayerIndex { newest.baseLayerIndex = index &+ base.baseLayerIndex }
  }

  /// What the ids of a frame are moved by.
  ///
  /// - Parameter leftOut: frames that were left out before it.
  package func shift(leftOut: UInt16) -> (pictureID: UInt16, baseLayerIndex: UInt8) {
    guard let format else { return (0, 0) }
    return (base.pictureID &- (format == .vp8 ? leftOut : 0), base.baseLayerIndex)
  }
}
