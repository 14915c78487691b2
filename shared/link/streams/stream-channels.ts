/**
 * What travels in a stream with several channels: frames that begin with the number of their channel, as WebSocket
 * clients of Kubernetes send and expect them (`v5.channel.k8s.io`), so that they pass through unchanged.
 */
import type { Status } from '../../kube/objects/api-status.js';
import { STREAM_CHUNK_BYTES } from '../messages/link-messages.js';

export const CHANNEL = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  /** One Status in JSON, at the end. */
  status: 3,
  /** `{"Width": …, "Height": …}` in JSON, from the client. */
  resize: 4,
  /** The other byte names a channel that gets no more. */
  close: 255,
} as const;

/** Of a frame without its first byte. */
const MAX_FRAME_PAYLOAD = STREAM_CHUNK_BYTES - 1;

/** The bytes on a channel, in as many frames as it takes. */
export function* framesOf(channel: number, bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += MAX_FRAME_PAYLOAD) {
    const part = bytes.subarray(at, at + MAX_FRAME_PAYLOAD);
    const frame = new Uint8Array(part.length + 1);
    frame[0] = channel;
    frame.set(part, 1);
    yield frame;
  }
}

/** The frame that ends a command's streams. A command that could say very much says it cut short. */
export function statusFrame(status: Status): Uint8Array {
  const bytes = Buffer.from(JSON.stringify(status));
  if (bytes.length <= MAX_FRAME_PAYLOAD) return Buffer.concat([Buffer.of(CHANNEL.status), bytes]);
  return statusFrame({ ...status, message: (status.message ?? '').slice(0, MAX_FRAME_PAYLOAD / 8) });
}

/** No more comes on this channel. */
export function closeFrame(channel: number): Uint8Array {
  return Uint8Array.of(CHANNEL.close, channel);
}
