package import SoraMedia

/// All windows, and when each is drawn. Confined to the render thread, or to a test.
package final class RenderLoop {
  /// How long a key that is pressed may wait.
  private static let eventInterval = Duration.milliseconds(10)

  private let driver: any ViewDriver
  private var renderers: [SceneRenderer] = []
  /// The windows on the display, of those.
  private var shown: [SceneRenderer] { renderers.filter(\.isOnDisplay) }

  package init(driver: any ViewDriver) { self.driver = driver }

  package func open(_ scene: ViewScene, _ place: VideoWindowPlace) -> Result<Void, ViewError> {
    do throws(ViewError) {
      let settings = scene.settings
      let canvas =
        switch place {
        case .display: try driver.openWindow(settings)
        case .memory: try driver.openMemory(settings)
        }
      renderers.append(SceneRenderer(scene, canvas, isOnDisplay: place == .display))
      chooseWhoWaits()
      return .success(())
    } catch {
      scene.note { $0.isClosed = true }
      return .failure(error)
    }
  }

  package func close(_ scene: ViewScene) {
    guard let index = renderers.firstIndex(where: { $0.scene === scene }) else { return }
    renderers.remove(at: index).close()
    chooseWhoWaits()
  }

  package func image(of scene: ViewScene) -> Result<RGBImage, ViewError> {
    guard let renderer = renderers.first(where: { $0.scene === scene }) else {
      return .failure(.closed)
    }
    do throws(ViewError) { return .success(try renderer.image()) } catch { return .failure(error) }
  }

  /// One window waits for its display; with a second that did, both would be drawn at half its rate.
  private func chooseWhoWaits() {
    for (index, renderer) in shown.enumerated() { renderer.waitsForDisplay(index == 0) }
  }

  /// Draws what is due. Returns when to come back, unless something new comes before; nil where no window is on the display.
  ///
  /// - Parameter clock: gives the time, which goes on while frames are drawn.
  package func turn(_ clock: () -> Instant) -> Instant? {
    let shown = shown
    guard !shown.isEmpty else { return nil }
    guard !driver.isDisplayLost else {
      for renderer in shown { renderer.lose() }
      renderers.removeAll(where: \.isOnDisplay)
      return nil
    }
    while let event = driver.nextEvent() {
      shown.first { $0.canvasNumber == event.canvas }?.take(event.kind)
    }
    var next = clock() + Self.eventInterval
    for renderer in shown {
      if let due = renderer.drawIfDue(clock) { next = min(next, due) }
    }
    return next
  }
}
