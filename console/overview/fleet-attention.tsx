/**
 * Watches the hosts that need an operator behind every page: counts the inbox for the titles of tabs, and reports new problems. Rendered once, next
 * to the pages.
 */
import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { publishInboxCount } from '../layout/shell/inbox-count.js';
import { setNotices, useNoticesOn } from '../layout/shell/notice-setting.js';
import { StatusIcon } from '../layout/status/status-badge.js';
import classes from './fleet-attention.module.css';
import type { Cause } from './fleet-causes.js';
import { watchForgottenTab } from './forgotten-tab.js';
import {
  isAnswered,
  type Notice,
  newNotices,
  noticesElsewhere,
  noticesOf,
  renewedNotices,
  type SeenNotices,
} from './new-notices.js';
import { TROUBLED_HOSTS, useFleetState, usePresentRollouts } from './use-fleet-state.js';

/** The page loads first. */
const START_MS = 1_500;
/** A large fleet changes many times a second. A title need not. */
const PACE_MS = 2_000;
/** More at once hide the page. The inbox has all. */
const MAX_SHOWN = 3;

export function FleetAttention() {
  const [isStarted, setStarted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStarted(true), START_MS);
    return () => clearTimeout(timer);
  }, []);
  return isStarted ? <Watching /> : null;
}

function Watching() {
  const [isForgotten, setForgotten] = useState(false);
  useEffect(() => watchForgottenTab(setForgotten), []);
  const hosts = useLiveList<Host>(isForgotten ? undefined : TROUBLED_HOSTS);
  const rollouts = usePresentRollouts();
  const by = useSiteChoice();
  const paced = usePaced(hosts.objects, PACE_MS);
  const { causes, areSitesKnown } = useFleetState(paced, rollouts.objects, by, false);
  const isLoaded =
    isAnswered(rollouts.phase) &&
    isAnswered(hosts.phase) &&
    areSitesKnown &&
    paced.length > 0 === hosts.objects.length > 0;
  useEffect(() => {
    // What can wait, such as another version of the agent, is not counted.
    if (isLoaded) publishInboxCount(causes.filter(({ tone }) => tone !== 'over').length);
  }, [causes, isLoaded]);
  return <Notices {...{ causes, isLoaded }} scope={`${by ?? ''} ${rollouts.namespace}`} />;
}

/** Returns the label of sites that the user chose on the start page, also on later pages. */
function useSiteChoice(): string | null {
  const [at] = useLocation();
  const [query] = useSearchParams();
  const last = useRef<string | null>(null);
  if (at === '/') last.current = query.get('by');
  return last.current;
}

/** Returns the first value at once, and later ones at most once in `paceMs`. */
function usePaced<T>(value: readonly T[], paceMs: number): readonly T[] {
  const [shown, setShown] = useState(value);
  const shownAt = useRef(0);
  useEffect(() => {
    const waitMs = shownAt.current + paceMs - performance.now();
    const show = () => {
      shownAt.current = performance.now();
      setShown(value);
    };
    const timer = setTimeout(show, value.length === 0 || shownAt.current === 0 ? 0 : Math.max(0, waitMs));
    return () => clearTimeout(timer);
  }, [value, paceMs]);
  return shown;
}

interface NoticesProps {
  causes: readonly Cause[];
  isLoaded: boolean;
  /** See `SeenNotices`. */
  scope: string;
}

/** A live region must exist before its content, otherwise screen readers do not announce it. */
function Notices({ causes, isLoaded, scope }: NoticesProps) {
  const [at] = useLocation();
  const [query] = useSearchParams();
  const isOn = useNoticesOn();
  const seen = useRef<SeenNotices>(undefined);
  const [shown, setShown] = useState<readonly Notice[]>([]);
  useEffect(() => {
    if (!isLoaded) return;
    const present = noticesOf(causes);
    const next = newNotices(present, seen.current, Date.now(), scope);
    seen.current = next.seen;
    // On the start page and on the page of the problem, it is visible already. It is not reported after leaving them.
    setShown((before) => noticesElsewhere([...renewedNotices(before, present), ...next.fresh], at, query));
  }, [causes, isLoaded, scope, at, query]);
  useEffect(() => setShown((before) => noticesElsewhere(before, at, query)), [at, query]);
  const visible = isOn ? noticesElsewhere(shown, at, query).slice(-MAX_SHOWN) : [];
  return (
    <div className={classes.notices} role="status" aria-label="Notices" aria-busy={!isLoaded}>
      {visible.map((notice) => (
        <div key={notice.key} className={classes.notice}>
          <StatusIcon tone={notice.cause.tone} />
          <Link href={notice.cause.href}>{notice.cause.title}</Link>
          <button
            type="button"
            className={classes.close}
            aria-label={`Dismiss: ${notice.cause.title}`}
            onClick={() => setShown((before) => before.filter(({ key }) => key !== notice.key))}
          >
            <X aria-hidden="true" />
          </button>
        </div>
      ))}
      {visible.length > 0 && (
        <button type="button" className={controls.button} onClick={() => setNotices(false)}>
          Turn off notices
        </button>
      )}
    </div>
  );
}
