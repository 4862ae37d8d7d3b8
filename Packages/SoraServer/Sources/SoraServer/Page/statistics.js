// What getStats tells, as a sample a stream and second.

/** Turns reports into samples: rates are what was counted since the sample before. */
export class Statistics {
  #before = new Map();

  /**
   * One sample of the connection, and one for each of `streams` (by id): bit rate in kbit/s, frames per second, size, loss in percent,
   * jitter in ms, and with simulcast each layer. What isn't known is null.
   */
  sample(report, streams) {
    const reports = [...report.values()];
    const rates = new Map();
    for (const entry of reports) {
      if (entry.type !== "inbound-rtp" && entry.type !== "outbound-rtp") continue;
      rates.set(entry.id, this.#since(entry, report));
    }
    this.#before = new Map(reports.map((entry) => [entry.id, entry]));
    const samples = new Map();
    for (const [id, stream] of streams) {
      const tracks = new Set(stream.getTracks().map((track) => track.id));
      const mine = [...rates.values()].filter((one) => tracks.has(one.track));
      if (mine.length) samples.set(id, merge(mine));
    }
    return { total: total(report, reports, [...rates.values()]), streams: samples };
  }

  #since(entry, report) {
    const isSent = entry.type === "outbound-rtp";
    const before = this.#before.get(entry.id);
    const far = isSent ? [...report.values()].find((one) => one.type === "remote-inbound-rtp" && one.localId === entry.id) : null;
    const bytes = (one) => one.bytesReceived ?? one.bytesSent ?? 0;
    const span = before ? entry.timestamp - before.timestamp : 0;
    const codec = report.get(entry.codecId)?.mimeType?.split("/")[1];
    return {
      isSent, kind: entry.kind, rid: entry.rid ?? null, codec: codec ?? null,
      track: entry.trackIdentifier ?? report.get(entry.mediaSourceId)?.trackIdentifier,
      kbps: span > 0 && bytes(entry) >= bytes(before) ? (bytes(entry) - bytes(before)) * 8 / span : null,
      fps: entry.kind === "video" ? entry.framesPerSecond ?? null : null,
      width: entry.frameWidth ?? 0, height: entry.frameHeight ?? 0,
      loss: isSent ? (far?.fractionLost ?? null) && far.fractionLost * 100 : lossSince(before, entry),
      jitter: toMilliseconds(isSent ? far?.jitter : entry.jitter),
      level: entry.audioLevel ?? report.get(entry.mediaSourceId)?.audioLevel ?? null,
      isActive: entry.active !== false, by: entry.encoderImplementation ?? entry.decoderImplementation ?? null,
      freezes: entry.freezeCount ?? null, limited: entry.qualityLimitationReason ?? null,
    };
  }
}

function lossSince(before, entry) {
  if (!before) return null;
  const lost = Math.max(0, entry.packetsLost - before.packetsLost);
  const came = entry.packetsReceived - before.packetsReceived;
  return lost + came > 0 ? (lost * 100) / (lost + came) : null;
}

function toMilliseconds(seconds) { return seconds === undefined ? null : seconds * 1000; }

function sum(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((all, value) => all + value, 0) : null;
}

function worst(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? Math.max(...known) : null;
}

function merge(parts) {
  const video = parts.filter((one) => one.kind === "video");
  const audio = parts.find((one) => one.kind === "audio");
  // Of simulcast layers the largest stands for the stream.
  const shown = video.reduce((best, one) => (one.width > (best?.width ?? 0) ? one : best), null) ?? video[0];
  return {
    kbps: sum(parts.map((one) => one.kbps)), videoKbps: sum(video.map((one) => one.kbps)), fps: shown?.fps ?? null,
    width: shown?.width ?? 0, height: shown?.height ?? 0, codec: shown?.codec ?? null, by: shown?.by ?? null,
    audioCodec: audio?.codec ?? null, level: audio?.level ?? null, freezes: shown?.freezes ?? null, limited: shown?.limited ?? null,
    loss: worst(parts.map((one) => one.loss)), jitter: worst((video.length ? video : parts).map((one) => one.jitter)),
    layers: video.filter((one) => one.rid).sort((a, b) => (a.rid < b.rid ? -1 : 1)),
  };
}

function total(report, reports, rates) {
  const transport = reports.find((one) => one.type === "transport" && one.selectedCandidatePairId);
  const pair = report.get(transport?.selectedCandidatePairId)
    ?? reports.find((one) => one.type === "candidate-pair" && one.nominated && one.state === "succeeded");
  const way = (isSent) => sum(rates.filter((one) => one.isSent === isSent).map((one) => one.kbps));
  return {
    sent: way(true), received: way(false), rtt: toMilliseconds(pair?.currentRoundTripTime),
    available: pair?.availableOutgoingBitrate === undefined ? null : pair.availableOutgoingBitrate / 1000,
  };
}
