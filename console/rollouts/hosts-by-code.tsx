/** Hosts of a rollout by reason code. The hosts of a code are loaded when it is opened. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { codeWords } from '../layout/status/reason-status.js';
import { t } from '../texts/translate.js';
import { actionsOfHost, rolloutPath } from './rollout-actions.js';
import { RolloutButtons } from './rollout-buttons.js';

interface RolloutHosts {
  hosts: readonly { node: string; sentence: string }[];
}

/** Codes that are open initially. */
const INITIALLY_OPEN: ReadonlySet<string> = new Set(['Failed']);

interface HostsByCodeProps {
  rollout: Rollout;
  codes: Readonly<Record<string, number>>;
}

export function HostsByCode({ rollout, codes }: HostsByCodeProps) {
  const present = Object.entries(codes).filter(([, count]) => count > 0);
  if (present.length === 0) return null;
  return (
    <section className={controls.card} aria-label="Hosts by reason">
      <h2>Hosts</h2>
      {present.map(([code, count]) => (
        <Code key={code} rollout={rollout} code={code} count={count} />
      ))}
    </section>
  );
}

interface CodeProps {
  rollout: Rollout;
  code: string;
  count: number;
}

function Code({ rollout, code, count }: CodeProps) {
  const [isOpen, setOpen] = useState(INITIALLY_OPEN.has(code));
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{count}</strong> {codeWords(code)}
      </summary>
      {isOpen && <Hosts rollout={rollout} code={code} count={count} />}
    </details>
  );
}

/** Fetches the list again when `count` changes, because the hosts with this code have changed then. */
function Hosts({ rollout, code, count }: CodeProps) {
  const { namespace = '', name } = rollout.metadata;
  const path = `${rolloutPath(namespace, name)}/hosts?code=${code}&limit=100`;
  const { answer, problem } = useApiResource<RolloutHosts>(path, String(count));
  if (problem) return <p role="alert">{problem}</p>;
  if (!answer) return <p role="status">{t('Loading…')}</p>;
  return (
    <ul>
      {answer.hosts.map(({ node, sentence }) => (
        <li key={node}>
          <Link href={`/hosts/${node}`}>{node}</Link> {sentence}
          <RolloutButtons rollout={rollout} actions={actionsOfHost(code, node)} />
        </li>
      ))}
    </ul>
  );
}
