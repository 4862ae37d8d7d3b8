import SoraNAL
import SoraWire

extension FuzzTarget {
  /// Three pictures of 32x32 samples each: key frame, then two others; written by x265 3.5.
  private static let h265Streams: [[[UInt8]]] = [
    [
      [
        "40010c01ffff01600000030090000003000003001eba0240",
        "42010101600000030090000003000003001ea04208596eaaf0b80400000fa00001d4c020",
        "4401c0718112",
        "2801ac3d80e0229bea3f1f5add452839cdf955c5e17d52f84e3fc7c733be28e1cbca5a45dae83dbc60cb482d4f2283180b"
          + "7978df7668fb38e001b9ca651d019a9f82b140d96a77b8085e36822d26c2eb94344d230a42c362802d9f955688b0555d"
          + "35eb3df8d1518cd9d11fcb386e9affe178a4126d4b9a9a93a7130b1d19cae673dfada85dc417b8f8e688095fbd0f57f5"
          + "859d6eddb49af66ab6889ef81fae348f0dd5e912e68f8",
      ], ["0201d0097880932260"], ["0201d011fe2024402260"],
    ],
    // With a B-frame and scaling lists.
    [
      [
        "40010c01ffff01600000030090000003000003001e959009",
        "42010101600000030090000003000003001ea04208596564abe5700800001f400003a98040",
        "4401c171a112",
        "2801af0f60f941ab726b2f05c54f949071a374ba0a17fd5fd249d1206601fd1cf86ba1ffb273b9a5534bb556e9f86fddff"
          + "9b7827dd240bf521c935fa97f44277ac7cc884a8a1b32cdedcba6de3d059eef3d65026e290517ff088a127e47fa8f00119"
          + "1f93a6c1fcfb32bb2cabcaa0cb888a6a5134ce7c59ca1ca27e91b453ec56720d86ff8c9121d2c0",
      ], ["0201d0115784318244f8a0d0"], ["0001e024bf860a3005b4"],
    ],
  ].map { stream in stream.map { units in units.flatMap { [0, 0, 0, 1] + hexadecimal($0) } } }

  /// The first picture of each stream.
  static var h265KeyFrames: [[UInt8]] { h265Streams.compactMap(\.first) }

  private static func hexadecimal(_ text: String) -> [UInt8] {
    let digits = text.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }

  static func h265Seeds() -> [[UInt8]] {
    h265Streams.map { stream in
      var script = ScriptWriter()
      for unit in stream { script.chunk(unit) }
      return script.bytes
    }
  }

  /// Parameter sets, slice headers, and which pictures a decoder holds.
  static var h265Parser: FuzzTarget {
    FuzzTarget("h265-parser", maximumLength: 2048, seeds: h265Seeds()) { bytes in
      var input = FuzzInput(bytes)
      var inspector = H265StreamInspector()
      while !input.isAtEnd {
        lendExactly(input.chunk()) { memory in
          let content = memory.bytes
          var units = AnnexBUnits(content)
          while let unit = units.nextUnit() {
            if let video = try? H265VideoParameterSet(unit) {
              check((1...7).contains(video.maximumSubLayers), "temporal layers out of range")
            }
          }
          let isKeyFrame = H265StreamInspector.isKeyFrame(content)
          do {
            let unit = try inspector.inspect(content)
            check(
              unit.width <= unit.codedWidth && unit.height <= unit.codedHeight,
              "more is shown than is coded")
            check(unit.pictureCount == 0 || unit.width > 0, "a picture without a size")
            check(!unit.isKeyFrame || isKeyFrame, "a key frame that its header doesn't say")
          } catch {
            inspector.restart()
          }
        }
      }
    }
  }
}
