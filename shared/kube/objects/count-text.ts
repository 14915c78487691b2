/** `1 node`, `3 nodes`, `0 nodes`: how many there are, for people. `many` where that is not the word with an s. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
