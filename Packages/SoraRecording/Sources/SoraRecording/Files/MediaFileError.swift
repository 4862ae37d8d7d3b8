import Foundation
public import SoraMedia

/// Why a file can't be written or read.
public enum MediaFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name's ending is none of a container's.
  case unknownEnding(path: String)
  /// The container has no form for the codec.
  case codecNotInContainer(path: String, codec: MediaCodec, container: MediaContainer)
  /// The stream went on in another codec, which a file's track can't.
  case codecChanged(path: String, from: MediaCodec, to: MediaCodec)
  /// The library that writes and reads files can't be loaded.
  case libraryMissing(reason: String)
  /// The library that converts decoded pictures can't be loaded.
  case scalerMissing(reason: String)
  /// The operating system refused to open, write or read the file.
  case system(path: String, operation: String, errno: Int32)
  /// The library refused: in its words. Or the file isn't the one any more that was opened.
  case library(path: String, operation: String, reason: String)
  /// A frame's bytes aren't one of its codec: it is left out, and the file goes on.
  case invalidFrame(path: String)
  /// Pictures of this size, in pixels, can't be sent.
  case sizeOutOfRange(path: String, width: Int, height: Int)
  /// The file has no track of these kinds that can be played; `found` names the codecs of those that it has.
  case noTrack(path: String, wanted: Set<MediaKind>, found: [String])
  /// Writing was begun, or was not begun yet, or has ended.
  case wrongOrder(path: String, operation: String)

  public var description: String {
    switch self {
    case .unknownEnding(let path):
      "\(path): end the name in .webm (VP8, VP9, AV1), .mp4 (H.264, H.265, VP9, AV1) or .mkv (any codec)"
    case .codecNotInContainer(let path, let codec, let container):
      "\(path): \(container) files can't hold \(codec); end the name in \(Self.endings(codec))"
    case .codecChanged(let path, let from, let to):
      "\(path): the stream changed from \(from) to \(to), and a file has one codec; record again"
    case .libraryMissing(let reason):
      "recording needs libavformat: \(reason); install Debian's package libavformat59"
    case .system(let path, let operation, let number):
      "cannot \(operation) \(path): \(unsafe String(cString: strerror(number)))"
    case .library(let path, let operation, let reason): "cannot \(operation) \(path): \(reason)"
    case .invalidFrame(let path): "\(path): a frame isn't one of its codec, and is left out"
    case .noTrack(let path, let wanted, let found):
      "\(path): no \(wanted.map(\.rawValue).sorted(by: >).joined(separator: " or ")) that can be played; "
        + (found.isEmpty ? "it has none" : "it has \(found.joined(separator: ", "))")
        + (found.isEmpty ? "" : ", which libavcodec can't decode")
    case .sizeOutOfRange(let path, let width, let height):
      "\(path): size \(width)x\(height) is outside 16x16 to 8192x8192"
    case .scalerMissing(let reason):
      "decoding pictures needs libswscale: \(reason); install Debian's package libswscale6"
    case .wrongOrder(let path, let operation): "\(path): \(operation) comes at the wrong time"
    }
  }

  private static func endings(_ codec: MediaCodec) -> String {
    MediaContainer.allCases.filter { $0.holds(codec) }.map { ".\($0.fileEnding)" }
      .joined(separator: " or ")
  }
}
