/** The life of a manifest: applied twice by the client and twice by the server, without differences, and deleted. */
import type { Kubectl } from './kubectl.js';

/** `what` is the step that failed. */
export interface ManifestProblem {
  what: string;
  error: string;
}

/** Generations of all objects, so that a write which changes nothing visible is noticed. */
const IDENTITIES =
  'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\\n"}{end}';

/** Runs all steps and returns the first problem, or undefined. */
export async function runManifestLife(kubectl: Kubectl, file: string): Promise<ManifestProblem | undefined> {
  for (const mode of [[], ['--server-side']]) {
    const problem = await runOnce(kubectl, file, mode);
    if (problem) return { ...problem, what: [problem.what, ...mode].join(' ') };
  }
  return undefined;
}

async function runOnce(
  kubectl: Kubectl,
  file: string,
  mode: readonly string[],
): Promise<ManifestProblem | undefined> {
  const steps: (readonly string[])[] = [
    ['apply', ...mode, '-f', file],
    ['get', '-f', file, '-o', IDENTITIES],
    ['apply', ...mode, '-f', file],
    ['get', '-f', file, '-o', IDENTITIES],
    ['diff', ...mode, '-f', file],
    // A manifest may begin with its namespace, which ends with the objects in it.
    ['delete', '--ignore-not-found', '--timeout=60s', '-f', file],
  ];
  const identities: string[] = [];
  for (const [verb = '', ...rest] of steps) {
    const { code, stdout, stderr } = await kubectl.run([verb, ...rest]);
    if (code !== 0) return { what: verb, error: `${stderr}${stdout}` };
    if (verb === 'get') identities.push(stdout);
  }
  const [first, second] = identities;
  if (first !== second) return { what: 'second apply', error: `${first}\n${second}` };
  const left = await kubectl.run(['get', '-f', file, '--ignore-not-found', '-o', 'name']);
  // The kinds of the manifest may be deleted with it.
  return left.stdout.trim() === '' ? undefined : { what: 'delete', error: left.stdout };
}
