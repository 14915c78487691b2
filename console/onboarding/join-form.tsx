/** Form that creates a join command. It is shown once, because the token's secret is not stored. */
import { type FormEvent, useId, useState } from 'react';
import { type JoinAddress, joinCommand } from '../../shared/kube/access/join-command.js';
import controls from '../layout/controls.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { createJoinToken } from './create-join-token.js';
import { parseLabels } from './label-input.js';
import classes from './onboarding.module.css';

const HOUR_MS = 3_600_000;
/** The second is the default, like kubeadm's. */
const LIFETIMES: readonly [name: string, flag: string, ms: number | undefined][] = [
  ['1 hour', '1h', HOUR_MS],
  ['24 hours', '24h', 24 * HOUR_MS],
  ['7 days', '7d', 7 * 24 * HOUR_MS],
  ['for ever', '0', undefined],
];

interface Wishes {
  lifetime: string;
  labels: string;
  nodes: string;
  isReusable: boolean;
  description: string;
}

const FIRST: Wishes = { lifetime: '24 hours', labels: '', nodes: '', isReusable: false, description: '' };

export function JoinForm({ address }: { address: JoinAddress }) {
  const [wishes, setWishes] = useState(FIRST);
  const [server, setServer] = useState(address.server);
  const [line, setLine] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const set = (change: Partial<Wishes>) => setWishes({ ...wishes, ...change });

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setProblem('');
    const { labels, problem: wrong } = parseLabels(wishes.labels);
    if (wrong) return setProblem(wrong);
    setBusy(true);
    try {
      setLine(joinCommand({ ...address, server }, await tokenFor(wishes, labels)));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };

  return (
    <section className={controls.card} aria-label="Join line">
      <h2>Make a join line</h2>
      <form className={classes.form} onSubmit={(event) => void submit(event)}>
        <label className={controls.field}>
          Good for
          <select
            className={controls.input}
            value={wishes.lifetime}
            onChange={(event) => set({ lifetime: event.target.value })}
          >
            {LIFETIMES.map(([name]) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <Text
          label="Labels of its hosts"
          hint="site=kiel,hardware=nuc"
          value={wishes.labels}
          onChange={(labels) => set({ labels })}
        />
        <Text
          label="Names that may join"
          hint="any; or kiosk-*,till-7"
          value={wishes.nodes}
          onChange={(nodes) => set({ nodes })}
        />
        <Text
          label="What it is for"
          hint="others see it in the list"
          value={wishes.description}
          onChange={(description) => set({ description })}
        />
        <Text label="Coordinator's address" hint={address.server} value={server} onChange={setServer} />
        <label className={classes.check}>
          <input
            type="checkbox"
            checked={wishes.isReusable}
            onChange={(event) => set({ isReusable: event.target.checked })}
          />
          Any number of hosts may join by it
        </label>
        <button type="submit" className={controls.button} data-main disabled={isBusy}>
          Make join line
        </button>
      </form>
      <CopyCommand text={commandOf(wishes)} />
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
      {line && (
        <div role="status">
          <p>
            Type this on the host{address.installer ? '' : ', which has the agent already'}. It is shown this
            once; {wishes.isReusable ? 'any number of hosts' : 'one host'} may join by it.
          </p>
          <CopyCommand text={line} />
        </div>
      )}
    </section>
  );
}

function lifetimeOf({ lifetime }: Wishes) {
  return LIFETIMES.find(([name]) => name === lifetime);
}

/** Returns the equivalent command on the coordinator's machine. */
function commandOf(wishes: Wishes): string {
  const quoted = (text: string) => `'${text.trim().replaceAll("'", "'\\''")}'`;
  const parts = [
    `everynode token create --ttl ${lifetimeOf(wishes)?.[1] ?? '24h'}`,
    wishes.isReusable && '--reusable',
    wishes.labels && `--labels ${quoted(wishes.labels)}`,
    wishes.nodes && `--nodes ${quoted(wishes.nodes)}`,
    wishes.description && `--description ${quoted(wishes.description)}`,
  ];
  return parts.filter(Boolean).join(' ');
}

function tokenFor(wishes: Wishes, labels: Record<string, string>): Promise<string> {
  const lifetime = lifetimeOf(wishes)?.[2];
  const nodes = wishes.nodes.split(/[,\s]+/).filter(Boolean);
  const expiresAtMs = lifetime === undefined ? undefined : Date.now() + lifetime;
  const grant = { expiresAtMs, singleUse: !wishes.isReusable, nodes, labels };
  return createJoinToken(grant, wishes.description.trim());
}

interface TextProps {
  label: string;
  hint: string;
  value: string;
  onChange: (value: string) => void;
}

function Text({ label, hint, value, onChange }: TextProps) {
  const id = useId();
  return (
    <div className={controls.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={controls.input}
        value={value}
        placeholder={hint}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
