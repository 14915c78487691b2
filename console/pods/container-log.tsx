/** Live log of a container, and the log of one Pod with search, follow and download. */
import { useEffect, useRef, useState } from 'react';
import { ApiCallError } from '../api/api-call.js';
import { readLines } from '../api/api-stream.js';
import controls from '../layout/controls.module.css';
import { ScrolledText } from '../layout/text/scrolled-text.js';
import { t } from '../texts/translate.js';

/** Maximum number of displayed lines. The download is complete. */
const MAX_LINES = 2_000;

interface LogSource {
  namespace: string;
  pod: string;
  /** Absent: the only container of the Pod. */
  container?: string;
  /** Shows the log of the previous, terminated container. */
  isPrevious?: boolean;
}

interface LogView {
  /** Only lines that contain it. */
  search: string;
  /** Scrolls to each new line. */
  isFollowing: boolean;
}

/** Returns the path of the whole log in the API. */
export function logPath({ namespace, pod, container, isPrevious = false }: LogSource): string {
  const query = new URLSearchParams({
    ...(container === undefined ? {} : { container }),
    ...(isPrevious ? { previous: 'true' } : {}),
  });
  return `/api/v1/namespaces/${namespace}/pods/${pod}/log?${query}`;
}

/** The log of one container with its controls. */
export function ContainerLog(source: LogSource) {
  const [search, setSearch] = useState('');
  const [isFollowing, setFollowing] = useState(true);
  return (
    <>
      <div className={controls.row}>
        <LogControls {...{ search, setSearch, isFollowing, setFollowing }} />
        <a
          className={controls.button}
          href={logPath(source)}
          download={`${source.pod}-${source.container}.log`}
        >
          {t('Download')}
        </a>
      </div>
      <LogLines {...source} search={search} isFollowing={isFollowing} />
    </>
  );
}

interface LogControlsProps extends LogView {
  setSearch: (search: string) => void;
  setFollowing: (isFollowing: boolean) => void;
}

export function LogControls({ search, setSearch, isFollowing, setFollowing }: LogControlsProps) {
  return (
    <>
      <input
        className={controls.input}
        type="search"
        aria-label={t('Search the log')}
        placeholder={t('Search')}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <label>
        <input
          type="checkbox"
          checked={isFollowing}
          onChange={(event) => setFollowing(event.target.checked)}
        />{' '}
        {t('Follow')}
      </label>
    </>
  );
}

export function LogLines({ search, isFollowing, ...source }: LogSource & LogView) {
  const { pod, container = pod, isPrevious = false } = source;
  const path = logPath(source);
  const [lines, setLines] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState('');
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
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
      <ScrolledText
        frame={box}
        label={t('Log of {{name}}', { name: container })}
        text={shown.length === 0 ? emptyText(lines.length) : shown.join('\n')}
        wraps
      />
    </>
  );
}

function emptyText(count: number): string {
  return count === 0
    ? t('No lines yet.')
    : t('None of {{total}} lines contains this text.', { total: count });
}

async function follow(path: string, add: (lines: string[]) => void, signal: AbortSignal): Promise<void> {
  for await (const lines of readLines(path, signal)) add(lines);
}
