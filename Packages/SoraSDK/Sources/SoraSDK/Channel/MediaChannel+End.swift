import Dispatch
import SoraSignaling
import SoraSignalingChannels
import Synchronization
import WebRTC

extension MediaChannel {
  /// How long the server may take to close after `disconnect`, in seconds: on the WebSocket, and over data channels, where a lost packet
  /// is sent again after a second at the earliest.
  private static let farewell = 1
  private static let channelFarewell = 3
  /// How long what was sent on data channels may take to leave before that, in seconds.
  private static let drain = 5

  /// The app wants to leave.
  func leave(_ error: (any Error)?) {
    let (phase, client, streams, route) = storage.withLock { state in
      defer { state.progress.leave() }
      return (state.phase, state.client, state.streams, state.route)
    }
    switch phase {
    case .connecting:
      end(error, attempt: error ?? SoraError.connectionCancelled, in: [.connecting], isUser: true)
    case .connected:
      stopCamera(in: streams)
      sora.audio.remove(streams)
      let isOverChannels = route.preferred == .dataChannel && dataChannels.isOpen(.signaling)
      // Whichever comes first: the server's close, or the end of patience.
      let end = { @Sendable (seconds: Int) in
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
          self.end(error, in: [.leaving], isUser: true)
        }
      }
      end(isOverChannels ? Self.drain + Self.channelFarewell : Self.farewell)
      Task {
        if isOverChannels {
          await dataChannels.drained()
          let message = SignalingMessage.disconnect(DisconnectMessage(reason: "NO-ERROR"))
          dataChannels.say(message.json, on: .signaling)
          end(Self.channelFarewell)
          await dataChannels.allClosed()
        } else {
          await client?.disconnect(reason: "NO-ERROR", timeout: .seconds(Self.farewell))
        }
        self.end(error, in: [.leaving], isUser: true)
      }
    case .idle, .leaving, .ended: break
    }
  }

  /// The app gave the attempt up.
  func cancelAttempt() {
    let error = SoraError.connectionCancelled
    end(error, attempt: error, task: .canceled, in: [.connecting], isUser: true)
  }

  /// Ends the channel or the attempt because of an error, or in order when there is none.
  ///
  /// - Parameters:
  ///   - reason: the error in one line with its stage, for `failureReason` and the log.
  ///   - phases: in any other phase nothing happens. While the app is leaving, its own end counts.
  ///   - event: how it ended, where the error doesn't say it all.
  func end(
    _ error: (any Error)?, reason: String?, in phases: Set<Phase> = [.connecting, .connected],
    as event: SoraCloseEvent? = nil
  ) {
    end(error, attempt: error, in: phases, reason: reason, as: event)
  }

  /// The one way to the end. The first call counts; all that follows is told after everything told before.
  private func end(
    _ error: (any Error)?, attempt attemptError: (any Error)? = nil,
    task taskState: ConnectionTask.State = .completed, in phases: Set<Phase>,
    reason: String? = nil, as event: SoraCloseEvent? = nil, isUser: Bool = false
  ) {
    struct Ending {
      var wasConnecting: Bool
      var completion: Completion?
      var client: SignalingClient?
      var peer: RTCPeerConnection?
      var streams: [BasicMediaStream]
      var streamSinks: [StreamSinks]
    }
    let ending = storage.withLock { state -> Ending? in
      guard phases.contains(state.phase) else { return nil }
      let ending = Ending(
        wasConnecting: state.phase == .connecting,
        completion: state.phase == .connecting ? state.completion : nil, client: state.client,
        peer: state.peer, streams: state.streams, streamSinks: state.streamSinks)
      state.progress.end(reason: reason, as: event ?? SoraCloseEvent(error))
      state.streams = []
      state.streamSinks = []
      state.patience = nil
      if ending.wasConnecting {
        state.completion = nil
        state.task?.end(taskState)
      }
      state.client = nil
      state.peer = nil
      state.peerEvents = nil
      return ending
    }
    guard let ending else { return }
    stopCamera(in: ending.streams)
    sora.audio.remove(ending.streams)
    if let reason {
      Logger.error(type: .mediaChannel, message: "\(reason)")
    } else {
      Logger.info(type: .mediaChannel, message: "did disconnect")
    }
    // An attempt that the app gives up says so too, without waiting for anybody.
    if isUser, ending.wasConnecting {
      ending.client?.send(.disconnect(DisconnectMessage(reason: "NO-ERROR")))
    }
    ending.client?.close()
    ending.peer?.close()
    dataChannels.end()
    calls.end()
    // Last: the channel's task, once its input has ended, closes the client without the farewell above.
    input.finish()
    let isFailedAttempt = ending.wasConnecting
    queue.enqueue { [self] in
      if isFailedAttempt {
        await ending.completion?.call(nil, attemptError)
        await sora.handlers.onConnect?(nil, attemptError)
        await handlers.onConnect?(attemptError)
      }
      for stream in ending.streams {
        for sinks in ending.streamSinks { sinks.remove(from: stream) }
        stream.terminate()
      }
      sora.remove(self)
      await sora.handlers.onRemoveMediaChannel?(self)
      await sora.handlers.onDisconnect?(self, error)
      await handlers.onDisconnect?(error)
      hub.publish(.disconnected(error))
    }
  }
}
