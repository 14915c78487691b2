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
          Next start <RelativeTime at={next} />. Each failure doubles the delay, from 10 seconds to 5 minutes.
          It is reset after the container has run for ten minutes.
        </p>
      )}
      {state?.terminated && <Ended words="It exited" end={state.terminated} />}
      {restartCount > 0 && (
        <p>
          Restarted {restartCount === 1 ? 'once' : `${restartCount} times`}, by restart policy {restartPolicy}
          .
        </p>
      )}
      {lastState?.terminated && <Ended words="Before that it exited" end={lastState.terminated} />}
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
      {end.message && <ScrolledText label="Termination message" text={end.message} wraps />}
    </>
  );
}
