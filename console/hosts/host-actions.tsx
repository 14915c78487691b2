/** Actions on a host: cordon, drain, maintenance, removal. Actions without permission are hidden. */

import { useState } from 'react';
import { useLocation } from 'wouter';
import { MAINTENANCE_TAINT, taintText } from '../../shared/kube/nodes/node-change.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { countText } from '../../shared/kube/objects/count-text.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import { ApiCallError } from '../api/api-call.js';
import { changeNode, deleteNode, revokeNode } from '../api/node-writes.js';
import { type Confirmation, ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { HostEffectText } from '../layout/effect-text.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { drain, planDrain } from './drain-host.js';

export function HostActions({ node, pods }: { node: Node; pods: readonly Pod[] }) {
  const [question, setQuestion] = useState<Confirmation>();
  const [isDraining, setDraining] = useState(false);
  const [, navigate] = useLocation();
  const mayChange = useIsAllowed(ACCESS.changeNodes);
  const mayEvict = useIsAllowed(ACCESS.evict);
  const mayDelete = useIsAllowed(ACCESS.deleteNodes);
  const mayRevoke = useIsAllowed(ACCESS.revoke);
  const isCordoned = node.spec?.unschedulable === true;
  const isInMaintenance = node.spec?.taints?.some(({ key }) => key === MAINTENANCE_TAINT.key) ?? false;
  const plan = planDrain(pods);
  const button = (text: string, asked: Confirmation) => (
    <button type="button" className={controls.button} onClick={() => setQuestion(asked)}>
      {text}
    </button>
  );
  return (
    <>
      <div className={controls.row}>
        {mayChange && button(isCordoned ? 'Uncordon' : 'Cordon', cordonQuestion(node, !isCordoned))}
        {mayChange &&
          mayEvict &&
          button(
            'Drain',
            drainQuestion(node, plan, () => setDraining(true)),
          )}
        {mayChange &&
          button(
            isInMaintenance ? 'End maintenance' : 'Maintenance',
            maintenanceQuestion(node, !isInMaintenance),
          )}
        {mayDelete &&
          button(
            'Remove',
            removeQuestion(node, mayRevoke, () => navigate('/')),
          )}
      </div>
      {isDraining && isCordoned && (
        <p role="status" aria-label="Drain">
          {plan.evict.length > 0
            ? `Draining: ${plan.evict.length} Pods to go (${plan.evict.map(({ metadata }) => metadata.name).join(', ')}).`
            : `Drained: nothing is left but ${plan.stay.length} Pods of DaemonSets and static ones.`}
        </p>
      )}
      {question && <ConfirmDialog question={question} onClose={() => setQuestion(undefined)} />}
    </>
  );
}

function cordonQuestion({ metadata: { name } }: Node, unschedulable: boolean): Confirmation {
  const verb = unschedulable ? 'Cordon' : 'Uncordon';
  const text = unschedulable
    ? 'Pods that are there stay, and those of DaemonSets are made all the same; others are not scheduled to it.'
    : 'Pods may be scheduled to it again.';
  return {
    title: `${verb} ${name}?`,
    text: (
      <>
        <p>{text}</p>
        <CopyCommand text={`kubectl ${verb.toLowerCase()} ${name}`} />
      </>
    ),
    act: verb,
    reason: 'none',
    perform: async () => {
      await changeNode(name, { unschedulable });
    },
  };
}

function drainQuestion(
  { metadata: { name } }: Node,
  plan: ReturnType<typeof planDrain>,
  onBegun: () => void,
): Confirmation {
  const { evict, stay } = plan;
  return {
    title: `Drain ${name}?`,
    text: (
      <>
        <p>
          It is cordoned, and {countText(evict.length, 'Pod is', 'Pods are')} evicted.{' '}
          {countText(
            stay.length,
            'Pod of DaemonSets or a static one stays',
            'Pods of DaemonSets and static ones stay',
          )}
          ; Maintenance makes them go as well.
        </p>
        <CopyCommand text={`kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data --force`} />
      </>
    ),
    act: 'Drain',
    reason: 'none',
    perform: async () => {
      onBegun();
      await drain(name, plan);
    },
  };
}

function maintenanceQuestion({ metadata: { name } }: Node, begins: boolean): Confirmation {
  const change = begins
    ? { unschedulable: true, taints: { add: [MAINTENANCE_TAINT] } }
    : { unschedulable: false, taints: { remove: [MAINTENANCE_TAINT] } };
  const taint = `${taintText(MAINTENANCE_TAINT)}${begins ? '' : '-'}`;
  return {
    title: begins ? `Take ${name} into maintenance?` : `End the maintenance of ${name}?`,
    text: (
      <>
        <p>
          {begins
            ? 'It is cordoned and tainted: all Pods go that do not tolerate that, until the maintenance is ended.'
            : 'Cordon and taint are taken away; Pods of DaemonSets come back.'}
        </p>
        <HostEffectText hosts={[name]} change={change} />
        <CopyCommand
          text={`kubectl ${begins ? 'cordon' : 'uncordon'} ${name} && kubectl taint node ${name} ${taint}`}
        />
      </>
    ),
    act: begins ? 'Begin maintenance' : 'End maintenance',
    reason: 'none',
    perform: async () => {
      await changeNode(name, change);
    },
  };
}

function removeQuestion({ metadata: { name } }: Node, mayRevoke: boolean, onGone: () => void): Confirmation {
  return {
    title: `Remove ${name}?`,
    text: (
      <>
        <p>
          The host leaves the fleet, and its Pods with it.{' '}
          {mayRevoke
            ? 'Its key is barred: it comes back only by joining anew, with an empty data directory. This cannot be undone.'
            : 'You may not bar its key: while its agent runs, it comes back.'}
        </p>
        <CopyCommand
          text={`${mayRevoke ? `everynode node revoke ${name} && ` : ''}kubectl delete node ${name}`}
        />
      </>
    ),
    act: 'Remove',
    reason: 'none',
    perform: async () => {
      if (mayRevoke) await revokeNode(name).catch(unlessMissing);
      await deleteNode(name).catch(unlessMissing);
      onGone();
    },
  };
}

/** A host without a credential cannot reconnect, so there is nothing to revoke. */
function unlessMissing(error: unknown): void {
  if (!(error instanceof ApiCallError && error.code === 404)) throw error;
}
