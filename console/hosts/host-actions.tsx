/** Actions on a host: cordon, drain, maintenance, removal. Actions without permission are hidden. */

import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { MAINTENANCE_TAINT, taintText } from '../../shared/kube/nodes/node-change.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import { ApiCallError } from '../api/api-call.js';
import type { Live } from '../api/live-list.js';
import { changeNode, deleteNode, revokeNode } from '../api/node-writes.js';
import { type Confirmation, ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { HostEffectText } from '../layout/effect-text.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { translated } from '../texts/translate.js';
import { type DrainPlan, drain, planDrain } from './drain-host.js';

export function HostActions({ node, pods }: { node: Node; pods: Live<Pod> }) {
  const [question, setQuestion] = useState<Confirmation>();
  const [isDraining, setDraining] = useState(false);
  const [, navigate] = useLocation();
  const mayChange = useIsAllowed(ACCESS.changeNodes);
  const mayEvict = useIsAllowed(ACCESS.evict);
  const mayDelete = useIsAllowed(ACCESS.deleteNodes);
  const mayRevoke = useIsAllowed(ACCESS.revoke);
  const isCordoned = node.spec?.unschedulable === true;
  const isInMaintenance = node.spec?.taints?.some(({ key }) => key === MAINTENANCE_TAINT.key) ?? false;
  // A plan of Pods that are still loading would evict nothing.
  const plan = pods.phase === 'live' ? planDrain(pods.objects) : undefined;
  const offered = { node, mayChange, mayEvict, plan, mayListPods: pods.phase !== 'refused' };
  const problem = useAddressedAction(offered, setQuestion, () => setDraining(true));
  const button = (text: string, asked: Confirmation | undefined, isDangerous = false) => (
    <button
      type="button"
      className={controls.button}
      disabled={asked === undefined}
      {...(isDangerous ? { 'data-danger': true } : {})}
      onClick={() => setQuestion(asked)}
    >
      {translated(text)}
    </button>
  );
  return (
    <>
      <div className={controls.row}>
        <Link className={controls.button} href={`/hosts/${node.metadata.name}?tab=logs`}>
          Terminal
        </Link>
        {mayChange &&
          button(
            isInMaintenance ? 'End maintenance' : 'Maintenance',
            maintenanceQuestion(node, !isInMaintenance),
          )}
        {mayChange && button(isCordoned ? 'Uncordon' : 'Cordon', cordonQuestion(node, !isCordoned))}
        {mayChange &&
          mayEvict &&
          offered.mayListPods &&
          button('Drain', plan && drainQuestion(node, plan, () => setDraining(true)))}
        {mayDelete &&
          button(
            'Remove',
            removeQuestion(node, mayRevoke, () => navigate('/hosts')),
            true,
          )}
      </div>
      {problem && <p role="alert">{problem}</p>}
      {isDraining && isCordoned && plan && (
        <p role="status" aria-label="Drain">
          {plan.evict.length > 0
            ? `Draining: ${plan.evict.length} Pods left (${plan.evict.map(({ metadata }) => metadata.name).join(', ')}).`
            : `Drained: only ${plan.stay.length} Pods of DaemonSets and static Pods are left.`}
        </p>
      )}
      {question && <ConfirmDialog question={question} onClose={() => setQuestion(undefined)} />}
    </>
  );
}

interface Offered {
  node: Node;
  mayChange: boolean;
  mayEvict: boolean;
  mayListPods: boolean;
  /** Undefined while the Pods are not known. */
  plan: DrainPlan | undefined;
}

/**
 * `?act=cordon` in the address, which the palette sets, opens the confirmation of the action. Returns why that is not
 * possible, or ''.
 */
function useAddressedAction(
  offered: Offered,
  ask: (question: Confirmation) => void,
  onDrain: () => void,
): string {
  const [query, setQuery] = useUrlQuery();
  const [problem, setProblem] = useState('');
  const act = query.get('act');
  const asked = act === null ? undefined : addressedQuestion(act, offered, onDrain);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address opens the confirmation once
  useEffect(() => {
    if (asked === undefined) return;
    if (typeof asked === 'string') setProblem(asked);
    else {
      setProblem('');
      ask(asked);
    }
    setQuery('act', '');
  }, [act, asked === undefined]);
  return problem;
}

/** Returns the confirmation, or why the action is not possible. Undefined while the Pods that it needs are loading. */
function addressedQuestion(
  act: string,
  { node, mayChange, mayEvict, mayListPods, plan }: Offered,
  onDrain: () => void,
): Confirmation | string | undefined {
  const { name } = node.metadata;
  if (!mayChange) return `You are not allowed to change host ${name}.`;
  switch (act) {
    case 'cordon':
    case 'uncordon':
      return cordonQuestion(node, act === 'cordon');
    case 'maintenance':
      return maintenanceQuestion(node, true);
    case 'drain':
      if (!mayEvict) return `You are not allowed to evict the Pods of host ${name}.`;
      if (!mayListPods) return `You are not allowed to list the Pods of host ${name}.`;
      return plan && drainQuestion(node, plan, onDrain);
    default:
      return `A host has no action “${act}”.`;
  }
}

function cordonQuestion({ metadata: { name } }: Node, unschedulable: boolean): Confirmation {
  const verb = unschedulable ? 'Cordon' : 'Uncordon';
  const text = unschedulable
    ? 'Running Pods are not affected. DaemonSets can still create Pods on the host; other Pods cannot be scheduled.'
    : 'Pods can be scheduled on the host again.';
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

function drainQuestion({ metadata: { name } }: Node, plan: DrainPlan, onStarted: () => void): Confirmation {
  const { evict, stay } = plan;
  return {
    title: `Drain ${name}?`,
    text: (
      <>
        <p>
          The host is cordoned and {countText(evict.length, 'Pod is', 'Pods are')} evicted.{' '}
          {countText(
            stay.length,
            'Pod of a DaemonSet or static Pod stays',
            'Pods of DaemonSets and static Pods stay',
          )}
          ; use Maintenance to stop the Pods of DaemonSets as well.
        </p>
        <CopyCommand text={`kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data --force`} />
      </>
    ),
    act: 'Drain',
    reason: 'none',
    perform: async () => {
      onStarted();
      await drain(name);
    },
  };
}

function maintenanceQuestion({ metadata: { name } }: Node, starts: boolean): Confirmation {
  const change = starts
    ? { unschedulable: true, taints: { add: [MAINTENANCE_TAINT] } }
    : { unschedulable: false, taints: { remove: [MAINTENANCE_TAINT] } };
  const taint = `${taintText(MAINTENANCE_TAINT)}${starts ? '' : '-'}`;
  return {
    title: starts ? `Start maintenance of ${name}?` : `End maintenance of ${name}?`,
    text: (
      <>
        <p>
          {starts
            ? 'Cordons and taints the host. All Pods that do not tolerate the taint are evicted until maintenance ends.'
            : 'Removes cordon and taint. DaemonSets create their Pods again.'}
        </p>
        <HostEffectText hosts={[name]} change={change} />
        <CopyCommand
          text={`kubectl ${starts ? 'cordon' : 'uncordon'} ${name} && kubectl taint node ${name} ${taint}`}
        />
      </>
    ),
    act: starts ? 'Start maintenance' : 'End maintenance',
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
          The host and its Pods are removed from the fleet.{' '}
          {mayRevoke
            ? 'Its key is barred. To rejoin, the host needs an empty data directory. This cannot be undone.'
            : 'You are not allowed to bar its key, so the host will rejoin while its agent is running.'}
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
