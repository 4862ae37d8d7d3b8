// This machine's cameras, microphones and loudspeakers, and the stream of the chosen ones.

const KINDS = { videoinput: "camera", audioinput: "microphone", audiooutput: "speaker" };
const NAMES = { camera: "Camera", microphone: "Microphone", speaker: "Speaker" };

export class Devices {
  /** What is sent, or null. */
  stream = null;
  mute = { audio: false, video: false };
  #selects;
  #changed;

  /** `selects` by name (camera, microphone, speaker); `changed` is told the name of what another was chosen for. */
  constructor(selects, changed) {
    this.#selects = selects;
    this.#changed = changed;
    if (!("setSinkId" in HTMLMediaElement.prototype)) selects.speaker.closest("label").hidden = true;
    for (const [name, select] of Object.entries(selects)) {
      select.onchange = () => {
        localStorage.setItem(name, select.value);
        this.#changed(name);
      };
    }
    navigator.mediaDevices?.addEventListener("devicechange", () => this.list());
    this.list();
  }

  /** Fills the lists. Before the user has granted anything, browsers keep names to themselves. */
  async list() {
    const found = (await navigator.mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
    for (const [name, select] of Object.entries(this.#selects)) {
      const chosen = select.value || localStorage.getItem(name);
      const devices = found.filter((one) => KINDS[one.kind] === name && one.deviceId && one.deviceId !== "default");
      const options = devices.map((one, index) => new Option(one.label || `${NAMES[name]} ${index + 1}`, one.deviceId));
      select.replaceChildren(new Option("Default", ""), ...options);
      if (devices.some((one) => one.deviceId === chosen)) select.value = chosen;
    }
  }

  get speaker() { return this.#selects.speaker.value; }

  #constraints(kind, size) {
    // Of an id that is only wished for Chromium makes nothing.
    const id = this.#selects[kind === "video" ? "camera" : "microphone"].value;
    return { ...(kind === "video" ? size : {}), ...(id && { deviceId: { exact: id } }) };
  }

  /** Opens the chosen devices. */
  async open(wantsVideo, wantsAudio, size) {
    this.stream = await navigator.mediaDevices.getUserMedia({
      video: wantsVideo && this.#constraints("video", size), audio: wantsAudio && this.#constraints("audio"),
    });
    this.#applyMute();
    this.list();
    return this.stream;
  }

  /** Opens another camera or microphone in the place of the one that is open; its track, or null where none was. */
  async swap(kind, size) {
    const before = this.stream?.getTracks().find((track) => track.kind === kind);
    if (!before) return null;
    // Of some cameras a browser opens one at a time.
    before.stop();
    const [track] = (await navigator.mediaDevices.getUserMedia({ [kind]: this.#constraints(kind, size) })).getTracks();
    this.stream.removeTrack(before);
    this.stream.addTrack(track);
    this.#applyMute();
    return track;
  }

  /** Sends silence or black in the place of what the device gives, or no more. */
  setMute(kind, isMuted) {
    this.mute = { ...this.mute, [kind]: isMuted };
    this.#applyMute();
  }

  #applyMute() {
    for (const track of this.stream?.getTracks() ?? []) track.enabled = !this.mute[track.kind];
  }

  close() {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.stream = null;
  }
}
