import SoraMedia
import SoraRTP
import Testing

/// Only the first syntax elements of slices and parameter sets are read, so units whose end is missing are known all the same.
@Suite struct CutNALUnitTests {
  private func format(_ codec: NALCodec, _ sets: [[UInt8]]) -> any RTPPayloadFormat {
    codec == .h264 ? H264PayloadFormat(parameterSets: sets) : H265PayloadFormat(parameterSets: sets)
  }

  private func frame(_ units: [[UInt8]]) -> EncodedBuffer { encodedFrame(annexB(units)).payload }

  /// A key frame's slice that ends with the id of its picture parameter set, whose last 1 looks like the stop bit.
  private func slice(_ codec: NALCodec, parameters id: Int) -> [UInt8] {
    switch codec {
    // 1 (first_mb_in_slice), 0001000 (slice_type), 1 or 010.
    case .h264: [0x65, 0x88, id == 0 ? 0x80 : 0x40]
    // 1 (first_slice_segment_in_pic_flag), 0 (no_output_of_prior_pics_flag), 1 or 010.
    case .h265: [0x26, 0x01, id == 0 ? 0xA0 : 0x90]
    }
  }

  @Test(arguments: NALCodec.allCases, [0, 1])
  func slicesAreKnownByTheirFirstElements(codec: NALCodec, id: Int) {
    let sets = codec.parameterSets(0) + codec.parameterSets(1)
    let depayloader = format(codec, sets).makeDepayloader()
    let needed = slice(codec, parameters: id)
    let whole = needed + [7, 0x80]
    for count in 1...whole.count {
      let cut = Array(whole.prefix(count))
      let buffer = frame([cut])
      let isSlice = count >= codec.headerCount
      #expect(depayloader.lacksParameterSets(buffer) == (isSlice && count < needed.count))
      let completed = depayloader.complete(buffer, parts: [.randomAccessPicture])
      let expected = count < needed.count ? [cut] : codec.parameterSets(id) + [cut]
      #expect(nalUnits(completed.bytes) == expected)
    }
  }

  @Test(arguments: NALCodec.allCases, [0, 1])
  func parameterSetsAreKnownByTheirFirstElements(codec: NALCodec, id: Int) {
    let sets = codec.parameterSets(id)
    let key = frame([slice(codec, parameters: id)])
    for index in sets.indices {
      // The video parameter set begins with its id; the others end with theirs and one more byte.
      let isVideo = codec == .h265 && index == 0
      let needed = isVideo ? codec.headerCount + 1 : sets[index].count - 1
      for count in 0...sets[index].count {
        var cut = sets
        cut[index] = Array(sets[index].prefix(count))
        let depayloader = format(codec, cut).makeDepayloader()
        #expect(depayloader.lacksParameterSets(key) == (count < needed))
        // And as they come in a frame.
        let other = codec.format.makeDepayloader()
        let own = frame(cut + [slice(codec, parameters: id)])
        #expect(other.lacksParameterSets(own) == (count < needed))
      }
    }
  }

  @Test(arguments: NALCodec.allCases)
  func garbageNeverTraps(codec: NALCodec) {
    let random = RandomSource(seed: 34)
    let depayloader = codec.format.makeDepayloader()
    var known = 0
    for _ in 0..<20_000 {
      let units = (0..<1 + Int(random.next() % 4)).map { _ in
        // Zeros make long codes and emulation prevention.
        let isSparse = random.next() & 1 == 0
        var unit = random.bytes(Int(random.next() % 24)).map { isSparse ? $0 & 3 & $0 >> 2 : $0 }
        if !unit.isEmpty, random.next() & 3 != 0 {
          let types: [UInt8] =
            codec == .h264 ? [1, 5, 7, 8] : [1 << 1, 19 << 1, 32 << 1, 33 << 1, 34 << 1]
          unit[0] = types[Int(random.next() % UInt64(types.count))]
        }
        return unit
      }
      let buffer = frame(units)
      if !depayloader.lacksParameterSets(buffer) { known += 1 }
      _ = depayloader.complete(buffer, parts: [.randomAccessPicture, .parameterSets])
    }
    #expect(known > 1000)
  }
}
