import SoraCodecs
import SoraNAL
import SoraWire

/// What the decoder must know of an access unit before libavcodec sees it.
struct AccessUnitSummary {
  var hasPicture = false
  var isKeyFrame = false
  var hasParameterSets = false
  /// What is shown; 0 where no parameter set has said it.
  var width = 0
  var height = 0
  /// Samples that are coded for it, in whole blocks.
  var codedPixels = 0
  /// Whether something that the picture refers to is missing or damaged.
  var isDamaged = false
  /// Why it can't be decoded: its profile, chroma format or bit depth.
  var unsupportedFormat: String?
}

/// Reads the headers of a stream of either codec.
struct AccessUnitInspector {
  private var h264: H264Continuity?
  private var h265: H265StreamInspector?

  init(_ stream: AVCodecStream) {
    switch stream {
    case .h264: h264 = H264Continuity()
    case .h265: h265 = H265StreamInspector()
    }
  }

  mutating func restart() { h265?.restart() }

  mutating func markDamaged() {
    h264?.markDamaged()
    h265?.markDamaged()
  }

  /// Whether decoding can start at an access unit, as far as its NAL unit headers tell.
  func isKeyFrame(_ bytes: RawSpan) -> Bool {
    h264 != nil ? H264AccessUnit(bytes).isKeyFrame : H265StreamInspector.isKeyFrame(bytes)
  }

  mutating func inspect(_ bytes: RawSpan) throws(NALError) -> AccessUnitSummary {
    if h264 != nil { return try h264?.inspect(bytes) ?? AccessUnitSummary() }
    guard let unit = try h265?.inspect(bytes) else { return AccessUnitSummary() }
    var summary = AccessUnitSummary()
    summary.hasPicture = unit.sliceCount > 0
    summary.isKeyFrame = unit.isKeyFrame
    summary.hasParameterSets = unit.hasParameterSets
    summary.width = unit.width
    summary.height = unit.height
    summary.codedPixels = unit.codedWidth * unit.codedHeight
    summary.isDamaged = unit.isDamaged
    if !unit.isEightBit420 { summary.unsupportedFormat = unit.format }
    return summary
  }
}

/// Follows an H.264 stream's frame numbers, and so knows of missing reference pictures (H.264 §7.4.3, `frame_num`).
///
/// libavcodec fills the gap with a copy of an earlier picture and says nothing of it.
private struct H264Continuity {
  private var sequence: H264SequenceParameterSet?
  /// Frame number of the last reference picture.
  private var last = 0
  private var isDamaged = false

  mutating func markDamaged() { isDamaged = true }

  mutating func inspect(_ bytes: RawSpan) throws(NALError) -> AccessUnitSummary {
    let unit = H264AccessUnit(bytes)
    if let error = unit.sequenceParameterSetError { throw error }
    if let set = unit.sequenceParameterSet { sequence = set }
    var summary = AccessUnitSummary()
    summary.hasPicture = unit.slices > 0
    summary.isKeyFrame = unit.isKeyFrame
    guard let sequence else { return summary }
    summary.hasParameterSets = unit.hasParameterSets
    summary.width = sequence.width
    summary.height = sequence.height
    summary.codedPixels = max(sequence.codedWidth * sequence.codedHeight, unit.largestPicture)
    if sequence.chromaFormat != 1 || sequence.lumaBits != 8 || sequence.chromaBits != 8 {
      summary.unsupportedFormat =
        "profile \(sequence.profileIDC), chroma format \(sequence.chromaFormat), "
        + "\(sequence.lumaBits) bits"
    }
    if unit.isKeyFrame {
      last = 0
      isDamaged = false
    } else if let number = frameNumber(bytes, bits: sequence.frameNumberBits) {
      let next = (last + 1) & (1 << sequence.frameNumberBits - 1)
      if number != last, number != next, !sequence.allowsFrameNumberGaps { isDamaged = true }
      if unit.isReference { last = number }
    }
    summary.isDamaged = isDamaged
    return summary
  }

  /// `frame_num` of the first slice (§7.3.3).
  private func frameNumber(_ bytes: RawSpan, bits: Int) -> Int? {
    var units = AnnexBUnits(bytes)
    while let unit = units.nextUnit() {
      guard H264NALUnitType(unit.u8(0)) == .slice else { continue }
      var reader = RBSPReader(unit.part(from: 1))
      do throws(NALError) {
        // first_mb_in_slice, slice_type, pic_parameter_set_id.
        for _ in 0..<3 { _ = try reader.readUnsigned() }
        return Int(try reader.readBits(bits))
      } catch {
        return nil
      }
    }
    return nil
  }
}
