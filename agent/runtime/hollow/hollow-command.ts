/** Commands that steer a hollow engine. */

/** `exit` ends a running container. The effects of the other commands last until the opposite command. */
export type HollowEngineCommand =
  | { command: 'ready' | 'unready' | 'fail' | 'succeed'; podUid: string }
  | { command: 'exit'; podUid: string; code: number; container?: string }
  | { command: 'engine-down'; message: string }
  | { command: 'engine-up' };

/** Parses one command as JSON. Throws an Error that names what is wrong with the line. */
export function parseHollowEngineCommand(line: string): HollowEngineCommand {
  const { command, podUid, code, container, message } = JSON.parse(line) as Record<string, unknown>;
  if (command === 'engine-up') return { command };
  if (command === 'engine-down')
    return { command, message: typeof message === 'string' ? message : 'engine is down' };
  if (typeof podUid !== 'string') throw new Error('podUid: must be a string');
  switch (command) {
    case 'ready':
    case 'unready':
    case 'fail':
    case 'succeed':
      return { command, podUid };
    case 'exit':
      if (typeof code !== 'number') throw new Error('code: must be a number');
      return { command, podUid, code, ...(typeof container === 'string' ? { container } : {}) };
    default:
      throw new Error(`command: unknown ${JSON.stringify(command)}`);
  }
}
