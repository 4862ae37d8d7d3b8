import CVPX

/// Which frames refer to which, so that upper temporal layers can be dropped anywhere on the way.
///
/// Frames of layer 0 live in the "last" buffer. With three layers, frames of layer 1 live in the golden buffer. Frames of
/// the highest layer are referred to by nobody, and no layer but 0 moves the entropy contexts on.
struct VP8TemporalPattern {
  let layers: Int

  /// Frames until the pattern repeats.
  var period: Int { 1 << (layers - 1) }

  /// The layer of frame `index` of the pattern: 0 1 | 0 2 1 2.
  func layer(_ index: Int) -> Int {
    switch (layers, index) {
    case (2, 1): 1
    case (3, 1), (3, 3): 2
    case (3, 2): 1
    default: 0
    }
  }

  /// Whether frame `index` of the pattern, of an upper layer, refers to the base layer only.
  func isLayerSync(_ index: Int) -> Bool { index > 0 && !(layers == 3 && index == 3) }

  /// The encoder flags of frame `index` of the pattern.
  func flags(_ index: Int) -> Int {
    let onlyLast = VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_REF_ARF
    let noUpdate =
      VP8_EFLAG_NO_UPD_LAST | VP8_EFLAG_NO_UPD_GF | VP8_EFLAG_NO_UPD_ARF | VP8_EFLAG_NO_UPD_ENTROPY
    let flags =
      switch (layers, index) {
      case (1, _): Int32(0)
      case (_, 0): onlyLast | VP8_EFLAG_NO_UPD_GF | VP8_EFLAG_NO_UPD_ARF
      case (3, 2):
        onlyLast | VP8_EFLAG_NO_UPD_LAST | VP8_EFLAG_NO_UPD_ARF | VP8_EFLAG_NO_UPD_ENTROPY
      case (3, 3): VP8_EFLAG_NO_REF_ARF | noUpdate
      default: onlyLast | noUpdate
      }
    return Int(flags)
  }

  /// Shares of the bitrate up to and including each layer, in percent.
  var cumulativeShares: [UInt32] {
    switch layers {
    case 2: [60, 100]
    case 3: [40, 60, 100]
    default: [100]
    }
  }
}
