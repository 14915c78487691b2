/** Items of the navigation, in display order. */

export interface NavItem {
  path: string;
  name: string;
  key: string;
  /** Shown only if there are several coordinators. */
  needsCluster?: true;
}

export const NAV_ITEMS: readonly NavItem[] = [
  { path: '/', name: 'Fleet', key: 'f' },
  { path: '/rollouts', name: 'Rollouts', key: 'r' },
  { path: '/daemonsets', name: 'DaemonSets', key: 'd' },
  { path: '/jobs', name: 'Jobs', key: 'j' },
  { path: '/values', name: 'Values', key: 'v' },
  { path: '/services', name: 'Services', key: 's' },
  { path: '/resources', name: 'Resources', key: 'e' },
  { path: '/calendar', name: 'Calendar', key: 'c' },
  { path: '/onboarding', name: 'Onboarding', key: 'o' },
  { path: '/coordinators', name: 'Coordinators', key: 'k', needsCluster: true },
  { path: '/audit', name: 'Activity', key: 'a' },
];
