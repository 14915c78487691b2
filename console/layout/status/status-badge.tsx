/** A state as icon, word and colour. The word says all: icon and colour repeat it for a fast reader. */
import {
  Circle,
  CircleCheck,
  CircleX,
  Clock,
  type LucideIcon,
  RefreshCw,
  Unplug,
  Wrench,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { translated } from '../../texts/translate.js';
import type { ShownStatus, StatusTone } from './object-status.js';
import classes from './status-badge.module.css';

const ICONS: Readonly<Record<StatusTone, LucideIcon>> = {
  ok: CircleCheck,
  progress: RefreshCw,
  waiting: Clock,
  failed: CircleX,
  offline: Unplug,
  maintenance: Wrench,
  over: Circle,
};

/** The icon of a tone alone, next to words that say the state. */
export function StatusIcon({ tone }: { tone: StatusTone }) {
  const Icon = ICONS[tone];
  return (
    <span className={classes.badge} data-tone={tone}>
      <Icon className={classes.icon} aria-hidden="true" />
    </span>
  );
}

/** `children` follow the word, for example since when. */
export function StatusBadge({ status, children }: { status: ShownStatus; children?: ReactNode }) {
  const Icon = ICONS[status.tone];
  return (
    <span className={classes.badge} data-tone={status.tone}>
      <Icon className={classes.icon} aria-hidden="true" />
      <span>
        {translated(status.word)}
        {children}
      </span>
    </span>
  );
}
