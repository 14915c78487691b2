/** State of a container: last exit and next restart. */
import type { ContainerStateTerminated, ContainerStatus } from '../../shared/kube/pods/pod-types.js';
import controls from '../layout/controls.module.css';
import { ScrolledText } from '../layout/text/scrolled-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { RichText } from '../texts/rich-text.js';
import { counted, t } from '../texts/translate.js';
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
          {ready ? t('Running') : t('Running, and not ready yet')}
          {state.running.startedAt && (
            <RichText
              text=", started <time/>"
              parts={{ time: <RelativeTime at={state.running.startedAt} /> }}
            />
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
          <RichText
            text="Next start <time/>. Each failure doubles the delay, from 10 seconds to 5 minutes. It is reset after the container has run for ten minutes."
            parts={{ time: <RelativeTime at={next} /> }}
          />
        </p>
      )}
      {state?.terminated && <Ended words={t('It exited')} end={state.terminated} />}
      {restartCount > 0 && (
        <p>
          {counted('Restarted {{count}} times, by restart policy {{policy}}.', restartCount, {
            policy: restartPolicy,
          })}
        </p>
      )}
      {lastState?.terminated && <Ended words={t('Before that it exited')} end={lastState.terminated} />}
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
