import Foundation
import SoraRecording

/// A picture's size as `--resolution` writes it: `1280x720`.
package struct Resolution: Equatable, Sendable, CustomStringConvertible {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Reads `WIDTHxHEIGHT`, each 16 to 8192; nil for anything else.
  package init?(_ text: String) {
    let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]),
      (16...8192).contains(width), (16...8192).contains(height)
    else { return nil }
    self.init(width: width, height: height)
  }

  package var description: String { "\(width)x\(height)" }
}

/// What `--video` of `sora publish` names.
package enum VideoChoice: Equatable, Sendable {
  case testPattern
  case file(String)
  /// A file of encoded frames: anything that libavformat reads.
  case film(String)
  /// A camera, by its file; nil for the first.
  case camera(String?)
  /// A screen by its name, a part of the desktop as `WIDTHxHEIGHT+X+Y`, or `portal` for the user's choice; nil for the primary screen.
  case screen(String?)
  /// A window, by words of its title or its number, or `portal` for the user's choice.
  case window(String)
  case none

  package init(_ text: String) throws(UsageError) {
    switch text {
    case "test-pattern": self = .testPattern
    case "none": self = .none
    case "camera": self = .camera(nil)
    case _ where text.hasPrefix("camera:/"): self = .camera(String(text.dropFirst(7)))
    case "screen": self = .screen(nil)
    case _ where text.hasPrefix("screen:") && text.count > 7:
      self = .screen(String(text.dropFirst(7)))
    case _ where text.hasPrefix("window:") && text.count > 7:
      self = .window(String(text.dropFirst(7)))
    case _ where text.lowercased().hasSuffix(".y4m"): self = .file(text)
    case _ where FilmInput.isName(text): self = .film(text)
    default:
      throw UsageError(
        "--video \(text): use test-pattern, camera, camera:/dev/videoN, screen, screen:NAME, screen:portal, window:TITLE,"
          + " FILE.y4m, .webm, .mp4 or .mkv, or none")
    }
  }
}

/// What `--audio` of `sora publish` names.
package enum AudioChoice: Equatable, Sendable {
  case tone
  case file(String)
  /// A file of encoded frames: the same as the video's, or another.
  case film(String)
  /// A microphone, by its name; nil for the default.
  case microphone(String?)
  case none

  package init(_ text: String) throws(UsageError) {
    switch text {
    case "tone": self = .tone
    case "none": self = .none
    case "mic": self = .microphone(nil)
    case _ where text.hasPrefix("mic:") && text.count > 4:
      self = .microphone(String(text.dropFirst(4)))
    case _ where text.lowercased().hasSuffix(".wav"): self = .file(text)
    case _ where FilmInput.isName(text): self = .film(text)
    default:
      throw UsageError(
        "--audio \(text): use tone, mic, mic:NAME, FILE.wav, .webm, .mp4 or .mkv, or none")
    }
  }
}

/// What `--audio` of `sora play` names.
package enum AudioDestination: Equatable, Sendable {
  /// Received and measured.
  case meter
  /// Played, too: by a loudspeaker's name; nil for the default.
  case speaker(String?)
  case none

  package init(_ text: String?) throws(UsageError) {
    switch text {
    case nil: self = .meter
    case "none": self = .none
    case "speaker": self = .speaker(nil)
    case let text? where text.hasPrefix("speaker:") && text.count > 8:
      self = .speaker(String(text.dropFirst(8)))
    case let text?:
      throw UsageError("--audio \(text): use speaker, speaker:NAME or none; publish sends")
    }
  }
}

/// The files that `--record` names: at most one of each kind.
package struct RecordFiles: Equatable, Sendable {
  package var video: String?
  package var audio: String?
  /// What is received, as it comes.
  package var encoded: String?
  /// Where a file of each stream goes, as it comes.
  package var folder: String?

  /// - Parameter takesEncoded: whether there is anything encoded to record.
  package init(_ paths: [String], takesEncoded: Bool = true) throws(UsageError) {
    for path in paths {
      switch path.lowercased() {
      case _ where Self.isFolder(path) && takesEncoded:
        guard folder == nil else {
          throw UsageError("--record \(path): one folder is enough; leave one out")
        }
        folder = path
      case let name where name.hasSuffix(".y4m"):
        guard video == nil else {
          throw UsageError("--record \(path): one .y4m file is enough; leave one out")
        }
        video = path
      case let name where name.hasSuffix(".wav"):
        guard audio == nil else {
          throw UsageError("--record \(path): one .wav file is enough; leave one out")
        }
        audio = path
      case _ where MediaContainer(path: path) != nil && takesEncoded:
        guard encoded == nil else {
          throw UsageError("--record \(path): one file of the stream is enough; leave one out")
        }
        encoded = path
      default:
        let stream =
          takesEncoded
          ? ".webm, .mp4 or .mkv for the stream as it comes, / for a folder of all streams, " : ""
        throw UsageError(
          "--record \(path): end the name in \(stream).y4m for pictures or .wav for sound")
      }
    }
  }

  /// A folder's name ends in `/`, unless it is there.
  private static func isFolder(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    return path.hasSuffix("/") || exists && isDirectory.boolValue
  }
}
