/**
 * Subprotocol for watches and logs over a WebSocket, for the console. Browsers limit HTTP connections to six for each
 * server and all tabs; each watch over HTTP would occupy one of them permanently.
 */

/** Binary messages carry the body of the same GET. A text message carries the Status of an error and is the last. */
export const STREAM_PROTOCOL = 'stream.everynode.dev.v1';
