import SoraMedia
import SoraWire

extension VideoColorSpace {
  /// Reads what follows `video_signal_type_present_flag`, which H.264 and H.265 have alike (H.264 §E.1.1, H.265 §E.2.1).
  init?(signalType reader: inout RBSPReader) throws(NALError) {
    // video_format.
    try reader.skipBits(3)
    let isFullRange = try reader.readFlag()
    var matrix: UInt32 = 2
    if try reader.readFlag() {
      // colour_primaries and transfer_characteristics.
      try reader.skipBits(16)
      matrix = try reader.readBits(8)
    }
    self.init(matrixCoefficients: Int(matrix), isFullRange: isFullRange)
  }
}
