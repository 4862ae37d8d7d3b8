/// The version of this project: of the SDK, the engine, the server and the command, which are released together.
///
/// It stands here and nowhere else (`Tools/guard-version.py`). A revision doesn't: what SwiftPM tells a build of the
/// repository (`Context.gitInformation`) is read with the manifest and kept over later commits, and a wrong revision is worse than
/// none.
public enum SoraVersion {
  /// Semantic (semver.org).
  public static let current = "0.1.0"
}
