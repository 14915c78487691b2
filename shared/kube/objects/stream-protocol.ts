/**
 * Watches and logs over a WebSocket, for the console. A browser keeps six connections to one server for all its tabs together, and an
 * answer by HTTP that goes on would take one of them for good.
 */

/** Binary messages are the bytes that the same GET would answer; one of text is the Status of a refusal, and the last. */
export const STREAM_PROTOCOL = 'stream.everynode.dev.v1';
