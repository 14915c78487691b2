/** Navigation of phones: a bar at the bottom, within reach of a thumb. `More` opens the other pages. */
import { Boxes, Ellipsis, LayoutDashboard, Search, Server } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { t } from '../../texts/translate.js';
import classes from './bottom-bar.module.css';
import { MoreSheet } from './more-sheet.js';
import { ADD_HOST, isAtItem, type NavItem } from './navigation.js';

interface BottomBarProps {
  items: readonly NavItem[];
  onSearch: () => void;
}

export function BottomBar({ items, onSearch }: BottomBarProps) {
  const [at] = useLocation();
  const [openedAt, setOpenedAt] = useState<string>();
  // Going Back to another page closes the sheet, also for a later visit of this page.
  if (openedAt !== undefined && openedAt !== at) setOpenedAt(undefined);
  const here = items.find((item) => isAtItem(item, at));
  const current = (isHere: boolean) => (isHere ? 'page' : undefined);
  return (
    <>
      <nav className={classes.bar} aria-label={t('Main')}>
        <Link href="/" aria-current={current(at === '/')}>
          <LayoutDashboard aria-hidden="true" /> {t('Overview')}
        </Link>
        <Link href="/hosts" aria-current={current(here?.path === '/hosts')}>
          <Server aria-hidden="true" /> {t('Hosts')}
        </Link>
        <Link href="/daemonsets" aria-current={current(here?.section === 'Workloads')}>
          <Boxes aria-hidden="true" /> {t('Workloads')}
        </Link>
        <button type="button" onClick={onSearch}>
          <Search aria-hidden="true" /> {t('Search')}
        </button>
        <button type="button" aria-haspopup="dialog" onClick={() => setOpenedAt(at)}>
          <Ellipsis aria-hidden="true" /> {t('More')}
        </button>
      </nav>
      {openedAt === at && (
        <MoreSheet
          items={[...items.filter(({ section }) => section === 'Operations'), ADD_HOST]}
          onClose={() => setOpenedAt(undefined)}
        />
      )}
    </>
  );
}
