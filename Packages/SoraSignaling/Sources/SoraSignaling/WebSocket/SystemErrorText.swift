import NIOCore
import NIOSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the system's and TLS's errors are called, without their types' names and source files.
enum SystemErrorText {
  /// A few words, such as `no network leads there`.
  static func words(_ error: any Error) -> String {
    switch error {
    case let error as IOError: words(errno: error.errnoCode)
    case ChannelError.connectTimeout: "no answer in time"
    case ChannelError.eof, ChannelError.alreadyClosed, ChannelError.inputClosed,
      ChannelError.outputClosed, ChannelError.ioOnClosedChannel:
      "the other side closed it"
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: tlsWords(error)
    default: "\(error)"
    }
  }

  private static func words(errno code: CInt) -> String {
    switch code {
    case EADDRINUSE: "another program listens there already"
    case EADDRNOTAVAIL: "that is no address of this machine"
    case EACCES, EPERM: "permission denied"
    case ECONNREFUSED: "nothing listens there"
    case ECONNRESET, ECONNABORTED, EPIPE: "the other side broke it off"
    case EHOSTUNREACH, EHOSTDOWN: "no way to that host"
    case ENETUNREACH, ENETDOWN: "no network leads there"
    case ETIMEDOUT: "no answer in time"
    case EMFILE, ENFILE: "too many files are open"
    case ENOENT: "no such file"
    default: "error \(code) of the system"
    }
  }

  /// BoringSSL's own name of what went wrong, such as `WRONG_VERSION_NUMBER`; its dump names the machine that built it.
  private static func tlsWords(_ error: any Error) -> String {
    let text = "\(error)"
    guard let name = text.components(after: "OPENSSL_internal:") else {
      return text.contains("/") ? "the reason is unknown" : text
    }
    return String(name.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
  }
}

extension String {
  fileprivate func components(after mark: String) -> Substring? {
    guard let first = ranges(of: mark).first else { return nil }
    return self[first.upperBound...]
  }
}
