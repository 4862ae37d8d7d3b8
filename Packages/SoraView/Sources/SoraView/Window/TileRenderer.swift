import SoraMedia

/// Draws one tile of a window, and holds its picture. Confined to the render thread.
final class TileRenderer {
  /// A picture that the canvas holds, with what it takes to hold the next one in its place.
  private struct Picture {
    var texture: ViewTexture
    var format: PixelFormat
    var colorSpace: VideoColorSpace
    var rotation: VideoRotation
  }

  private static let mark = ViewColor(red: 0x2E, green: 0xCC, blue: 0x71)

  private let canvas: any ViewCanvas
  private var picture: Picture?
  /// Whether `picture` is to be seen; its texture is kept for the next one.
  private var isShown = false
  private var still: (buffer: PixelBuffer, picture: Picture)?
  private var appearance = VideoTile.Appearance()

  init(_ canvas: any ViewCanvas) { self.canvas = canvas }

  /// Gives back what the canvas holds for it.
  func close() {
    for texture in [picture?.texture, still?.picture.texture].compactMap({ $0 }) {
      canvas.drop(texture)
    }
    picture = nil
    still = nil
  }

  /// Takes over what is new. Returns since when a frame of it waited; nil where there is no new one.
  func update(from tile: VideoTile) -> Instant? {
    let (content, appearance) = tile.take()
    self.appearance = appearance
    // By itself: one that the display can't hold takes nothing from the frames.
    do throws(ViewError) { try updateStill() } catch { tile.note(error) }
    do throws(ViewError) {
      switch content {
      case .unchanged: return nil
      case .nothing:
        isShown = false
        return nil
      case .frame(let frame, let since):
        picture = try upload(
          frame.buffer, colorSpace: frame.colorSpace, rotation: frame.rotation, over: picture)
        isShown = true
        return since
      }
    } catch {
      tile.count(failed: error)
      return nil
    }
  }

  private func updateStill() throws(ViewError) {
    guard still?.buffer !== appearance.stillPicture else { return }
    let old = still?.picture
    still = nil
    do throws(ViewError) {
      if let buffer = appearance.stillPicture {
        still = (buffer, try upload(buffer, colorSpace: .bt601, rotation: .none, over: old))
      } else if let old {
        canvas.drop(old.texture)
      }
    } catch {
      // What stood there before isn't what is wanted now.
      if let old { canvas.drop(old.texture) }
      throw error
    }
  }

  /// Copies a picture to the canvas, in the place of an old one. Where it fails, the canvas holds that still, and nothing more.
  private func upload(
    _ buffer: PixelBuffer, colorSpace: VideoColorSpace, rotation: VideoRotation, over old: Picture?
  ) throws(ViewError) -> Picture {
    if let old, old.texture.width == buffer.width, old.texture.height == buffer.height,
      old.format == buffer.format, old.colorSpace == colorSpace
    {
      try canvas.upload(buffer, into: old.texture)
      var new = old
      new.rotation = rotation
      return new
    }
    let texture = try canvas.makeTexture(
      width: buffer.width, height: buffer.height, format: buffer.format, colorSpace: colorSpace)
    do throws(ViewError) {
      try canvas.upload(buffer, into: texture)
    } catch {
      canvas.drop(texture)
      throw error
    }
    if let old { canvas.drop(old.texture) }
    return Picture(
      texture: texture, format: buffer.format, colorSpace: colorSpace, rotation: rotation)
  }

  func draw(in cell: PixelRectangle, texts: inout TextPainter) {
    if let background = appearance.background { canvas.fill(cell, background) }
    if let shown = isShown ? picture : still?.picture {
      canvas.draw(
        shown.texture,
        FramePlacement(
          width: shown.texture.width, height: shown.texture.height, rotation: shown.rotation,
          in: cell, scaling: appearance.scaling, isMirrored: isShown && appearance.isMirrored))
    }
    let edge = min(max(3, cell.height / 120), (min(cell.width, cell.height) + 1) / 2)
    // Within the mark, whether it is there or not, so that nothing jumps when somebody speaks.
    let inside = cell.middle(
      width: max(1, cell.width - 2 * edge), height: max(1, cell.height - 2 * edge))
    texts.draw(overlay: appearance.overlay, in: inside)
    if let name = appearance.name { texts.draw(name: name, in: inside) }
    if appearance.isMarked { drawMark(around: cell, edge) }
  }

  private func drawMark(around cell: PixelRectangle, _ edge: Int) {
    for side in [
      PixelRectangle(x: cell.x, y: cell.y, width: cell.width, height: edge),
      PixelRectangle(x: cell.x, y: cell.y + cell.height - edge, width: cell.width, height: edge),
      PixelRectangle(x: cell.x, y: cell.y, width: edge, height: cell.height),
      PixelRectangle(x: cell.x + cell.width - edge, y: cell.y, width: edge, height: cell.height),
    ] {
      canvas.fill(side, Self.mark)
    }
  }
}
