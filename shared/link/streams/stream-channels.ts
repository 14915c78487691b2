/** Channels within a stream. Frames start with a channel number, like those of `v5.channel.k8s.io`. */
import type { Status } from '../../kube/objects/api-status.js';
import { STREAM_CHUNK_BYTES } from '../messages/link-messages.js';

export const CHANNEL = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  /** A Status in JSON, once at the end. */
  status: 3,
  /** `{"Width": …, "Height": …}` in JSON, sent by the client. */
  resize: 4,
  /** The second byte is the number of a channel that ends. */
  close: 255,
} as const;

/** Without the channel number. */
const MAX_FRAME_PAYLOAD = STREAM_CHUNK_BYTES - 1;

/** Splits bytes into frames of the channel. */
export function* framesOf(channel: number, bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += MAX_FRAME_PAYLOAD) {
    const part = bytes.subarray(at, at + MAX_FRAME_PAYLOAD);
    const frame = new Uint8Array(part.length + 1);
    frame[0] = channel;
    frame.set(part, 1);
    yield frame;
  }
}

/** Returns the last frame of a command. A long message is truncated so that the Status fits into one frame. */
export function statusFrame(status: Status): Uint8Array {
  const bytes = Buffer.from(JSON.stringify(status));
  if (bytes.length <= MAX_FRAME_PAYLOAD) return Buffer.concat([Buffer.of(CHANNEL.status), bytes]);
  return statusFrame({ ...status, message: (status.message ?? '').slice(0, MAX_FRAME_PAYLOAD / 8) });
}

/** Returns the frame that ends the channel. */
export function closeFrame(channel: number): Uint8Array {
  return Uint8Array.of(CHANNEL.close, channel);
}
