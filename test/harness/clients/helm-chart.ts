/** A chart with a DaemonSet and the objects around it, like public charts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NAME = '{{ .Release.Name }}';

const LABELS = `
    app.kubernetes.io/name: sentry
    app.kubernetes.io/instance: ${NAME}`;

const RULES = `
rules:
  - apiGroups: [""]
    resources: [nodes, pods]
    verbs: [get, list, watch]`;

const FILES: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: sentry\nversion: 0.1.0\nkubeVersion: ">=1.25.0-0"\n',
  'values.yaml': 'image: {repository: sentry, tag: "1"}\ninterval: "30"\n',
  'templates/serviceaccount.yaml': `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${NAME}
automountServiceAccountToken: false
`,
  'templates/rbac.yaml': `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ${NAME}${RULES}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ${NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${NAME}}
subjects:
  - {kind: ServiceAccount, name: ${NAME}, namespace: {{ .Release.Namespace }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: ${NAME}${RULES}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ${NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${NAME}}
subjects:
  - {kind: ServiceAccount, name: ${NAME}}
`,
  'templates/service.yaml': `
apiVersion: v1
kind: Service
metadata:
  name: ${NAME}
spec:
  ports:
    - {name: metrics, port: 9100, targetPort: metrics}
    - {name: dns, port: 53, protocol: UDP}
    - {name: dns-tcp, port: 53, protocol: TCP}
  selector:${LABELS}
`,
  'templates/config.yaml': `
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${NAME}
data:
  interval: {{ .Values.interval | quote }}
---
apiVersion: v1
kind: Secret
metadata:
  name: ${NAME}
stringData:
  password: {{ .Values.interval | quote }}
`,
  'templates/daemonset.yaml': `
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: ${NAME}
  labels:${LABELS}
spec:
  selector:
    matchLabels: {app: ${NAME}}
  template:
    metadata:
      labels: {app: ${NAME}}
      annotations:
        checksum/config: {{ .Values.interval | toString | sha256sum }}
    spec:
      serviceAccountName: ${NAME}
      tolerations:
        - operator: Exists
      containers:
        - name: main
          image: {{ .Values.image.repository }}:{{ .Values.image.tag }}
          ports:
            - {name: metrics, containerPort: 9100}
          env:
            - name: INTERVAL
              value: {{ .Values.interval | quote }}
`,
};

/** Writes the chart into `directory`. Values: image.repository, image.tag, interval. */
export function writeChart(directory: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text.trimStart());
  }
}
