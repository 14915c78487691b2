/**
 * The actions of a step, by name. An action ends when its command has ended; the expectations are checked afterwards.
 */
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import { requireKeys } from '../tables/conformance-table.js';
import type { ActionContext, ActionOutcome } from './action-context.js';
import {
  DAEMON_SET_KEYS,
  type DaemonSetShorthand,
  NODE_KEYS,
  type ScenarioNode,
} from './conformance-scenario.js';
import { daemonSetObject } from './daemonset-shorthand.js';
import { exitContainer, keepExiting, labelPod, makeReady } from './pod-actions.js';
import { copyRevision, occupyNextRevisionName } from './revision-actions.js';

interface Action {
  /** Supported parameters. */
  keys: readonly string[];
  run(context: ActionContext): Promise<ActionOutcome>;
}

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';

function text(context: ActionContext, key: string): string {
  const value = context.parameters[key];
  if (typeof value !== 'string') throw new Error(`${key} is needed`);
  return value;
}

async function kubectl(
  context: ActionContext,
  args: readonly string[],
  input?: string,
): Promise<ActionOutcome> {
  const { code, stdout, stderr } = await context.fleet.kubectl.run(args, input);
  return { exitCode: code, output: `${stdout}${stderr}` };
}

/** An action that is one kubectl command. */
function command(keys: readonly string[], args: (context: ActionContext) => readonly string[]): Action {
  return { keys, run: (context) => kubectl(context, args(context)) };
}

function pairs(labels: unknown): string[] {
  return Object.entries(labels as Record<string, string | null>).map(([key, value]) =>
    value === null ? `${key}-` : `${key}=${value}`,
  );
}

function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`;
}

async function createDaemonSet(context: ActionContext): Promise<ActionOutcome> {
  const shorthand = context.parameters.daemonSet as DaemonSetShorthand;
  requireKeys(shorthand, DAEMON_SET_KEYS, 'daemonSet');
  const manifest = JSON.stringify(daemonSetObject(shorthand));
  return { set: shorthand.name, ...(await kubectl(context, ['create', '-f', '-'], manifest)) };
}

async function deleteDaemonSet(context: ActionContext): Promise<ActionOutcome> {
  const set = (context.parameters.name as string | undefined) ?? context.set;
  const cascade = context.parameters.cascade ? [`--cascade=${text(context, 'cascade')}`] : [];
  const outcome = await kubectl(context, ['delete', 'ds', set, '--wait=false', ...cascade]);
  const { code } = await context.fleet.api.send('GET', `${DAEMON_SETS}/${set}`);
  return { ...outcome, set, getAfterDelete: code };
}

async function listDaemonSets(context: ActionContext): Promise<ActionOutcome> {
  const { labelSelector, allNamespaces } = context.parameters;
  const args = ['get', 'ds', '-o', 'name'];
  if (labelSelector) args.push('-l', String(labelSelector));
  if (allNamespaces) args.push('-A');
  const outcome = await kubectl(context, args);
  return { ...outcome, listed: outcome.output?.split('\n').filter((line) => line.includes('/')).length ?? 0 };
}

async function setConditions(context: ActionContext, method: 'PUT' | 'PATCH'): Promise<ActionOutcome> {
  const { api } = context.fleet;
  const path = `${DAEMON_SETS}/${context.set}`;
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const given = context.parameters.conditions as Record<string, unknown>[];
  const conditions = given.map((condition) => ({ lastTransitionTime: now, ...condition }));
  if (method === 'PATCH') {
    const patch = { status: { conditions } };
    return { answer: await api.send('PATCH', `${path}/status`, patch, 'application/merge-patch+json') };
  }
  const present = await api.request<{ status: object }>('GET', path);
  const next = { ...present, status: { ...present.status, conditions } };
  return { answer: await api.send('PUT', `${path}/status`, next) };
}

async function createNode(context: ActionContext): Promise<ActionOutcome> {
  const node = context.parameters.node as ScenarioNode;
  requireKeys(node, NODE_KEYS, 'node');
  await context.fleet.addNode(node);
  return {};
}

async function createPod(context: ActionContext): Promise<ActionOutcome> {
  const { node, labels, image = 'app:1' } = context.parameters;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'bare-', labels },
    spec: { nodeName: node, containers: [{ name: 'app', image }] },
  };
  return { answer: await context.fleet.api.send('POST', '/api/v1/namespaces/default/pods', pod) };
}

async function deletePods(context: ActionContext): Promise<ActionOutcome> {
  const pods = await context.fleet.podsOn(text(context, 'node'));
  const names = pods.map((pod) => pod.metadata.name);
  return kubectl(context, ['delete', 'pod', '--wait=false', ...names]);
}

async function deleteNode(context: ActionContext): Promise<ActionOutcome> {
  const node = text(context, 'node');
  await context.fleet.killAgent(node);
  return kubectl(context, ['delete', 'node', node]);
}

const rollout = (verb: string, extra: readonly string[] = []) =>
  command(['toRevision'], ({ set, parameters: { toRevision } }) => [
    'rollout',
    verb,
    `ds/${set}`,
    ...extra,
    ...(toRevision === undefined ? [] : [`--to-revision=${toRevision}`]),
  ]);

const setImage = (context: ActionContext) =>
  kubectl(context, ['set', 'image', `ds/${context.set}`, `app=${text(context, 'image')}`]);

/** Every action, by its name in the table. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  createDaemonSet: { keys: ['daemonSet'], run: createDaemonSet },
  createDaemonSetRaw: {
    keys: ['selector'],
    run: async ({ fleet, parameters }) => {
      const object = daemonSetObject({ name: 'ds', image: 'app:1' }, parameters.selector);
      return { set: 'ds', answer: await fleet.api.send('POST', DAEMON_SETS, object) };
    },
  },
  patchDaemonSet: command(['patch'], ({ set, parameters: { patch } }) => [
    'patch',
    'ds',
    set,
    '--type=strategic',
    '-p',
    JSON.stringify(patch),
  ]),
  setImage: { keys: ['image'], run: setImage },
  setImageAndRolloutStatus: {
    keys: ['image'],
    run: async (context) => {
      await setImage(context);
      return kubectl(context, ['rollout', 'status', `ds/${context.set}`, '--timeout=120s']);
    },
  },
  rolloutStatus: rollout('status', ['--timeout=60s']),
  rolloutHistory: rollout('history'),
  rolloutRestart: rollout('restart'),
  rolloutUndo: rollout('undo'),
  deleteDaemonSet: { keys: ['cascade', 'name'], run: deleteDaemonSet },
  listDaemonSets: { keys: ['labelSelector', 'allNamespaces'], run: listDaemonSets },
  deleteCollection: {
    keys: ['labelSelector'],
    run: async (context) => {
      const query = `?labelSelector=${encodeURIComponent(text(context, 'labelSelector'))}`;
      return { answer: await context.fleet.api.send('DELETE', DAEMON_SETS + query) };
    },
  },
  updateStatus: { keys: ['conditions'], run: (context) => setConditions(context, 'PUT') },
  patchStatus: { keys: ['conditions'], run: (context) => setConditions(context, 'PATCH') },
  occupyNextRevisionName: { keys: ['image'], run: occupyNextRevisionName },
  createRevisionCopy: { keys: ['ofRevision', 'newRevision'], run: copyRevision },
  createPod: { keys: ['node', 'labels', 'image'], run: createPod },
  deletePod: { keys: ['node'], run: deletePods },
  labelPod: { keys: ['node', 'labels', 'which'], run: labelPod },
  failPod: {
    keys: ['node', 'everyReplacement', 'forSeconds'],
    run: (context) => keepExiting(context, 'fail'),
  },
  succeedPod: {
    keys: ['node', 'everyReplacement', 'forSeconds'],
    run: (context) => keepExiting(context, 'succeed'),
  },
  killContainer: { keys: ['node'], run: exitContainer },
  makeReady: { keys: ['node'], run: makeReady },
  createNode: { keys: ['node'], run: createNode },
  deleteNode: { keys: ['node'], run: deleteNode },
  stopAgent: {
    keys: ['node'],
    run: async (context) => {
      await context.fleet.killAgent(text(context, 'node'));
      return {};
    },
  },
  startAgent: {
    keys: ['node'],
    run: async (context) => {
      context.fleet.startAgent(text(context, 'node'));
      return {};
    },
  },
  labelNode: command(['node', 'labels'], (context) => [
    'label',
    '--overwrite',
    'node',
    text(context, 'node'),
    ...pairs(context.parameters.labels),
  ]),
  taintNode: command(['node', 'taints'], (context) => [
    'taint',
    '--overwrite',
    'node',
    text(context, 'node'),
    ...(context.parameters.taints as Taint[]).map(taintText),
  ]),
  untaintNode: command(['node', 'key'], (context) => [
    'taint',
    'node',
    text(context, 'node'),
    `${text(context, 'key')}-`,
  ]),
  cordon: command(['node'], (context) => ['cordon', text(context, 'node')]),
  drain: command(['node', 'ignoreDaemonSets'], (context) => [
    'drain',
    text(context, 'node'),
    '--timeout=30s',
    ...(context.parameters.ignoreDaemonSets ? ['--ignore-daemonsets'] : []),
  ]),
  kubectlGet: command(['resource', 'wide'], (context) => [
    'get',
    text(context, 'resource'),
    ...(context.parameters.wide ? ['-o', 'wide'] : []),
  ]),
  wait: {
    keys: ['seconds'],
    run: async ({ parameters }) => {
      await new Promise((resolve) => setTimeout(resolve, Number(parameters.seconds) * 1000));
      return {};
    },
  },
};
