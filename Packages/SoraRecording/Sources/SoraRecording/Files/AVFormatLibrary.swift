import CSoraAVFormat
import SoraMedia

/// libavformat, loaded when it is first asked for.
enum AVFormatLibrary {
  /// Loads the library. From any thread.
  static func load() throws(MediaFileError) {
    let reason: String? = unsafe text { base, count in
      unsafe sora_avf_load(base, count) == 0
    }
    if let reason { throw .libraryMissing(reason: reason) }
  }

  /// Loads what pictures are converted with. From any thread.
  static func loadScaler() throws(MediaFileError) {
    let reason: String? = unsafe text { base, count in
      unsafe sora_avf_load_scaler(base, count) == 0
    }
    if let reason { throw .scalerMissing(reason: reason) }
  }

  /// The error of a call that failed: the system's where that is what it was.
  static func error(_ code: Int32, _ path: String, _ operation: String) -> MediaFileError {
    // Codes of the library's own are four letters, far below the negated errnos.
    if code < 0, code > -4_096 {
      return .system(path: path, operation: operation, errno: -code)
    }
    let reason = unsafe text { base, count in
      unsafe sora_avf_text(code, base, count)
      return false
    }
    return .library(path: path, operation: operation, reason: reason ?? "error \(code)")
  }

  /// The text that `body` writes; nil where it returns true.
  private static func text(_ body: (UnsafeMutablePointer<CChar>, Int) -> Bool) -> String? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      guard let base = text.baseAddress else { return nil }
      unsafe base.pointee = 0
      return unsafe body(base, text.count) ? nil : String(cString: base)
    }
  }
}

extension MediaCodec {
  /// The shim's name of it.
  var libraryName: sora_avf_codec {
    switch self {
    case .video(.vp8): SORA_AVF_VP8
    case .video(.vp9): SORA_AVF_VP9
    case .video(.av1): SORA_AVF_AV1
    case .video(.h264): SORA_AVF_H264
    case .video(.h265): SORA_AVF_H265
    case .opus: SORA_AVF_OPUS
    }
  }

  /// The codec of a shim's name; nil for those that aren't negotiated here.
  init?(libraryName: sora_avf_codec) {
    let all = VideoCodecKind.allCases.map(MediaCodec.video) + [.opus]
    guard let found = all.first(where: { $0.libraryName == libraryName }) else { return nil }
    self = found
  }
}
