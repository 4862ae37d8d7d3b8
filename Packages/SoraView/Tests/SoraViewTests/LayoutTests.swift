import SoraMedia
import SoraView
import Testing

@Suite struct GridLayoutTests {
  /// Of each count, in a window of 1280x720, the columns and rows that everybody knows from meetings.
  @Test(
    arguments: [
      (1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 2, 2), (5, 3, 2), (6, 3, 2), (7, 3, 3), (9, 3, 3),
      (10, 4, 3), (12, 4, 3), (13, 4, 4), (16, 4, 4),
    ])
  func aWideWindowHasTheUsualGrid(_ count: Int, _ columns: Int, _ rows: Int) {
    let cells = GridLayout.cells(count: count, width: 1_280, height: 720)
    #expect(cells.count == count)
    #expect(cells.count { $0.y == cells[0].y } == min(columns, count))
    #expect(Set(cells.map(\.y)).count == rows)
  }

  @Test func aHighWindowStacksItsTiles() {
    let cells = GridLayout.cells(count: 3, width: 720, height: 1_280)
    #expect(Set(cells.map(\.x)) == [0])
    #expect(cells.map(\.y) == [0, 426, 853])
  }

  /// For any count, size and shape: the cells lie in the window, none covers another, and no other number of columns makes
  /// what is shown larger.
  @Test func tilesAreAsLargeAsCanBe() {
    for count in 1...30 {
      for (width, height) in [(1_280, 720), (800, 600), (300, 1_000), (1_920, 200)] {
        for aspect in [16.0 / 9, 4.0 / 3, 9.0 / 16] {
          let cells = GridLayout.cells(
            count: count, width: width, height: height, aspect: aspect)
          for (index, cell) in cells.enumerated() {
            #expect(cell.x >= 0 && cell.y >= 0)
            #expect(cell.x + cell.width <= width && cell.y + cell.height <= height)
            for other in cells[..<index] {
              #expect(
                other.x + other.width <= cell.x
                  || other.y + other.height <= cell.y)
            }
          }
          let shown = min(Double(cells[0].width), Double(cells[0].height) * aspect)
          for columns in 1...count {
            let rows = (count + columns - 1) / columns
            let other = min(Double(width) / Double(columns), Double(height) / Double(rows) * aspect)
            // Less a pixel and its share of the shape, for rounding.
            #expect(shown >= other - 1 - aspect)
          }
        }
      }
    }
  }

  @Test func cellsKeepTheirSpacing() {
    let cells = GridLayout.cells(count: 4, width: 101, height: 61, spacing: 3)
    #expect(cells[0] == PixelRectangle(x: 0, y: 0, width: 49, height: 29))
    #expect(cells[3] == PixelRectangle(x: 52, y: 32, width: 49, height: 29))
  }

  @Test func aLastRowWithFewerTilesStandsInTheMiddle() {
    let cells = GridLayout.cells(count: 3, width: 1_280, height: 720)
    #expect(cells[2].x == 320 && cells[2].width == 640)
  }

  @Test func nothingNeedsNoCell() {
    #expect(GridLayout.cells(count: 0, width: 10, height: 10) == [])
    #expect(GridLayout.cells(count: 3, width: 0, height: 10) == [])
    #expect(GridLayout.cells(count: 5, width: 1, height: 1, spacing: 2).count == 5)
  }
}

@Suite struct FramePlacementTests {
  private let cell = PixelRectangle(x: 10, y: 20, width: 100, height: 100)

  private func place(
    _ width: Int, _ height: Int, _ rotation: VideoRotation, _ scaling: ViewScaling
  ) -> FramePlacement {
    FramePlacement(width: width, height: height, rotation: rotation, in: cell, scaling: scaling)
  }

  @Test func fillDistorts() {
    let placement = place(64, 32, .none, .fill)
    #expect(placement.destination == cell)
    #expect(placement.source == PixelRectangle(x: 0, y: 0, width: 64, height: 32))
  }

  @Test func aspectFitLeavesRoom() {
    #expect(
      place(64, 32, .none, .aspectFit).destination
        == PixelRectangle(x: 10, y: 45, width: 100, height: 50))
    #expect(
      place(64, 32, .clockwise90, .aspectFit).destination
        == PixelRectangle(x: 35, y: 20, width: 50, height: 100))
  }

  @Test func aspectFillCutsBothSides() {
    let upright = place(64, 32, .none, .aspectFill)
    #expect(upright.destination == cell)
    #expect(upright.source == PixelRectangle(x: 16, y: 0, width: 32, height: 32))
    let wide = FramePlacement(
      width: 64, height: 32, rotation: .clockwise270,
      in: PixelRectangle(x: 0, y: 0, width: 40, height: 10), scaling: .aspectFill)
    // Seen on its side it is 32 wide and 64 high, of which 8 rows remain: columns, as it lies in memory.
    #expect(wide.source == PixelRectangle(x: 28, y: 0, width: 8, height: 32))
  }

  @Test func theSmallestPicturesAndCellsHaveAPlace() {
    for scaling in ViewScaling.allCases {
      for rotation in [VideoRotation.none, .clockwise90] {
        let placement = FramePlacement(
          width: 1, height: 4_000, rotation: rotation,
          in: PixelRectangle(x: 0, y: 0, width: 3, height: 1), scaling: scaling)
        #expect(placement.source.width >= 1 && placement.source.height >= 1)
        #expect(placement.destination.width >= 1 && placement.destination.height >= 1)
      }
    }
  }
}
