import Foundation
public import SoraMedia

/// A file format for encoded audio and video.
public enum MediaContainer: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// WebM: VP8, VP9, AV1 and Opus.
  case webm
  /// Matroska: every codec.
  case matroska
  /// MP4 in fragments (ISO/IEC 14496-12 §8.8): VP9, AV1, H.264, H.265 and Opus.
  case mp4

  /// The container that a file's name asks for by its ending; nil for other endings.
  public init?(path: String) {
    let ending = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard let found = Self.allCases.first(where: { $0.fileEnding == ending }) else { return nil }
    self = found
  }

  /// What its files' names end in, without the point.
  public var fileEnding: String {
    switch self {
    case .webm: "webm"
    case .matroska: "mkv"
    case .mp4: "mp4"
    }
  }

  /// Whether it holds a codec in a form that players know.
  public func holds(_ codec: MediaCodec) -> Bool {
    switch (self, codec) {
    case (.matroska, _), (_, .opus), (_, .video(.vp9)), (_, .video(.av1)): true
    case (.webm, .video(.vp8)), (.mp4, .video(.h264)), (.mp4, .video(.h265)): true
    case (.webm, .video(.h264)), (.webm, .video(.h265)), (.mp4, .video(.vp8)): false
    }
  }

  public var description: String {
    switch self {
    case .webm: "WebM"
    case .matroska: "Matroska"
    case .mp4: "MP4"
    }
  }
}
