// What happened, in words, and on a line of its own what to do about it.

export const INSECURE = "Camera and microphone need https or localhost.";
export const INSECURE_WAY = `Open this page at http://localhost${location.port && ":" + location.port} on the server's own machine, or give sora serve a TLS certificate. Watching works here.`;
export const TALKING = "Messages in";
export const DOING = { sendonly: "Publishing to", recvonly: "Watching", sendrecv: "Publishing to and watching" };

// Identifiers are long; their beginning tells them apart, and the whole is in the tooltip.
export function short(id) {
  return id.length > 8 ? `${id.slice(0, 6)}…` : id;
}

export function people(c) {
  const groups = [
    [c.channel_sendonly_connections, "publishing"], [c.channel_recvonly_connections, "watching"],
    [c.channel_sendrecv_connections, "doing both"],
  ];
  if (c.channel_connections === 1) return "Nobody else is here.";
  return `${c.channel_connections} here: ${groups.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`).join(", ")}.`;
}

/** Why camera and microphone can't be had. */
export function mediaProblem(error, wantsVideo, wantsAudio) {
  const what = wantsVideo && wantsAudio ? "camera and microphone" : wantsVideo ? "camera" : "microphone";
  switch (error.name) {
    case "NotAllowedError": return [`The browser doesn't give this page the ${what}.`, "Allow it beside the page's address, then publish again."];
    case "NotFoundError": return [`This machine has no ${what} for the browser.`, "Plug one in, or untick what isn't there."];
    case "NotReadableError": return [`The ${what} can't be opened.`, "Another program may be using it: close that, then publish again."];
    default: return [`The ${what} can't be opened.`, error.message];
  }
}

/** Why a call ended that nobody meant to end. */
export function endProblem({ noPath, lost, late, error, ...closed }) {
  if (noPath) return ["No path for media between this browser and the server.", "Check that UDP passes between them, or start sora serve with --turn."];
  if (lost) return closeProblem({ code: 1011 });
  if (late) return ["The server doesn't answer.", `Check that sora serve still runs at ${location.host}.`];
  if (error) return ["This browser and the server don't understand each other.", String(error)];
  return closeProblem(closed);
}

/** Why the WebSocket ended (RFC 6455 §7.4.1, and Sora's own codes). */
function closeProblem({ code, reason: given, wasOpen }) {
  const reason = given ? `It says: ${given}` : "Its log may say why.";
  const again = "Connect again once it is back.";
  switch (code) {
    case 1000: return ["The server ended the connection.", reason];
    case 1001: return ["The server was stopped.", again];
    case 1006: return wasOpen
      ? ["The server is gone.", `It was stopped, or the network broke. ${again}`]
      : ["The server can't be reached.", `Check that sora serve still runs at ${location.host}.`];
    case 1011: return ["The media connection was lost.", "Check the network, then connect again."];
    case 1013: return ["The server is full.", "Wait until somebody leaves."];
    case 4490: return refusal(given) ?? ["The server refused to connect.", reason];
    default: return [`The server ended the connection (${code}).`, reason];
  }
}

function refusal(reason) {
  const word = /^[A-Z-]+/.exec(reason ?? "")?.[0];
  switch (word) {
    case "ACCESS-TOKEN-MISSING": return ["The server asks for an access token.", "Type one under More settings."];
    case "ACCESS-TOKEN-EXPIRED": return ["The access token has expired.", "Ask for a new one."];
    case "ACCESS-TOKEN-CHANNEL": return ["The access token is for another channel.", "Change the channel, or ask for another token."];
    case "ACCESS-TOKEN-INVALID": return ["The server doesn't accept the access token.", "Check it under More settings."];
    default: return null;
  }
}

const EVENTS = {
  "connection.created": (e) => `joined (${e.role})`,
  "connection.updated": (e) => `is here since ${e.minutes} min`,
  "connection.destroyed": (e) => `left (${e.role})`,
  "spotlight.focused": (e) => `is in the spotlight${e.fixed ? ", fixed" : ""}`,
  "spotlight.unfocused": () => "left the spotlight",
  "simulcast.switched": (e) => `comes as ${e.current_rid}, was ${e.previous_rid}`,
};

/** A notification in words, without whom it is about. */
export function eventWords(event) {
  return EVENTS[event.event_type]?.(event) ?? event.event_type;
}

export function count(value, digits = 0) {
  return value.toLocaleString("en", { maximumFractionDigits: digits, useGrouping: false });
}

export function rate(kbps) {
  return kbps >= 10000 ? `${count(kbps / 1000, 1)} Mbit/s` : `${count(kbps)} kbit/s`;
}
