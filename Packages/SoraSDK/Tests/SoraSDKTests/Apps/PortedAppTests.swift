import Foundation
import PortedSwift5
import PortedSwift6
import SoraSDK
import SoraSignaling
import Testing

/// An app's class of the main actor that sets its own properties in handlers, compiled in Swift 5's mode and in Swift 6's.
@Suite(.timeLimit(.minutes(5))) struct PortedAppTests {
  /// What both of them can do: they are one source.
  @MainActor private struct Screen {
    var told: () -> [String]
    var connect: (Configuration, Sora) -> Void
    var mute: () -> Void
    var leave: () -> Void

    /// Polls on the main actor, where the properties are; the suite's limit ends it.
    func wait(for event: String) async throws {
      while !told().contains(event) { try await Task.sleep(for: .milliseconds(5)) }
    }

    static func swift5() -> Screen {
      let screen = PortedSwift5.PortedScreen()
      return Screen(
        told: { screen.told }, connect: { screen.connect($0, on: $1) }, mute: { screen.mute() },
        leave: { screen.leave() })
    }

    static func swift6() -> Screen {
      let screen = PortedSwift6.PortedScreen()
      return Screen(
        told: { screen.told }, connect: { screen.connect($0, on: $1) }, mute: { screen.mute() },
        leave: { screen.leave() })
    }
  }

  @MainActor @Test(arguments: [5, 6]) func mainActorsClass(_ mode: Int) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let screen = mode == 5 ? Screen.swift5() : Screen.swift6()
    screen.connect(server.configuration(), Sora())
    #expect(screen.told() == ["onAddMediaChannel"])
    try await screen.wait(for: "stats")
    screen.mute()
    #expect(screen.told().last == "onSwitchVideo false")
    screen.leave()
    try await screen.wait(for: "onDisconnect nil")
    // The iOS SDK's order.
    let told = screen.told().filter { $0 != "stats" && $0 != "notify" }
    #expect(
      told == [
        "onAddMediaChannel", "text", "onAddStream mainStream", "offer", "handler nil",
        "onConnect nil", "onSwitchVideo false", "sora.onDisconnect nil", "onDisconnect nil",
      ])
  }

  @Test(arguments: [5, 6]) func plainClass(_ mode: Int) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let sora = Sora()
    let configuration = server.configuration()
    let isConnected = Recorder<Bool>()
    if mode == 5 {
      PortedSwift5.PortedModel().connect(configuration, on: sora) { isConnected.append($0) }
    } else {
      PortedSwift6.PortedModel().connect(configuration, on: sora) { isConnected.append($0) }
    }
    await isConnected.wait(for: 1)
    #expect(isConnected.elements == [true])
    for channel in sora.mediaChannels { await channel.disconnect() }
  }

  /// Handlers of several actors: each runs on its own, and none before the one ahead of it has ended.
  @Test func actorsInTurn() async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let told = Recorder<String>()
    let sora = Sora()
    let configuration = server.configuration()
    sora.handlers.onConnect = { @MainActor _, _ in
      MainActor.assertIsolated()
      // Were the next one not to wait, it would come first.
      Thread.sleep(forTimeInterval: 0.05)
      told.append("main")
    }
    configuration.mediaChannelHandlers.onConnect = { _ in
      told.append(Thread.isMainThread ? "main again" : "own")
    }
    let channel = try await sora.connect(configuration: configuration)
    await told.wait(for: 2)
    #expect(told.elements == ["main", "own"])
    await channel.disconnect()
  }
}
