/** Programs of others that act as a client, and the checks that they report. */
import { execFile, execFileSync } from 'node:child_process';
import { after, before, describe, type TestContext, test } from 'node:test';
import { ConformanceFleet } from '../../conformance/scenarios/conformance-fleet.js';
import { leaveOut } from '../basics/skip-reason.js';

const RUN_TIMEOUT_MS = 180_000;
/** What containers of an image log. */
const CLIENT_LOGS = { 'prints:1': ['first line', 'second line'] };

/** One check of a client, and the error if it failed. */
export interface ClientCheck {
  title: string;
  error?: string | undefined;
}

/** Returns the first capture of `pattern` in the output of a command, or the reason why there is none. */
export function programVersion(
  command: string,
  args: readonly string[],
  pattern: RegExp,
): { version: string } | { why: string } {
  try {
    const text = execFileSync(command, [...args], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
    const version = pattern.exec(text)?.[1];
    return version === undefined ? { why: `${command} prints no version` } : { version };
  } catch {
    return { why: `${command} is not installed` };
  }
}

/** Runs the program to its end, whatever its exit code, and returns both outputs. */
export function runProgram(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  input?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const options = {
    env: { ...process.env, ...environment },
    timeout: RUN_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  };
  return new Promise((done) => {
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
      done({ code, stdout, stderr });
    });
    // The program may exit before it has read its input.
    child.stdin?.on('error', () => child.stdin?.destroy());
    child.stdin?.end(input);
  });
}

/** Returns the checks that a program reported, one JSON line each. Throws with its errors if it reported none. */
export function reportedChecks({ stdout, stderr }: { stdout: string; stderr: string }): ClientCheck[] {
  const checks = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ClientCheck);
  if (checks.length === 0) throw new Error(stderr);
  return checks;
}

/** A command that must succeed, the pattern that its output must match, and the standard input. */
export type ClientCommand = readonly [command: string, expected: RegExp, input?: string];

/** Runs the commands of a client in their order, each one as a check. */
export async function commandChecks(
  commands: readonly ClientCommand[],
  run: (words: string[], input?: string) => Promise<{ code: number; stdout: string; stderr: string }>,
): Promise<ClientCheck[]> {
  const checks: ClientCheck[] = [];
  for (const [command, expected, input] of commands) {
    const { code, stdout, stderr } = await run(command.split(' '), input);
    const isExpected = code === 0 && expected.test(stdout);
    checks.push({ title: command, error: isExpected ? undefined : `exit ${code}: ${stdout}${stderr}` });
  }
  return checks;
}

/**
 * Defines a group with one test for each check that the client reports. `npm run compatibility` reads the client and its
 * version from the last word of the group's name.
 */
export function describeClient(
  what: string,
  client: string,
  found: { version: string } | { why: string },
  run: (fleet: ConformanceFleet) => Promise<readonly ClientCheck[]>,
): void {
  const version = 'version' in found ? found.version : 'none';
  describe(`${what} by ${client}-${version}`, () => {
    if ('why' in found) {
      test('the client is missing', (context: TestContext) => leaveOut(context, client, found.why));
      return;
    }
    let fleet: ConformanceFleet;
    before(async () => {
      const nodes = [{ name: 'n1' }, { name: 'n2' }];
      fleet = await ConformanceFleet.start({ nodes, unreadyImages: [], logs: CLIENT_LOGS });
    });
    after(() => fleet.stop());
    test('the client', async (context) => {
      const checks = await run(fleet);
      if (checks.length === 0) throw new Error('the client reported no check');
      for (const { title, error } of checks)
        await context.test(title, () => {
          if (error !== undefined) throw new Error(error);
        });
    });
  });
}
