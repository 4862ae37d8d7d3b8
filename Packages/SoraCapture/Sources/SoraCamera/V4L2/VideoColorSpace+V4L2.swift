package import SoraMedia

extension VideoColorSpace {
  /// What a driver says of its samples, by the numbers of V4L2's enums and, where it leaves something open, by the defaults that
  /// videodev2.h has (V4L2_MAP_YCBCR_ENC_DEFAULT, V4L2_MAP_QUANTIZATION_DEFAULT).
  ///
  /// - Returns: nil for what nobody here can show (BT.2020, SMPTE 240M), which is taken for BT.601 then.
  package init?(v4l2Colorspace colorspace: UInt32, encoding: UInt32, quantization: UInt32) {
    let (rec709, jpeg, dciP3): (UInt32, UInt32, UInt32) = (3, 7, 12)
    let (full, limited): (UInt32, UInt32) = (1, 2)
    let usual: Matrix? =
      switch colorspace {
      case rec709, dciP3: .bt709
      // SMPTE 240M and BT.2020.
      case 2, 10: nil
      default: .bt601
      }
    let matrix: Matrix? =
      switch encoding {
      case 0: usual
      // xvYCC has the weights of the standard that it extends.
      case 1, 3, 5: .bt601
      case 2, 4: .bt709
      default: nil
      }
    guard let matrix else { return nil }
    let isFull = quantization == full || colorspace == jpeg && quantization != limited
    self.init(matrix: matrix, isFullRange: isFull)
  }
}
