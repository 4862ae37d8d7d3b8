package import SoraCodecs

/// An adapter over a libvpx encoder, which both codecs stop, and tell new rates, alike.
package protocol VPXEncoderAdapter: EncoderAdapter {
  var encoder: VPXEncoder { get }

  /// Puts rates into the encoder's `configuration`.
  func fill(_ rates: EncoderRates)
}

extension VPXEncoderAdapter {
  package func close() { encoder.close() }

  package func setRates(_ rates: EncoderRates) throws(CodecError) {
    fill(rates)
    try encoder.applyRates()
    try encoder.limitKeyFrames(rates)
  }
}
