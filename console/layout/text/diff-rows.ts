/** Rows of a side-by-side comparison. */

/** One row. A side is absent if the other one has more lines. */
interface PairedLine {
  before?: string;
  after?: string;
  isSame: boolean;
}

/** Converts lines of a patch (` same`, `-before`, `+after`) to rows. Pairs removed with added lines. Pure. */
export function diffRows(lines: readonly string[]): PairedLine[] {
  const rows: PairedLine[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const settle = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      const [before, after] = [removed[at], added[at]];
      rows.push({
        ...(before === undefined ? {} : { before }),
        ...(after === undefined ? {} : { after }),
        isSame: false,
      });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith('-')) removed.push(text);
    else if (line.startsWith('+')) added.push(text);
    else if (line.startsWith(' ')) {
      settle();
      rows.push({ before: text, after: text, isSame: true });
    }
  }
  settle();
  return rows;
}
