/** Entry point of the web console: sign-in, then the pages. */
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Route, Router, Switch } from 'wouter';
import { FleetPage } from './fleet/fleet-page.js';
import { NotFoundPage } from './layout/shell/not-found-page.js';
import { KeyboardShortcuts } from './palette/keyboard-shortcuts.js';
import { SignInGate } from './sign-in/sign-in-gate.js';
import './theme.css';

/** Loaded on demand. The fleet page is the first that is shown. */
const AuditPage = lazy(async () => ({ default: (await import('./audit/audit-page.js')).AuditPage }));
const CalendarPage = lazy(async () => ({
  default: (await import('./calendar/calendar-page.js')).CalendarPage,
}));
const CoordinatorsPage = lazy(async () => ({
  default: (await import('./coordinators/coordinators-page.js')).CoordinatorsPage,
}));
const DaemonSetPage = lazy(async () => ({
  default: (await import('./daemonsets/daemonset-page.js')).DaemonSetPage,
}));
const DaemonSetsPage = lazy(async () => ({
  default: (await import('./daemonsets/daemonsets-page.js')).DaemonSetsPage,
}));
const NewDaemonSetPage = lazy(async () => ({
  default: (await import('./daemonsets/new-daemonset-page.js')).NewDaemonSetPage,
}));
const HostPage = lazy(async () => ({ default: (await import('./hosts/host-page.js')).HostPage }));
const KindsPage = lazy(async () => ({ default: (await import('./resources/kinds-page.js')).KindsPage }));
const ObjectPage = lazy(async () => ({ default: (await import('./resources/object-page.js')).ObjectPage }));
const ObjectsPage = lazy(async () => ({
  default: (await import('./resources/objects-page.js')).ObjectsPage,
}));
const OnboardingPage = lazy(async () => ({
  default: (await import('./onboarding/onboarding-page.js')).OnboardingPage,
}));
const PodPage = lazy(async () => ({ default: (await import('./pods/pod-page.js')).PodPage }));
const RolloutPage = lazy(async () => ({ default: (await import('./rollouts/rollout-page.js')).RolloutPage }));
const RolloutsPage = lazy(async () => ({
  default: (await import('./rollouts/rollouts-page.js')).RolloutsPage,
}));

const ServicePage = lazy(async () => ({ default: (await import('./services/service-page.js')).ServicePage }));
const ServicesPage = lazy(async () => ({
  default: (await import('./services/services-page.js')).ServicesPage,
}));

function Console() {
  return (
    <Router base="/console">
      <SignInGate>
        <Suspense fallback={<p role="status">Loading…</p>}>
          <Switch>
            <Route path="/" component={FleetPage} />
            <Route path="/hosts/:name" component={HostPage} />
            <Route path="/rollouts" component={RolloutsPage} />
            <Route path="/rollouts/:namespace/:name" component={RolloutPage} />
            <Route path="/daemonsets" component={DaemonSetsPage} />
            <Route path="/daemonsets/new" component={NewDaemonSetPage} />
            <Route path="/daemonsets/:namespace/:name" component={DaemonSetPage} />
            <Route path="/pods/:namespace/:name" component={PodPage} />
            <Route path="/services" component={ServicesPage} />
            <Route path="/services/:namespace/:name" component={ServicePage} />
            <Route path="/resources" component={KindsPage} />
            <Route path="/resources/:group/:version/:resource" component={ObjectsPage} />
            <Route path="/resources/:group/:version/:resource/:namespace/:name" component={ObjectPage} />
            <Route path="/calendar" component={CalendarPage} />
            <Route path="/onboarding" component={OnboardingPage} />
            <Route path="/coordinators" component={CoordinatorsPage} />
            <Route path="/audit" component={AuditPage} />
            <Route component={NotFoundPage} />
          </Switch>
        </Suspense>
        <KeyboardShortcuts />
      </SignInGate>
    </Router>
  );
}

const root = document.getElementById('root');
if (!root) throw new Error('the page lacks the element #root');
createRoot(root).render(
  <StrictMode>
    <Console />
  </StrictMode>,
);
