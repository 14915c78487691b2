/** Credential plugins of kubeconfigs: `users[].user.exec` (client-go `plugin/pkg/client/auth/exec`). */
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { type Entry, unusable } from './kubeconfig-file.js';

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

interface PluginSpec {
  apiVersion: string;
  command: string;
  args: readonly string[];
  env: readonly { name: string; value: string }[];
  installHint?: string;
  interactiveMode?: string;
  provideClusterInfo?: boolean;
}

/** Certificate and key in PEM, or a bearer token. */
interface PluginCredential {
  certificate?: string | undefined;
  key?: string | undefined;
  token?: string | undefined;
}

/**
 * Runs the plugin of a user and returns its credential. A plugin with `provideClusterInfo` gets `cluster`. Throws
 * `ExitError`.
 */
export function credentialFromPlugin(user: Entry, cluster: object): PluginCredential {
  const spec = specOf(user);
  const { apiVersion, command, args, env, installHint, interactiveMode, provideClusterInfo } = spec;
  const isTerminal = process.stdin.isTTY === true;
  if (interactiveMode === 'Always' && !isTerminal) {
    throw unusable(`The ${user.title}: its plugin ${command} needs a terminal.`);
  }
  const interactive = interactiveMode !== 'Never' && isTerminal;
  const wanted = { interactive, ...(provideClusterInfo ? { cluster } : {}) };
  const about = { apiVersion, kind: 'ExecCredential', spec: wanted };
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  // A path is relative to the kubeconfig. A bare name is searched in $PATH.
  const program = command.includes('/') ? resolve(dirname(user.file), command) : command;
  const done = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, ...variables, KUBERNETES_EXEC_INFO: JSON.stringify(about) },
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
  });
  if (done.error) {
    const hint = installHint ? ` ${installHint}` : '';
    throw unusable(`The ${user.title}: its plugin ${command} cannot be run: ${done.error.message}.${hint}`);
  }
  if (done.status !== 0) {
    throw unusable(`The ${user.title}: its plugin ${command} failed with ${done.status ?? done.signal}.`);
  }
  return readCredential(done.stdout, spec, user);
}

function specOf(user: Entry): PluginSpec {
  const { apiVersion, command, args, env, ...rest } = user.fields.exec as Partial<PluginSpec>;
  if (!command || !isText(command)) throw unusable(`The ${user.title}: exec has no command.`);
  if (!apiVersion || !API_VERSIONS.includes(apiVersion)) {
    throw unusable(`The ${user.title}: exec.apiVersion must be one of ${API_VERSIONS.join(', ')}.`);
  }
  if (!isListOf(args ?? [], isText))
    throw unusable(`The ${user.title}: exec.args must be a list of strings.`);
  if (!isListOf(env ?? [], isVariable)) {
    throw unusable(`The ${user.title}: exec.env must be a list of the form {name: NAME, value: TEXT}.`);
  }
  return { ...rest, apiVersion, command, args: args ?? [], env: env ?? [] };
}

function isListOf(list: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isItem);
}

/** Arguments and variables of a process cannot contain NUL. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0');
}

function isVariable(item: unknown): boolean {
  if (typeof item !== 'object' || item === null) return false;
  return isText(Reflect.get(item, 'name')) && isText(Reflect.get(item, 'value'));
}

function readCredential(text: string, { apiVersion, command }: PluginSpec, user: Entry): PluginCredential {
  const refuse = (why: string) => unusable(`The ${user.title}: its plugin ${command} ${why}.`);
  let answer: Record<string, unknown>;
  try {
    answer = JSON.parse(text);
  } catch {
    throw refuse('printed something that is not JSON');
  }
  const status = answer?.status as Record<string, unknown> | undefined;
  if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== apiVersion || !status) {
    throw refuse(`did not print an ExecCredential of ${apiVersion}`);
  }
  const field = (name: string) => (typeof status[name] === 'string' ? (status[name] as string) : undefined);
  const credential = {
    certificate: field('clientCertificateData'),
    key: field('clientKeyData'),
    token: field('token'),
  };
  if (!credential.token && !credential.certificate)
    throw refuse('returned neither a token nor a certificate');
  return credential;
}
