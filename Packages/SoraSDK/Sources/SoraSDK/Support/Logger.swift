public import Foundation
import Synchronization

/// Which part of the SDK a log line is about.
public enum LogType: CustomStringConvertible, Sendable {
  case sora
  case webSocketChannel
  case signaling
  case signalingChannel
  case peerChannel
  case nativePeerChannel
  case connectionTimer
  case mediaChannel
  case mediaStream
  case cameraVideoCapturer
  case videoRenderer
  case videoView
  /// A part of the app.
  case user(String)
  case configurationViewController
  case dataChannel

  public var description: String {
    switch self {
    case .sora: "Sora"
    case .webSocketChannel: "WebSocketChannel"
    case .signaling: "Signaling"
    case .signalingChannel: "SignalingChannel"
    case .peerChannel: "PeerChannel"
    case .nativePeerChannel: "NativePeerChannel"
    case .connectionTimer: "ConnectionTimer"
    case .mediaChannel: "MediaChannel"
    case .mediaStream: "MediaStream"
    case .cameraVideoCapturer: "CameraVideoCapturer"
    case .videoRenderer: "VideoRenderer"
    case .videoView: "VideoView"
    case .user(let name): name
    case .configurationViewController: "ConfigurationViewController"
    case .dataChannel: "DataChannel"
    }
  }
}

/// How much a log line matters; also the threshold of the logger.
public enum LogLevel: CustomStringConvertible, Sendable {
  case fatal, error, warn, info, debug, trace
  /// Nothing is logged.
  case off

  var rank: Int {
    switch self {
    case .fatal: 6
    case .error: 5
    case .warn: 4
    case .info: 3
    case .debug: 2
    case .trace: 1
    case .off: 0
    }
  }

  public var description: String {
    switch self {
    case .fatal: "FATAL"
    case .error: "ERROR"
    case .warn: "WARN"
    case .info: "INFO"
    case .debug: "DEBUG"
    case .trace: "TRACE"
    case .off: "OFF"
    }
  }
}

/// One line of the log.
public struct Log: CustomStringConvertible, Sendable {
  public let level: LogLevel
  public let type: LogType
  public let timestamp: Date
  public let message: String

  public var description: String {
    "\(Self.format(timestamp)) \(type) \(level): \(message)"
  }

  /// `yyyy-MM-dd HH:mm:ss` in local time. `DateFormatter` costs a hundred times as much.
  private static func format(_ date: Date) -> String {
    var seconds = time_t(date.timeIntervalSince1970)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = unsafe strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The SDK's log. Safe from any thread.
public final class Logger: Sendable {
  /// Parts of the SDK that are switched on together.
  public enum Group: Sendable {
    case channels
    case connectionTimer
    case videoCapturer
    case videoRenderer
    case configurationViewController
    case user
  }

  public static let shared = Logger()

  private struct State: Sendable {
    var onOutputHandler: (@Sendable (Log) -> Void)?
    var groups: [Group] = [.channels, .user]
    var level: LogLevel = .info
    var printsToStandardError = true
  }
  private let state = Mutex(State())

  private init() {}

  /// Gets every line that is emitted, on the thread that logs it, before it is printed.
  public var onOutputHandler: (@Sendable (Log) -> Void)? {
    get { state.withLock { $0.onOutputHandler } }
    set { state.withLock { $0.onOutputHandler = newValue } }
  }

  /// The parts that are logged.
  public var groups: [Group] {
    get { state.withLock { $0.groups } }
    set { state.withLock { $0.groups = newValue } }
  }

  /// Lines below this level are left out.
  public var level: LogLevel {
    get { state.withLock { $0.level } }
    set { state.withLock { $0.level = newValue } }
  }

  /// Whether lines are printed to standard error as well as handed to `onOutputHandler`. Linux only: on iOS they go to standard
  /// output, which belongs to the data of a program here.
  public var printsToStandardError: Bool {
    get { state.withLock { $0.printsToStandardError } }
    set { state.withLock { $0.printsToStandardError = newValue } }
  }

  @available(*, deprecated, renamed: "printsToStandardError")
  public var printsToStandardOutput: Bool {
    get { printsToStandardError }
    set { printsToStandardError = newValue }
  }

  public static func fatal(type: LogType, message: @autoclosure () -> String) {
    shared.output(.fatal, type, message)
  }
  public static func error(type: LogType, message: @autoclosure () -> String) {
    shared.output(.error, type, message)
  }
  public static func warn(type: LogType, message: @autoclosure () -> String) {
    shared.output(.warn, type, message)
  }
  public static func info(type: LogType, message: @autoclosure () -> String) {
    shared.output(.info, type, message)
  }
  public static func debug(type: LogType, message: @autoclosure () -> String) {
    shared.output(.debug, type, message)
  }
  public static func trace(type: LogType, message: @autoclosure () -> String) {
    shared.output(.trace, type, message)
  }

  /// Texts that nobody gets aren't made.
  private func output(_ level: LogLevel, _ type: LogType, _ message: () -> String) {
    let state = self.state.withLock { $0 }
    guard state.level.rank > 0, state.level.rank <= level.rank,
      state.groups.contains(where: { $0.covers(type) })
    else { return }
    let log = Log(level: level, type: type, timestamp: Date(), message: message())
    state.onOutputHandler?(log)
    // In one piece, and without a way to tell of a standard error that is closed.
    if state.printsToStandardError {
      try? FileHandle.standardError.write(contentsOf: Data("\(log)\n".utf8))
    }
  }
}

extension Logger.Group {
  fileprivate func covers(_ type: LogType) -> Bool {
    switch (self, type) {
    case (.channels, .sora), (.channels, .webSocketChannel), (.channels, .signalingChannel),
      (.channels, .peerChannel), (.channels, .nativePeerChannel), (.channels, .mediaChannel),
      (.channels, .mediaStream), (.channels, .dataChannel), (.channels, .cameraVideoCapturer),
      (.connectionTimer, .connectionTimer), (.videoCapturer, .cameraVideoCapturer),
      (.videoRenderer, .videoRenderer), (.videoRenderer, .videoView), (.user, .user),
      (.configurationViewController, .configurationViewController):
      true
    default: false
    }
  }
}
