import { short } from "./words.js";

/** Who is in the channel, as notifications and pushes tell. */
export class People {
  #members = new Map();

  get all() { return [...this.#members.values()]; }
  get(id) { return this.#members.get(id); }
  clear() { this.#members.clear(); }

  #put(id, values) {
    this.#members.set(id, { id, role: null, metadata: null, isFocused: false, ...this.#members.get(id), ...values });
  }

  notify(event) {
    const id = event.connection_id;
    switch (event.event_type) {
      case "connection.created":
        for (const other of event.data ?? []) {
          this.#put(other.connection_id, { clientId: other.client_id, metadata: other.metadata ?? null });
        }
        this.#put(id, { clientId: event.client_id, role: event.role, metadata: event.metadata ?? null });
        break;
      case "connection.destroyed": this.#members.delete(id); break;
      case "spotlight.focused":
      case "spotlight.unfocused":
        this.#put(id, { isFocused: event.event_type === "spotlight.focused" });
        break;
    }
  }

  /** Others' metadata may change while they are here. */
  push(data) {
    if (data?.type !== "signaling_notify_metadata_ext" || !this.#members.has(data.connection_id)) return;
    if (data.action === "PutMetadata") this.#put(data.connection_id, { metadata: data.metadata });
    if (data.action === "PutMetadataItem") {
      const before = this.get(data.connection_id).metadata ?? {};
      this.#put(data.connection_id, { metadata: { ...before, [data.key]: data.value } });
    }
  }

  /** What a person calls themself, else the client's id, else the beginning of the connection's. */
  name(id) {
    const member = this.get(id);
    if (typeof member?.metadata?.name === "string" && member.metadata.name) return member.metadata.name;
    return member?.clientId && member.clientId !== id ? short(member.clientId) : short(id);
  }

  /** Whether they say that their camera or microphone is off. */
  isMuted(id, kind) { return this.get(id)?.metadata?.mute?.[kind] === true; }

  /** What else they tell of themselves. */
  rest(id) {
    const { name, mute, simulcast, ...rest } = Object(this.get(id)?.metadata);
    return Object.keys(rest).length ? rest : null;
  }
}
