/** Streams of JSON objects, one a line, as engines send progress and events. */

/** Yields each object; a last line without its end is left out, since it is cut off. Throws SyntaxError. */
export async function* jsonLines<T>(source: AsyncIterable<Uint8Array>): AsyncGenerator<T, void> {
  let left = '';
  const decoder = new TextDecoder();
  for await (const chunk of source) {
    const lines = (left + decoder.decode(chunk, { stream: true })).split('\n');
    left = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() !== '') yield JSON.parse(line) as T;
    }
  }
}
