import SoraCodecs
import SoraMedia
import SoraNAL
import SoraOpenH264
import SoraWire

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
      let bytes = input.bytes
      var units = AnnexBUnits(bytes)
      var end = 0
      while let range = units.next() {
        check(range.lowerBound >= end + 3 && range.upperBound <= input.count, "units overlap")
        check(!range.isEmpty && input[range.upperBound - 1] != 0, "a unit ends in zero")
        end = range.upperBound
        let unit = bytes.part(range.lowerBound, range.count)
        _ = try? H264PictureParameterSet(unit)
        if let set = try? H264SequenceParameterSet(unit) {
          check(set.width > 0 && set.height > 0, "a picture without samples")
          check(set.width <= 1_055 * 16 && set.height <= 1_055 * 32, "a picture beyond the levels")
        }
      }
      let unit = H264AccessUnit(bytes)
      check(unit.longestUnit <= input.count && unit.slices <= unit.units, "more than there is")
      var reader = RBSPReader(bytes)
      var bits = 0
      while (try? reader.readBits(1)) != nil { bits += 1 }
      check(!reader.hasMoreData && bits <= input.count * 8, "data that can't be read")
      // Of a unit that was cut, no bit is a stop bit.
      var leading = RBSPReader(leading: bytes)
      var leadingBits = 0
      while (try? leading.readBits(1)) != nil { leadingBits += 1 }
      check(!leading.hasMoreData && leadingBits % 8 == 0, "bytes that aren't read whole")
      check(leadingBits >= bits && leadingBits <= input.count * 8, "more or less than there is")
      if let id = H264ProfileLevelID(String(decoding: input.prefix(6), as: UTF8.self)) {
        check(H264ProfileLevelID(id.description) == id, "\(id) reads back as another")
      }
    }
  }
}
