/** What happened to an object, newest first, with a filter by kind. The URL contains the filter. */
import { Link } from 'wouter';
import controls from '../layout/controls.module.css';
import { StatusIcon } from '../layout/status/status-badge.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { useUrlFilter } from '../layout/use-url-query.js';
import { ToggleButtons } from '../layout/widgets/toggle-buttons.js';
import { KIND_NAMES, kindsOf, MOST_ENTRIES, type TimelineEntry } from './timeline-entry.js';
import classes from './timeline-list.module.css';

interface TimelineProps {
  entries: readonly TimelineEntry[];
  /** How far back each source reaches. */
  reach: readonly (readonly [source: string, reach: string])[];
}

export function Timeline({ entries, reach }: TimelineProps) {
  const [query, setQuery] = useUrlFilter();
  const kinds = kindsOf(entries);
  const shown = kinds.find((kind) => kind === query.get('kind'));
  const matching = shown ? entries.filter(({ kind }) => kind === shown) : entries;
  return (
    <section className={`${controls.card} ${classes.timeline}`} aria-label="Timeline">
      <h2>Timeline</h2>
      <ToggleButtons
        label="Show"
        choices={(['', ...kinds] as const).map((kind) => [kind, kind === '' ? 'All' : KIND_NAMES[kind]])}
        chosen={shown ?? ''}
        onChoose={(kind) => setQuery('kind', kind)}
      />
      {matching.length === 0 && <p>Nothing is recorded.</p>}
      <ol className={classes.entries}>
        {matching.slice(0, MOST_ENTRIES).map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two entries can be equal
          <Entry key={`${entry.at} ${entry.text} ${index}`} entry={entry} />
        ))}
      </ol>
      {matching.length > MOST_ENTRIES && <p>Only the newest {MOST_ENTRIES} are shown.</p>}
      <p className={controls.dim}>
        How far it reaches: {reach.map(([source, far]) => `${source}: ${far}`).join('; ')}.
      </p>
    </section>
  );
}

function Entry({ entry: { at, tone, kind, text, link } }: { entry: TimelineEntry }) {
  return (
    <li data-kind={kind}>
      <StatusIcon tone={tone} />
      <span className={classes.time}>
        <RelativeTime at={at} />
      </span>
      <span className={classes.text}>
        {text} {link && <Link href={link.href}>{link.name}</Link>}
      </span>
    </li>
  );
}
