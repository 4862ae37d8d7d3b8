import CZlib
public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes pictures as PNG files (ISO/IEC 15948): 8-bit RGB, not interlaced.
public enum PNGWriter {
  /// Writes a picture to a file, whole or not at all: a temporary file takes its name at the end.
  ///
  /// - Parameters:
  ///   - picture: what is written.
  ///   - path: where the file lies.
  ///   - colorSpace: how the picture's samples become colours.
  /// - Throws: `PictureFileError` with the cause.
  public static func write(
    _ picture: PixelBuffer, to path: String, colorSpace: VideoColorSpace = .bt601
  ) throws(PictureFileError) {
    try write(RGBImage(picture, colorSpace: colorSpace), to: path)
  }

  /// Writes an image to a file, likewise.
  public static func write(_ image: RGBImage, to path: String) throws(PictureFileError) {
    let data = encode(image)
    let temporary = path + ".part"
    guard let file = unsafe fopen(temporary, "wb") else { throw PictureFileError(path) }
    let written = unsafe data.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
    guard unsafe fclose(file) == 0, written == data.count, unsafe rename(temporary, path) == 0
    else {
      let error = PictureFileError(path)
      unsafe unlink(temporary)
      throw error
    }
  }

  /// The bytes of the PNG file of an image.
  public static func encode(_ image: RGBImage) -> [UInt8] {
    // Signature, §5.2.
    var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    let header =
      bigEndian(UInt32(image.width)) + bigEndian(UInt32(image.height)) + [8, 2, 0, 0, 0]
    append(&png, "IHDR", header)
    append(&png, "IDAT", compress(filter(image)))
    append(&png, "IEND", [])
    return png
  }

  /// Puts the filter type Up before each row (§9.2): what suits pictures and costs least.
  private static func filter(_ image: RGBImage) -> [UInt8] {
    let rowBytes = image.width * 3
    return [UInt8](capacity: (rowBytes + 1) * image.height) { output in
      for y in 0..<image.height {
        output.append(2)
        for x in 0..<rowBytes {
          let above = y == 0 ? 0 : image.bytes[(y - 1) * rowBytes + x]
          output.append(image.bytes[y * rowBytes + x] &- above)
        }
      }
    }
  }

  private static func compress(_ bytes: [UInt8]) -> [UInt8] {
    var size = compressBound(uLong(bytes.count))
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { output, count in
      let status = unsafe compress2(output.baseAddress, &size, bytes, uLong(bytes.count), 6)
      precondition(status == Z_OK, "zlib has as much room as compressBound asked for")
      count = Int(size)
    }
  }

  private static func append(_ png: inout [UInt8], _ type: String, _ data: [UInt8]) {
    png += bigEndian(UInt32(data.count))
    let body = Array(type.utf8) + data
    png += body
    png += bigEndian(UInt32(truncatingIfNeeded: unsafe crc32(0, body, uInt(body.count))))
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
