import CSoraRedis
import SoraMedia

/// What a Redis replies.
enum RedisValue: Hashable, Sendable {
  case none
  case text(String)
  case integer(Int64)
  case list([RedisValue])

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var list: [RedisValue]? { if case .list(let list) = self { list } else { nil } }

  /// A number, which scripts reply as such and hashes as text.
  var number: Int64? {
    switch self {
    case .integer(let number): number
    case .text(let text): Int64(text)
    default: nil
    }
  }
}

/// A connection to a Redis, which blocks. Confined to one thread.
@safe final class RedisConnection {
  private let handle: OpaquePointer

  static let reasonSize = 256

  /// Whether hiredis is there.
  static func load() throws(ClusterError) {
    var reason = [CChar](repeating: 0, count: reasonSize)
    guard unsafe sora_redis_load(&reason, reason.count) == 0 else {
      throw .noLibrary(text(of: reason))
    }
  }

  /// Connects, and says who it is.
  ///
  /// - Parameters:
  ///   - address: the Redis's.
  ///   - host: the address of its host: of a name, the time-out wouldn't hold.
  ///   - timeout: for connecting, and then for each reply.
  init(_ address: RedisAddress, at host: String, timeout: Duration) throws(ClusterError) {
    var reason = [CChar](repeating: 0, count: Self.reasonSize)
    guard
      let handle = unsafe sora_redis_open(
        host, Int32(address.port), Int32(clamping: timeout.wholeNanoseconds / 1_000_000), &reason,
        reason.count)
    else { throw .unreachable(Self.text(of: reason)) }
    unsafe self.handle = handle
    if let password = address.password {
      do throws(ClusterError) {
        _ = try run(["AUTH"] + (address.user.map { [$0] } ?? []) + [password])
      } catch .refused(let reason) {
        // Of the reason the first word alone: where AUTH has another name, the rest repeats the password.
        throw .refused("the password (\(reason.prefix { $0 != " " }))")
      }
    }
    // Where a password is missing, the reply to a short command says so.
    _ = try run(["PING"])
    if address.database != 0 { _ = try run(["SELECT", "\(address.database)"]) }
  }

  deinit { unsafe sora_redis_close(handle) }

  /// Sends a command, and waits for the reply.
  ///
  /// - Throws: `unreachable` where the connection is of no use any more, `refused` with what the Redis says.
  func run(_ arguments: [String]) throws(ClusterError) -> RedisValue {
    var reason = [CChar](repeating: 0, count: Self.reasonSize)
    let texts = arguments.map { Array($0.utf8) }
    let count = unsafe sora_redis_run(
      handle, texts.flatMap { $0 }, texts.map(\.count), Int32(clamping: texts.count), &reason,
      reason.count)
    guard count > 0 else { throw .unreachable(Self.text(of: reason)) }
    var index = 0
    return try value(&index)
  }

  private func value(_ index: inout Int) throws(ClusterError) -> RedisValue {
    let part = unsafe sora_redis_part(handle, index)
    index += 1
    switch part.kind {
    case SORA_REDIS_TEXT: return .text(text(at: index - 1, part.length))
    case SORA_REDIS_INTEGER: return .integer(part.integer)
    case SORA_REDIS_ERROR: throw .refused(text(at: index - 1, part.length))
    case SORA_REDIS_LIST:
      // Depth and number are bounded where replies are taken.
      var elements: [RedisValue] = []
      for _ in 0..<part.count { elements.append(try value(&index)) }
      return .list(elements)
    default: return .none
    }
  }

  private func text(at index: Int, _ length: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: length)
    let copied = unsafe sora_redis_text(handle, index, &bytes, bytes.count)
    return String(decoding: bytes.prefix(copied), as: UTF8.self)
  }

  static func text(of reason: [CChar]) -> String {
    String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
