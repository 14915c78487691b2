/** Actions that create ControllerRevisions directly. */
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { until } from '../../harness/basics/wait-until.js';
import type { ActionContext, ActionOutcome } from './action-context.js';
import { imageOf, isLive, podsOfSet, revisionsOfSet, takeSnapshot } from './cluster-snapshot.js';

const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
const ROLL_TIMEOUT_MS = 60_000;

async function setImage({ fleet, set }: ActionContext, image: string): Promise<void> {
  const { code, stderr } = await fleet.kubectl.run(['set', 'image', `ds/${set}`, `app=${image}`]);
  if (code !== 0) throw new Error(stderr);
}

async function untilAllPodsHave({ fleet, set }: ActionContext, image: string): Promise<void> {
  const rolled = async () => {
    const pods = podsOfSet((await takeSnapshot(fleet.api)).pods, set);
    return pods.every((pod) => isLive(pod) && imageOf(pod) === image);
  };
  await until(rolled, { timeoutMs: ROLL_TIMEOUT_MS, what: `all pods of ${set} to have ${image}` });
}

async function revisionsNow({ fleet, set }: ActionContext): Promise<ControllerRevision[]> {
  return revisionsOfSet((await takeSnapshot(fleet.api)).revisions, set);
}

async function untilNewRevision(
  context: ActionContext,
  known: ReadonlySet<string>,
): Promise<ControllerRevision> {
  let found: ControllerRevision | undefined;
  const appears = async () => {
    found = (await revisionsNow(context)).find((revision) => !known.has(revision.metadata.name));
    return found !== undefined;
  };
  await until(appears, { timeoutMs: ROLL_TIMEOUT_MS, what: 'a new revision' });
  if (!found) throw new Error('no new revision');
  return found;
}

/** `occupyNextRevisionName`: creates a revision with other data under the name that this image's revision would get. */
export async function occupyNextRevisionName(context: ActionContext): Promise<ActionOutcome> {
  const { fleet, set } = context;
  const image = String(context.parameters.image);
  const known = new Set((await revisionsNow(context)).map((revision) => revision.metadata.name));
  const present = await fleet.api.request<DaemonSet>(
    'GET',
    `/apis/apps/v1/namespaces/default/daemonsets/${set}`,
  );
  const imageBefore = present.spec.template.spec.containers[0]?.image ?? '';
  await setImage(context, image);
  const { metadata } = await untilNewRevision(context, known);
  await setImage(context, imageBefore);
  await untilAllPodsHave(context, imageBefore);
  await fleet.api.request('DELETE', `${REVISIONS}/${metadata.name}`);
  await fleet.api.request('POST', REVISIONS, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: metadata.name },
    data: { foreign: true },
    revision: 1,
  });
  return {};
}

/** `createRevisionCopy`: creates a revision with the same data, and another hash and number. */
export async function copyRevision(context: ActionContext): Promise<ActionOutcome> {
  const { ofRevision, newRevision } = context.parameters;
  const original = (await revisionsNow(context)).find((one) => one.revision === Number(ofRevision));
  if (!original) throw new Error(`no revision ${String(ofRevision)}`);
  const { labels, ownerReferences, annotations } = original.metadata;
  const hash = 'copy5copy';
  const answer = await context.fleet.api.send('POST', REVISIONS, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${context.set}-${hash}`,
      labels: { ...labels, [REVISION_HASH_LABEL]: hash },
      annotations,
      ownerReferences,
    },
    data: original.data,
    revision: Number(newRevision),
  });
  return { answer };
}
