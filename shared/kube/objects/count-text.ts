/** Formats a count with its noun: `1 node`, `3 nodes`. `many` is only needed for an irregular plural. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
