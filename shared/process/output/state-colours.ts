/** Colours of states on a terminal. */

/** Parameters of the escape sequence "Select Graphic Rendition". */
const GREEN = 32;
const YELLOW = 33;
const RED = 31;

const COLOURS: Readonly<Record<string, number>> = {
  ...coloured(GREEN, ['ok', 'Succeeded', 'Complete', 'Ready', 'Updated', 'Running']),
  ...coloured(YELLOW, ['warning', 'Missed', 'Retrying', 'Updating', 'RollingBack', 'DeferredOffline']),
  ...coloured(YELLOW, ['NotReady', 'WaitingForApproval', 'Reverted', 'Unschedulable']),
  ...coloured(RED, ['error', 'Failed', 'Failing', 'FailedCreate', 'BackOff', 'RolloutFailed', 'RolledBack']),
};

function coloured(colour: number, words: readonly string[]): Record<string, number> {
  return Object.fromEntries(words.map((word) => [word, colour]));
}

/** A cell of a table: `tableLines` puts two spaces between cells. */
const CELL = /(?<=^|\s{2})\S+(?=\s{2}|$)/g;

/** Returns the line of a table with the cells that name a state in colour. The line must have no control characters. */
export function colourStates(line: string): string {
  return line.replace(CELL, (word) => {
    const colour = Object.hasOwn(COLOURS, word) ? COLOURS[word] : undefined;
    return colour === undefined ? word : `\u001b[${colour}m${word}\u001b[0m`;
  });
}
