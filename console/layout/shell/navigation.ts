/** Items of the navigation, in display order. */
import {
  Boxes,
  CalendarClock,
  Cpu,
  History,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  Network,
  Plus,
  Rocket,
  Server,
  Shapes,
  SlidersHorizontal,
} from 'lucide-react';

export type NavSection = 'Fleet' | 'Workloads' | 'Operations';

export interface NavItem {
  path: string;
  name: string;
  key: string;
  section: NavSection;
  icon: LucideIcon;
  /** Shown only if there are several coordinators. */
  needsCluster?: true;
}

export const NAV_ITEMS: readonly NavItem[] = [
  { path: '/', name: 'Overview', key: 'o', section: 'Fleet', icon: LayoutDashboard },
  { path: '/hosts', name: 'Hosts', key: 'h', section: 'Fleet', icon: Server },
  { path: '/daemonsets', name: 'DaemonSets', key: 'd', section: 'Workloads', icon: Boxes },
  { path: '/rollouts', name: 'Rollouts', key: 'r', section: 'Workloads', icon: Rocket },
  { path: '/jobs', name: 'Jobs', key: 'j', section: 'Workloads', icon: ListChecks },
  { path: '/values', name: 'Values', key: 'v', section: 'Workloads', icon: SlidersHorizontal },
  { path: '/services', name: 'Services', key: 's', section: 'Workloads', icon: Network },
  { path: '/calendar', name: 'Schedule', key: 'c', section: 'Operations', icon: CalendarClock },
  { path: '/audit', name: 'Activity', key: 'a', section: 'Operations', icon: History },
  { path: '/resources', name: 'Resources', key: 'e', section: 'Operations', icon: Shapes },
  {
    ...{ path: '/coordinators', name: 'Coordinators', key: 'k', section: 'Operations', icon: Cpu },
    needsCluster: true,
  },
];

/** Shown as a button. */
export const ADD_HOST: NavItem = {
  ...{ path: '/onboarding', name: 'Add host', key: 'n', section: 'Fleet', icon: Plus },
};

/** Everything that the palette and single keys can open. */
export const NAV_PLACES: readonly NavItem[] = [...NAV_ITEMS, ADD_HOST];

/** Returns true if `path` shows the item's page, or one of an object below it. Pure. */
export function isAtItem({ path }: NavItem, at: string): boolean {
  return at === path || (path !== '/' && at.startsWith(`${path}/`));
}
