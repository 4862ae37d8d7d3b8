import SoraCodecs
import SoraMedia
import SoraNAL
import SoraOpenH264

extension FuzzTarget {
  static var h264Frames: [[UInt8]] {
    SmallStream.frames { settings throws(CodecError) in
      try OpenH264CodecFactory().makeEncoder(settings)
    }
  }

  /// NAL units, parameter sets and `profile-level-id`, which is read from the first bytes as text.
  static var h264Parser: FuzzTarget {
    func seeds() -> [[UInt8]] { h264Frames + [Array("42e01f".utf8), Array("640c1f".utf8)] }
    return FuzzTarget("h264-parser", maximumLength: 1024, seeds: seeds()) { input in
      var ranges = NALUnitIterator(input)
      var end = 0
      while let range = ranges.nextRange() {
        check(range.lowerBound >= end + 3 && range.upperBound <= input.count, "units overlap")
        check(!range.isEmpty && input[range.upperBound - 1] != 0, "a unit ends in zero")
        end = range.upperBound
        let unit = UnsafeRawBufferPointer(rebasing: input[range])
        _ = try? H264PictureParameterSet(unit)
        if let set = try? H264SequenceParameterSet(unit) {
          check(set.width > 0 && set.height > 0, "a picture without samples")
          check(set.width <= 1_055 * 16 && set.height <= 1_055 * 32, "a picture beyond the levels")
        }
      }
      let unit = H264AccessUnit(input)
      check(unit.longestUnit <= input.count && unit.slices <= unit.units, "more than there is")
      var reader = RBSPReader(input)
      var bits = 0
      while (try? reader.readBits(1)) != nil { bits += 1 }
      check(!reader.hasMoreData && bits <= input.count * 8, "data that can't be read")
      if let id = H264ProfileLevelID(String(decoding: input.prefix(6), as: UTF8.self)) {
        check(H264ProfileLevelID(id.description) == id, "\(id) reads back as another")
      }
    }
  }
}
