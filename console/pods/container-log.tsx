/** Live log of a container with search, follow and download. */
import { useEffect, useRef, useState } from 'react';
import { ApiCallError } from '../api/api-call.js';
import { readLines } from '../api/api-stream.js';
import controls from '../layout/controls.module.css';
import { ScrolledText } from '../layout/text/scrolled-text.js';

/** Maximum number of displayed lines. The download is complete. */
const MAX_LINES = 2_000;

interface PodLogProps {
  namespace: string;
  pod: string;
  container: string;
  /** Shows the log of the previous, terminated container. */
  isPrevious: boolean;
}

export function ContainerLog({ namespace, pod, container, isPrevious }: PodLogProps) {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log?container=${container}${isPrevious ? '&previous=true' : ''}`;
  const [lines, setLines] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState('');
  const [search, setSearch] = useState('');
  const [isFollowing, setFollowing] = useState(true);
  const box = useRef<HTMLElement>(null);

  useEffect(() => {
    const abort = new AbortController();
    const add = (more: string[]) => setLines((before) => [...before, ...more].slice(-MAX_LINES));
    follow(`${path}&follow=${!isPrevious}&tailLines=${MAX_LINES}`, add, abort.signal).catch(
      (error: unknown) => {
        if (!abort.signal.aborted)
          setProblem(error instanceof ApiCallError ? error.message : 'the connection of the log was lost');
      },
    );
    return () => abort.abort();
  }, [path, isPrevious]);

  const shown = search === '' ? lines : lines.filter((line) => line.includes(search));
  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll on each new line
  useEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown, isFollowing]);

  return (
    <>
      <div className={controls.row}>
        <input
          className={controls.input}
          type="search"
          aria-label="Search the log"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <label>
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={(event) => setFollowing(event.target.checked)}
          />{' '}
          Follow
        </label>
        <a className={controls.button} href={path} download={`${pod}-${container}.log`}>
          Download
        </a>
      </div>
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
      <ScrolledText
        frame={box}
        label={`Log of ${container}`}
        text={shown.length === 0 ? 'No lines yet.' : shown.join('\n')}
        wraps
      />
    </>
  );
}

async function follow(path: string, add: (lines: string[]) => void, signal: AbortSignal): Promise<void> {
  for await (const lines of readLines(path, signal)) add(lines);
}
