/// What the fields of a publisher's packet are moved by on its way to one subscriber. Retransmissions need it once more, when the
/// subscriber may be sent another source already.
package struct PacketShift: Hashable, Sendable {
  /// The publisher's source, as its track names it.
  package var epoch: UInt8 = 0
  package var baseLayerIndex: UInt8 = 0
  package var pictureID: UInt16 = 0
  package var timestamp: UInt32 = 0
  /// Of the frame, in dependency descriptors.
  package var frameNumber: UInt16 = 0

  package init() {}

  /// Whether the payload goes on as it is.
  var keepsPayload: Bool { pictureID == 0 && baseLayerIndex == 0 }
}
