/** Page to create a DaemonSet: the editor with an initial manifest. */
import { Link, useLocation } from 'wouter';
import controls from '../layout/controls.module.css';
import { Page } from '../layout/shell/page.js';
import { t } from '../texts/translate.js';
import { ManifestEditor } from './manifest-editor.js';

const BEGINNING = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: my-daemon
  namespace: default
spec:
  selector:
    matchLabels:
      app: my-daemon
  template:
    metadata:
      labels:
        app: my-daemon
    spec:
      containers:
        - name: main
          image: registry.example/my-daemon:1.0.0
          resources:
            limits:
              memory: 64Mi
`;

export function NewDaemonSetPage() {
  const [, go] = useLocation();
  return (
    <Page title="New DaemonSet">
      <p>
        <Link href="/daemonsets">DaemonSets</Link>
      </p>
      <h1>{t('A new DaemonSet')}</h1>
      <section className={controls.card} aria-label="Manifest">
        <ManifestEditor
          firstText={BEGINNING}
          onDone={(written) =>
            go(written ? `/daemonsets/${written.metadata.namespace}/${written.metadata.name}` : '/daemonsets')
          }
        />
      </section>
    </Page>
  );
}
