public enum RFC8869 {
  public static var all: [Scenario] { [] }
}
