/** Points of a small chart. Pure. */

/** Width and height of the chart's coordinates. */
export const SPARK_WIDTH = 100;
export const SPARK_HEIGHT = 24;

/**
 * Returns the lines as SVG points, one for each stretch without a gap. A single value is a line without length, which
 * round line ends show as a dot. `top` is the value at the upper edge.
 */
export function sparklinePoints(values: readonly (number | null)[], top: number): string[] {
  const step = SPARK_WIDTH / Math.max(values.length - 1, 1);
  const lines: string[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) lines.push([]);
    else {
      const share = top > 0 ? Math.min(Math.max(value / top, 0), 1) : 0;
      lines.at(-1)?.push(`${round(index * step)},${round(SPARK_HEIGHT - share * SPARK_HEIGHT)}`);
    }
  }
  return lines
    .filter((line) => line.length > 0)
    .map((line) => (line.length === 1 ? [...line, ...line] : line).join(' '));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
