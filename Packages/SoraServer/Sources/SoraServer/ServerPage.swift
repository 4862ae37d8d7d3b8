import SoraSignaling

/// The page that `sora serve` shows, embedded so that the server is one file.
enum ServerPage {
  private struct File: Sendable {
    var type: String
    var body: [UInt8]

    static func script(_ body: [UInt8]) -> File {
      File(type: "text/javascript; charset=utf-8", body: body)
    }
  }

  private static let index = File(
    type: "text/html; charset=utf-8", body: PackageResources.index_html)

  private static let files: [String: File] = [
    "/": index,
    "/index.html": index,
    "/page.css": File(type: "text/css; charset=utf-8", body: PackageResources.page_css),
    "/channels.js": .script(PackageResources.channels_js),
    "/client.js": .script(PackageResources.client_js),
    "/comeback.js": .script(PackageResources.comeback_js),
    "/devices.js": .script(PackageResources.devices_js),
    "/lists.js": .script(PackageResources.lists_js),
    "/people.js": .script(PackageResources.people_js),
    "/plots.js": .script(PackageResources.plots_js),
    "/settings.js": .script(PackageResources.settings_js),
    "/sora.js": .script(PackageResources.sora_js),
    "/statistics.js": .script(PackageResources.statistics_js),
    "/tiles.js": .script(PackageResources.tiles_js),
    "/words.js": .script(PackageResources.words_js),
  ]

  /// Nothing from elsewhere is loaded. Signaling may go anywhere: a page that is reached through a proxy names another host than the
  /// server knows. The page itself evaluates no text; what drives a browser (WebDriver) does.
  private static let policy =
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self'; img-src 'self' data:; media-src 'self' blob:; "
    + "connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

  static func respond(to request: HTTPRequest) -> HTTPResponse {
    // Browsers ask for it unbidden.
    if request.path == "/favicon.ico" { return HTTPResponse(status: 204) }
    guard let file = files[request.path] else { return .notFound }
    guard request.method == "GET" || request.method == "HEAD" else {
      var response = HTTPResponse(status: 405, text: "only GET\n")
      response.headers["Allow"] = "GET, HEAD"
      return response
    }
    return HTTPResponse(
      headers: [
        "Content-Type": file.type, "Cache-Control": "no-cache",
        "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
      ], body: file.body)
  }
}
