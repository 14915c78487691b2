/** Hosts by their one reason code; a code's hosts are asked for when it is opened. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../api/use-answer.js';
import controls from '../layout/controls.module.css';

interface RolloutHosts {
  hosts: readonly { node: string; sentence: string }[];
}

/** Asked for at once: what a person looks for first. */
const OPEN_AT_FIRST: ReadonlySet<string> = new Set(['Failed']);

export function HostsByCode({ path, codes }: { path: string; codes: Readonly<Record<string, number>> }) {
  const present = Object.entries(codes).filter(([, count]) => count > 0);
  if (present.length === 0) return null;
  return (
    <section className={controls.card} aria-label="Hosts by reason">
      <h2>Hosts</h2>
      {present.map(([code, count]) => (
        <Code key={code} path={path} code={code} count={count} />
      ))}
    </section>
  );
}

function Code({ path, code, count }: { path: string; code: string; count: number }) {
  const [isOpen, setOpen] = useState(OPEN_AT_FIRST.has(code));
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{count}</strong> {code}
      </summary>
      {isOpen && <Hosts path={`${path}/hosts?code=${code}&limit=100`} count={count} />}
    </details>
  );
}

/** `count`: another one may be other hosts. */
function Hosts({ path, count }: { path: string; count: number }) {
  const { answer, problem } = useAnswer<RolloutHosts>(path, String(count));
  if (problem) return <p role="alert">{problem}</p>;
  if (!answer) return <p role="status">Loading…</p>;
  return (
    <ul>
      {answer.hosts.map(({ node, sentence }) => (
        <li key={node}>
          <Link href={`/hosts/${node}`}>{node}</Link> {sentence}
        </li>
      ))}
    </ul>
  );
}
