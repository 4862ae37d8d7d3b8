public import SoraMedia

/// How a picture is fitted into a tile of another shape.
public enum ViewScaling: Sendable, Hashable, CaseIterable {
  /// Both sides fill the tile; the picture is distorted.
  case fill
  /// The picture fills the tile and keeps its shape; what doesn't fit is cut off on both sides.
  case aspectFill
  /// The whole picture is seen in its shape; what it leaves free shows the background.
  case aspectFit
}

/// Which part of a picture is drawn where, and how it is turned.
public struct FramePlacement: Sendable, Hashable {
  /// The part of the picture, in its own pixels.
  public var source: PixelRectangle
  /// Where that part is seen, in the window's pixels.
  public var destination: PixelRectangle
  public var rotation: VideoRotation
  /// Whether left and right are exchanged as it is seen.
  public var isMirrored: Bool

  /// - Parameters:
  ///   - width: of the picture as it lies in memory, in pixels, at least 1.
  ///   - height: likewise.
  ///   - rotation: the turn before it is shown.
  ///   - cell: where it is to be seen.
  ///   - scaling: how it is fitted in.
  ///   - isMirrored: whether left and right are exchanged, once it is turned.
  public init(
    width: Int, height: Int, rotation: VideoRotation, in cell: PixelRectangle, scaling: ViewScaling,
    isMirrored: Bool = false
  ) {
    self.rotation = rotation
    self.isMirrored = isMirrored
    let isOnSide = rotation == .clockwise90 || rotation == .clockwise270
    let shown = isOnSide ? (width: height, height: width) : (width: width, height: height)
    source = PixelRectangle(x: 0, y: 0, width: width, height: height)
    switch scaling {
    case .fill: destination = cell
    case .aspectFit: destination = cell.fitting(width: shown.width, height: shown.height)
    case .aspectFill:
      destination = cell
      let shape =
        isOnSide
        ? (width: cell.height, height: cell.width) : (width: cell.width, height: cell.height)
      source = source.fitting(width: shape.width, height: shape.height)
    }
  }

  /// A part as it is, at a place.
  init(source: PixelRectangle, destination: PixelRectangle) {
    self.source = source
    self.destination = destination
    rotation = .none
    isMirrored = false
  }

  /// Where the part would stand if it weren't turned: it is turned about the middle of this.
  var unturned: PixelRectangle {
    switch rotation {
    case .none, .clockwise180: destination
    case .clockwise90, .clockwise270:
      destination.middle(width: destination.height, height: destination.width)
    }
  }

  /// The exchange of sides before the turn that gives the mirrored picture after it.
  var flips: (x: Bool, y: Bool) {
    guard isMirrored else { return (false, false) }
    let isOnSide = rotation == .clockwise90 || rotation == .clockwise270
    return (!isOnSide, isOnSide)
  }
}
