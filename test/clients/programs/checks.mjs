/** Checks of a client in JavaScript: one JSON line for each, with its title, and the error if it failed. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const DEADLINE_MS = 30_000;
const POLL_MS = 100;

/** Imports a package of the folder that the environment names, which is no folder of this project. */
export function loadClient(name) {
  const { resolve } = createRequire(`${process.env.CLIENT_MODULES}/`);
  return import(pathToFileURL(resolve(name)).href);
}

/** Runs the body and prints its result. The following checks run whatever the result is. */
export async function check(title, body) {
  let error;
  try {
    await body();
  } catch (cause) {
    error = cause instanceof Error ? cause.stack : JSON.stringify(cause);
  }
  process.stdout.write(`${JSON.stringify({ title, error })}\n`);
}

/** Repeats `attempt` until it returns a value that counts as true, and returns the value. */
export async function waitFor(attempt, what) {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await attempt();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}
