import SoraSignaling

/// The page that `sora serve` shows, embedded so that the server is one file.
enum ServerPage {
  static func respond(to request: HTTPRequest) -> HTTPResponse {
    let body: [UInt8]
    let type: String
    switch request.path {
    case "/", "/index.html":
      body = PackageResources.index_html
      type = "text/html; charset=utf-8"
    case "/sora.js":
      body = PackageResources.sora_js
      type = "text/javascript; charset=utf-8"
    // Browsers ask for it unbidden.
    case "/favicon.ico": return HTTPResponse(status: 204)
    default: return .notFound
    }
    guard request.method == "GET" || request.method == "HEAD" else {
      var response = HTTPResponse(status: 405, text: "only GET\n")
      response.headers["Allow"] = "GET, HEAD"
      return response
    }
    return HTTPResponse(
      headers: [
        "Content-Type": type, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
      ], body: body)
  }
}
