/** State of a container: last exit and next restart. */
import type { ContainerStateTerminated, ContainerStatus } from '../../shared/kube/pods/pod-types.js';
import controls from '../layout/controls.module.css';
import { ScrolledText } from '../layout/text/scrolled-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { explainExit, nextRestartTime } from './exit-explanation.js';

interface ContainerStateProps {
  status: ContainerStatus;
  restartPolicy: string;
}

export function ContainerState({ status, restartPolicy }: ContainerStateProps) {
  const { name, image, state, lastState, restartCount, ready } = status;
  const next = nextRestartTime(status);
  return (
    <section aria-label={`Container ${name}`}>
      <h3>{name}</h3>
      <p className={controls.dim}>{image}</p>
      {state?.running && (
        <p>
          Running{ready ? '' : ', and not ready yet'}
          {state.running.startedAt && (
            <>
              , started <RelativeTime at={state.running.startedAt} />
            </>
          )}
          .
        </p>
      )}
      {state?.waiting && (
        <p>
          <strong>{state.waiting.reason}</strong>
          {state.waiting.message ? `: ${state.waiting.message}` : ''}
        </p>
      )}
      {next && (
        <p>
          The next start is due <RelativeTime at={next} />. Each failure doubles the pause, from 10 seconds up
          to 5 minutes; ten minutes of running make it short again.
        </p>
      )}
      {state?.terminated && <Ended words="It ended" end={state.terminated} />}
      {restartCount > 0 && (
        <p>
          Restarted {restartCount === 1 ? 'once' : `${restartCount} times`}, by restart policy {restartPolicy}
          .
        </p>
      )}
      {lastState?.terminated && <Ended words="Before that it ended" end={lastState.terminated} />}
    </section>
  );
}

function Ended({ words, end }: { words: string; end: ContainerStateTerminated }) {
  return (
    <>
      <p>
        {words} with {explainExit(end)}
        {end.finishedAt && (
          <>
            , <RelativeTime at={end.finishedAt} />
          </>
        )}
        .
      </p>
      {end.message && <ScrolledText label="What it said last" text={end.message} wraps />}
    </>
  );
}
