import Foundation
import SoraSDK

/// What an app of the iOS SDK looks like: a class of the main actor, which sets its own properties in handlers.
@MainActor public final class PortedScreen {
  public private(set) var told: [String] = []
  public private(set) var channel: MediaChannel?
  private var task: ConnectionTask?

  public init() {}

  public func connect(_ original: Configuration, on sora: Sora) {
    let configuration = original
    configuration.mediaChannelHandlers.onConnect = { error in
      self.note("onConnect", error)
    }
    configuration.mediaChannelHandlers.onAddStream = { [weak self] stream in
      self?.told.append("onAddStream \(stream.streamId)")
    }
    configuration.mediaChannelHandlers.onReceiveSignaling = { message in
      self.told.append(message.typeName())
    }
    configuration.webSocketChannelHandlers.onReceive = { [weak self] _ in
      self?.told.append("text")
    }
    configuration.mediaChannelHandlers.onDisconnect = { [weak self] error in
      self?.note("onDisconnect", error)
    }
    sora.handlers.onAddMediaChannel = { [weak self] _ in self?.told.append("onAddMediaChannel") }
    sora.handlers.onDisconnect = { _, error in self.note("sora.onDisconnect", error) }
    task = sora.connect(configuration: configuration) { [weak self] channel, error in
      guard let self else { return }
      self.channel = channel
      task = nil
      note("handler", error)
      channel?.getStats { result in
        if case .success = result { self.told.append("stats") }
      }
    }
  }

  public func mute() {
    channel?.senderStream?.handlers.onSwitchVideo = { isEnabled in
      self.told.append("onSwitchVideo \(isEnabled)")
    }
    channel?.senderStream?.videoEnabled = false
  }

  public func leave() { channel?.disconnect(error: nil) }

  private func note(_ event: String, _ error: Error?) {
    MainActor.assertIsolated()
    told.append("\(event) \(error.map { "\($0)" } ?? "nil")")
  }
}

/// The same without an actor: a plain class, whose handlers come one after the other on the channel's queue.
public final class PortedModel {
  public private(set) var ended = false
  public private(set) var streams: [String] = []

  public init() {}

  public func connect(
    _ configuration: Configuration, on sora: Sora, then next: @escaping (Bool) -> Void
  ) {
    configuration.mediaChannelHandlers.onAddStream = { self.streams.append($0.streamId) }
    configuration.mediaChannelHandlers.onDisconnect = { _ in self.ended = true }
    _ = sora.connect(configuration: configuration) { channel, _ in next(channel != nil) }
  }
}
