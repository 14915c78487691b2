/** Terminal section of a Pod's page: selection of container and command, and the result. */
import { type FormEvent, Suspense, useCallback, useState } from 'react';
import controls from '../layout/controls.module.css';
import { lazyPage } from '../layout/lazy-page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { t } from '../texts/translate.js';
import { splitCommand } from './split-command.js';

const Terminal = lazyPage(async () => (await import('./terminal.js')).Terminal);

/** Runs if no command was typed: bash if the image has it, otherwise sh. */
const SHELL = 'sh -c "exec $(command -v bash || echo sh)"';

interface PodTerminalProps {
  namespace: string;
  pod: string;
  containers: readonly string[];
}

/** `refused`: ended without any output. */
type Phase = 'closed' | 'opening' | 'open' | 'ended' | 'refused';

export function PodTerminal({ namespace, pod, containers }: PodTerminalProps) {
  const [selected, setSelected] = useState('');
  const [typed, setTyped] = useState('');
  const command = typed.trim() || SHELL;
  const [phase, setPhase] = useState<Phase>('closed');
  const [outcome, setOutcome] = useState('');
  const [count, setCount] = useState(0);
  const container = containers.includes(selected) ? selected : (containers[0] ?? '');
  const words = splitCommand(command);

  const open = (event: FormEvent) => {
    event.preventDefault();
    setOutcome('');
    setPhase('opening');
    setCount(count + 1);
  };
  const opened = useCallback(() => setPhase('open'), []);
  const ended = useCallback((how: string, hasPrinted: boolean) => {
    setPhase(hasPrinted ? 'ended' : 'refused');
    setOutcome(how);
  }, []);
  const isRunning = phase === 'opening' || phase === 'open';
  return (
    <section className={controls.card} aria-label={t('Terminal')}>
      <h2>{t('Terminal')}</h2>
      {containers.length === 0 && !isRunning && <p>{t('No container is running.')}</p>}
      <form className={controls.row} onSubmit={open}>
        <label>
          {t('In')}{' '}
          <select
            className={controls.input}
            value={container}
            disabled={isRunning}
            onChange={(event) => setSelected(event.target.value)}
          >
            {containers.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          {t('run')}{' '}
          <input
            className={controls.input}
            value={typed}
            size={32}
            placeholder="a shell"
            disabled={isRunning}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        {isRunning ? (
          // Different keys: React would otherwise reuse the button, and the click would submit the form.
          <button
            key="end"
            type="button"
            className={controls.button}
            onClick={() => ended(t('Disconnected.'), true)}
          >
            {t('Disconnect')}
          </button>
        ) : (
          <button
            key="begin"
            type="submit"
            className={controls.button}
            disabled={containers.length === 0 || words.length === 0}
          >
            {phase === 'closed' ? t('Open a terminal') : t('Open another')}
          </button>
        )}
      </form>
      <p role="status">
        {phase === 'opening' && t('Opening…')}
        {phase === 'open' && connectedText(container)}
        {!isRunning && explained(outcome, command)}
      </p>
      {phase !== 'closed' && phase !== 'refused' && (
        <Suspense fallback={<p role="status">{t('Loading the terminal…')}</p>}>
          <Terminal
            key={count}
            target={{ namespace, pod, container, command: words }}
            isDisconnected={phase === 'ended'}
            onOpened={opened}
            onEnded={ended}
          />
        </Suspense>
      )}
      <CopyCommand text={`kubectl -n ${namespace} exec -it ${pod} -c ${container} -- ${command}`} />
    </section>
  );
}

function connectedText(container: string): string {
  return t('Connected to {{container}}. Ctrl-C is sent to the command; Shift-Tab leaves the terminal.', {
    container,
  });
}

/** Adds what to do if the image has no shell. */
function explained(outcome: string, command: string): string {
  const hasNoShell = command === SHELL && / code 12[67]\./.test(outcome);
  return hasNoShell ? `${outcome} The image has no shell: type a command that it has.` : outcome;
}
