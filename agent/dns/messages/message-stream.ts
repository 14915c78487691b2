/** DNS messages in a TCP stream: each follows its length in two bytes (RFC 1035, 4.2.2). */

const LENGTH_BYTES = 2;

export class MessageStream {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the messages that are complete with these bytes. */
  push(bytes: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const messages: Buffer[] = [];
    while (this.#rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + this.#rest.readUInt16BE(0);
      if (this.#rest.length < end) break;
      messages.push(this.#rest.subarray(LENGTH_BYTES, end));
      this.#rest = this.#rest.subarray(end);
    }
    return messages;
  }

  static frame(message: Buffer): Buffer {
    const framed = Buffer.alloc(LENGTH_BYTES + message.length);
    framed.writeUInt16BE(message.length, 0);
    message.copy(framed, LENGTH_BYTES);
    return framed;
  }
}
