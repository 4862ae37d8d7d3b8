public import SoraMedia

/// Where tiles stand in a window: in equal cells, as many beside each other as make the tiles largest.
public enum GridLayout {
  /// The cells of `count` tiles, row by row. A last row with fewer tiles stands in the middle.
  ///
  /// - Parameters:
  ///   - count: how many tiles; none for 0 and less.
  ///   - width: of the window, in pixels.
  ///   - height: of the window, in pixels.
  ///   - aspect: width by height of what the tiles show, more than 0. Cells may be of another shape: they fill the window.
  ///   - spacing: pixels between cells.
  public static func cells(
    count: Int, width: Int, height: Int, aspect: Double = 16.0 / 9, spacing: Int = 0
  ) -> [PixelRectangle] {
    guard count > 0, width > 0, height > 0, aspect > 0 else { return [] }
    let columns = columns(count: count, shape: Double(width) / Double(height) / aspect)
    let rows = (count + columns - 1) / columns
    return (0..<count).map { index in
      let (row, column) = (index / columns, index % columns)
      // Edges are rounded, and not sizes, so that nothing is left over at the end.
      let top = edge(row, of: rows, in: height, spacing)
      let bottom = edge(row + 1, of: rows, in: height, spacing) - spacing
      let missing = row == rows - 1 ? rows * columns - count : 0
      let left = edge(column, of: columns, in: width, spacing)
      let right = edge(column + 1, of: columns, in: width, spacing) - spacing
      let shift = missing * (width + spacing) / columns / 2
      return PixelRectangle(
        x: left + shift, y: top, width: max(1, right - left), height: max(1, bottom - top))
    }
  }

  /// How many columns make what is shown largest; of several those that leave the fewest cells empty, and then the most.
  ///
  /// - Parameter shape: how many tiles that are as high as the window stand beside each other in it.
  private static func columns(count: Int, shape: Double) -> Int {
    var best = (columns: 1, tile: -Double.infinity, empty: Int.max)
    for columns in 1...count {
      let rows = (count + columns - 1) / columns
      let tile = min(shape / Double(columns), 1 / Double(rows))
      let empty = rows * columns - count
      if tile > best.tile + 1e-9 || (tile > best.tile - 1e-9 && empty <= best.empty) {
        best = (columns, tile, empty)
      }
    }
    return best.columns
  }

  /// Where cell `index` begins.
  private static func edge(_ index: Int, of count: Int, in length: Int, _ spacing: Int) -> Int {
    index * (length + spacing) / count
  }
}
