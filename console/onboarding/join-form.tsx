/** Form that creates a join command. It is shown once, because the token's secret is not stored. */
import { type FormEvent, useState } from 'react';
import { type JoinAddress, joinCommand } from '../../shared/kube/access/join-command.js';
import controls from '../layout/controls.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { TextField } from '../layout/text-field.js';
import { t, translated } from '../texts/translate.js';
import { createJoinToken } from './create-join-token.js';
import { parseLabels } from './label-input.js';
import classes from './onboarding.module.css';

const HOUR_MS = 3_600_000;
/** The second is the default, like kubeadm's. */
const LIFETIMES: readonly [name: string, flag: string, ms: number | undefined][] = [
  ['1 hour', '1h', HOUR_MS],
  ['24 hours', '24h', 24 * HOUR_MS],
  ['7 days', '7d', 7 * 24 * HOUR_MS],
  ['no expiry', '0', undefined],
];

interface JoinOptions {
  lifetime: string;
  labels: string;
  nodes: string;
  isReusable: boolean;
  description: string;
}

const FIRST: JoinOptions = {
  lifetime: '24 hours',
  labels: '',
  nodes: '',
  isReusable: false,
  description: '',
};

export function JoinForm({ address }: { address: JoinAddress }) {
  const [options, setOptions] = useState(FIRST);
  const [server, setServer] = useState(address.server);
  const [line, setLine] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const set = (change: Partial<JoinOptions>) => setOptions({ ...options, ...change });

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setProblem('');
    const { labels, problem: wrong } = parseLabels(options.labels);
    if (wrong) return setProblem(wrong);
    setBusy(true);
    try {
      setLine(joinCommand({ ...address, server }, await tokenFor(options, labels)));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };

  return (
    <section className={controls.card} aria-label={t('Join line')}>
      <h2>{t('Create a join command')}</h2>
      <form className={classes.form} onSubmit={(event) => void submit(event)}>
        <label className={controls.field}>
          {t('Expires after')}

          <select
            className={controls.input}
            value={options.lifetime}
            onChange={(event) => set({ lifetime: event.target.value })}
          >
            {LIFETIMES.map(([name]) => (
              <option key={name} value={name}>
                {translated(name)}
              </option>
            ))}
          </select>
        </label>
        <TextField
          label="Labels for new hosts"
          hint="site=kiel,hardware=nuc"
          value={options.labels}
          onText={(labels) => set({ labels })}
        />
        <TextField
          label="Allowed names"
          hint="any; or kiosk-*,till-7"
          value={options.nodes}
          onText={(nodes) => set({ nodes })}
        />
        <TextField
          label="Description"
          hint="visible in the list"
          value={options.description}
          onText={(description) => set({ description })}
        />
        <TextField label="Coordinator's address" hint={address.server} value={server} onText={setServer} />
        <label className={classes.check}>
          <input
            type="checkbox"
            checked={options.isReusable}
            onChange={(event) => set({ isReusable: event.target.checked })}
          />
          {t('Allow any number of hosts')}
        </label>
        <button type="submit" className={controls.button} data-main disabled={isBusy}>
          {t('Create join command')}
        </button>
      </form>
      <CopyCommand text={commandOf(options)} />
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
      {line && (
        <div role="status">
          <p>
            {address.installer
              ? t('Run this on the host.')
              : t('Run this on the host (the agent must be installed).')}{' '}
            {options.isReusable
              ? t('It is shown only once; any number of hosts may join with it.')
              : t('It is shown only once; one host may join with it.')}
          </p>
          <CopyCommand text={line} isWhole />
        </div>
      )}
    </section>
  );
}

function lifetimeOf({ lifetime }: JoinOptions) {
  return LIFETIMES.find(([name]) => name === lifetime);
}

/** Returns the equivalent command on the coordinator's machine. */
function commandOf(options: JoinOptions): string {
  const quoted = (text: string) => `'${text.trim().replaceAll("'", "'\\''")}'`;
  const parts = [
    `everynode token create --ttl ${lifetimeOf(options)?.[1] ?? '24h'}`,
    options.isReusable && '--reusable',
    options.labels && `--labels ${quoted(options.labels)}`,
    options.nodes && `--nodes ${quoted(options.nodes)}`,
    options.description && `--description ${quoted(options.description)}`,
  ];
  return parts.filter(Boolean).join(' ');
}

function tokenFor(options: JoinOptions, labels: Record<string, string>): Promise<string> {
  const lifetime = lifetimeOf(options)?.[2];
  const nodes = options.nodes.split(/[,\s]+/).filter(Boolean);
  const expiresAtMs = lifetime === undefined ? undefined : Date.now() + lifetime;
  const grant = { expiresAtMs, singleUse: !options.isReusable, nodes, labels };
  return createJoinToken(grant, options.description.trim());
}
