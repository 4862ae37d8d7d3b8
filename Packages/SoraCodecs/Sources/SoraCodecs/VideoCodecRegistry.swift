/// The implementations that an app links, in order of preference: the first that works is taken.
public struct VideoCodecRegistry: Sendable {
  private var factories: [any VideoCodecFactory]

  public init(_ factories: [any VideoCodecFactory] = []) {
    self.factories = factories
  }

  /// Adds an implementation behind those that are there, or before them.
  public mutating func register(_ factory: any VideoCodecFactory, preferred: Bool = false) {
    if preferred {
      factories.insert(factory, at: 0)
    } else {
      factories.append(factory)
    }
  }

  /// What is registered, in order of preference.
  public var capabilities: [VideoCodecCapability] { factories.map(\.capability) }

  /// Codecs that can be encoded, each once, in order of preference.
  public var encodableKinds: [VideoCodecKind] {
    unique(factories.filter { $0.capability.canEncode })
  }

  /// Codecs that can be decoded, each once, in order of preference.
  public var decodableKinds: [VideoCodecKind] {
    unique(factories.filter { $0.capability.canDecode })
  }

  /// An encoder of the first implementation that starts with these settings.
  ///
  /// `implementation` moves one implementation to the front; the others stay as fallbacks. Throws
  /// `CodecError.noImplementation`, or the error of the most preferred implementation where all failed.
  public func makeEncoder(
    _ kind: VideoCodecKind, settings: VideoEncoderSettings, implementation: String? = nil
  ) throws(CodecError) -> sending any VideoEncoder {
    var first: CodecError?
    for factory in candidates(kind, implementation) where factory.capability.canEncode {
      do {
        return try factory.makeEncoder(settings)
      } catch {
        if first == nil { first = error }
      }
    }
    throw first ?? .noImplementation(kind: kind, encoding: true)
  }

  /// A decoder of the first implementation that starts. Preference, fallback and errors as with `makeEncoder`.
  public func makeDecoder(
    _ kind: VideoCodecKind, settings: VideoDecoderSettings = VideoDecoderSettings(),
    implementation: String? = nil
  ) throws(CodecError) -> sending any VideoDecoder {
    var first: CodecError?
    for factory in candidates(kind, implementation) where factory.capability.canDecode {
      do {
        return try factory.makeDecoder(settings)
      } catch {
        if first == nil { first = error }
      }
    }
    throw first ?? .noImplementation(kind: kind, encoding: false)
  }

  private func candidates(_ kind: VideoCodecKind, _ implementation: String?)
    -> [any VideoCodecFactory]
  {
    let matching = factories.filter { $0.capability.kind == kind }
    guard let implementation else { return matching }
    return matching.filter { $0.capability.implementation == implementation }
      + matching.filter { $0.capability.implementation != implementation }
  }

  private func unique(_ factories: [any VideoCodecFactory]) -> [VideoCodecKind] {
    var seen: [VideoCodecKind] = []
    for factory in factories where !seen.contains(factory.capability.kind) {
      seen.append(factory.capability.kind)
    }
    return seen
  }
}
