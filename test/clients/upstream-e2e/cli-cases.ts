/** Assertions of test/e2e/kubectl and test/e2e/auth. */
import { daemonSet, pod, type UpstreamCase } from './upstream-case.js';

const KUBECTL_FILE = 'kubectl/kubectl.go';
const ACCOUNTS_FILE = 'auth/service_accounts.go';
const READY = /condition met/;
const DEPLOYMENT = { ...daemonSet('diff', 'app:1'), kind: 'Deployment' };
const CAN_READ = {
  user: 'system:serviceaccount:NS:reviewed',
  resourceAttributes: { namespace: 'NS', verb: 'get', resource: 'configmaps' },
};
const REVIEW = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: CAN_READ };

export const CLI_CASES: readonly UpstreamCase[] = [
  {
    title: '[sig-cli] Kubectl client Kubectl api-versions should check if v1 is in available api versions',
    file: KUBECTL_FILE,
    steps: [['api-versions', /^v1$/m]],
  },
  {
    title:
      '[sig-cli] Kubectl client Kubectl cluster-info should check if Kubernetes control plane services is included in cluster-info',
    file: KUBECTL_FILE,
    steps: [['cluster-info', /Kubernetes control plane.*is running at/]],
  },
  {
    title:
      '[sig-cli] Kubectl client Kubectl describe should check if kubectl describe prints relevant information for rc and pods',
    file: KUBECTL_FILE,
    steps: [
      ['create -f -', /created/, pod('described')],
      ['wait pod described --for=condition=Ready --timeout=60s', READY],
      [
        'describe pod described',
        /Name:[\s\S]*Namespace:[\s\S]*Node:[\s\S]*Labels:[\s\S]*Status:[\s\S]*IP:[\s\S]*Image:[\s\S]*State:[\s\S]*QoS Class:/,
      ],
      ['describe node n1', /Name:[\s\S]*Conditions:[\s\S]*Capacity:[\s\S]*Version:[\s\S]*Pods/],
      ['describe namespace NS', /Name:[\s\S]*Labels:[\s\S]*Status: +Active/],
    ],
  },
  {
    title:
      '[sig-cli] Kubectl client Kubectl diff should check if kubectl diff finds a difference for Deployments',
    file: KUBECTL_FILE,
    needs: ['deployments.apps'],
    steps: [
      ['create -f -', /created/, DEPLOYMENT],
      ['!diff -f -', /app:2/, JSON.parse(JSON.stringify(DEPLOYMENT).replace('app:1', 'app:2')) as object],
    ],
  },
  {
    title: '[sig-cli] Kubectl client Kubectl label should update the label on a resource',
    file: KUBECTL_FILE,
    steps: [
      ['create -f -', /created/, pod('labeled')],
      ['label pod labeled testing-label=testing-label-value', /labeled/],
      ['get pod labeled -L testing-label', /testing-label-value/],
      ['label pod labeled testing-label-', /unlabeled/],
      ['get pod -l testing-label', /No resources found/],
    ],
  },
  {
    title: "[sig-cli] Kubectl client Kubectl replace should update a single-container pod's image",
    file: KUBECTL_FILE,
    steps: [
      ['run replaced --image=app:1 --labels=run=replaced', /created/],
      ['wait pod replaced --for=condition=Ready --timeout=60s', READY],
      [
        'replace --force -f -',
        /replaced/,
        pod('replaced', { containers: [{ name: 'main', image: 'app:2' }] }),
      ],
      ['get pod replaced -o jsonpath={.spec.containers[0].image}', /^app:2$/],
    ],
  },
  {
    title: '[sig-cli] Kubectl client Kubectl run pod should create a pod from an image when restart is Never',
    file: KUBECTL_FILE,
    steps: [
      ['run never --restart=Never --image=app:1', /created/],
      ['get pod never -o jsonpath={.spec.restartPolicy},{.spec.containers[0].image}', /^Never,app:1$/],
    ],
  },
  {
    title:
      '[sig-cli] Kubectl client Kubectl server-side dry-run should check if kubectl can dry-run update Pods',
    file: KUBECTL_FILE,
    steps: [
      ['run dry --image=app:1', /created/],
      [
        'patch pod dry -p {"spec":{"containers":[{"name":"dry","image":"app:2"}]}} --dry-run=server',
        /patched/,
      ],
      ['get pod dry -o jsonpath={.spec.containers[0].image}', /^app:1$/],
    ],
  },
  {
    title: '[sig-cli] Kubectl client Kubectl version should check is all data is printed',
    file: KUBECTL_FILE,
    steps: [
      ['version -o yaml', /clientVersion:[\s\S]*major:[\s\S]*serverVersion:[\s\S]*gitCommit:[\s\S]*minor:/],
    ],
  },
  {
    title: '[sig-auth] ServiceAccounts should guarantee kube-root-ca.crt exist in any namespace',
    file: ACCOUNTS_FILE,
    steps: [
      ['~get configmap kube-root-ca.crt -o jsonpath={.data}', /BEGIN CERTIFICATE/],
      ['delete configmap kube-root-ca.crt', /deleted/],
      ['~get configmap kube-root-ca.crt -o jsonpath={.data}', /BEGIN CERTIFICATE/],
      ['patch configmap kube-root-ca.crt --type=merge -p {"data":{"ca.crt":"x"}}', /patched/],
      ['~get configmap kube-root-ca.crt -o jsonpath={.data}', /BEGIN CERTIFICATE/],
    ],
  },
  {
    title: '[sig-auth] ServiceAccounts should run through the lifecycle of a ServiceAccount',
    file: ACCOUNTS_FILE,
    steps: [
      ['create serviceaccount life', /created/],
      ['label serviceaccount life life=static', /labeled/],
      ['patch serviceaccount life -p {"automountServiceAccountToken":false}', /patched/],
      [
        'get serviceaccounts -A -l life=static -o jsonpath={.items[*].automountServiceAccountToken}',
        /^false$/,
      ],
      ['delete serviceaccounts -l life=static', /deleted/],
      ['!get serviceaccount life', /NotFound/],
    ],
  },
  {
    title: '[sig-auth] ServiceAccounts should update a ServiceAccount',
    file: ACCOUNTS_FILE,
    steps: [
      ['create serviceaccount updated', /created/],
      [
        'replace -f -',
        /replaced/,
        {
          apiVersion: 'v1',
          kind: 'ServiceAccount',
          metadata: { name: 'updated' },
          automountServiceAccountToken: true,
        },
      ],
      ['get serviceaccount updated -o jsonpath={.automountServiceAccountToken}', /^true$/],
    ],
  },
  {
    title: '[sig-auth] ServiceAccounts should mount an API token into pods',
    file: ACCOUNTS_FILE,
    steps: [
      ['create serviceaccount mounted', /created/],
      ['create -f -', /created/, pod('mounted', { serviceAccountName: 'mounted' })],
      [
        'get pod mounted -o jsonpath={.spec.containers[0].volumeMounts[*].mountPath}{.spec.volumes}',
        /\/var\/run\/secrets\/kubernetes.io\/serviceaccount.*serviceAccountToken/,
      ],
    ],
  },
  {
    title: '[sig-auth] ServiceAccounts should allow opting out of API token automount',
    file: ACCOUNTS_FILE,
    steps: [
      ['create serviceaccount out', /created/],
      [
        'create -f -',
        /created/,
        pod('out', { serviceAccountName: 'out', automountServiceAccountToken: false }),
      ],
      ['get pod out -o jsonpath={.spec.volumes}', /^$/],
    ],
  },
  {
    title: '[sig-auth] ServiceAccounts should mount projected service account token',
    file: ACCOUNTS_FILE,
    steps: [
      [
        'create -f -',
        /created/,
        pod('projected', {
          volumes: [{ name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
        }),
      ],
      ['wait pod projected --for=condition=Ready --timeout=60s', READY],
      ['get pod projected -o jsonpath={.spec.volumes[*].projected.sources}', /"expirationSeconds":3600/],
    ],
  },
  {
    title:
      '[sig-auth] ServiceAccounts ServiceAccountIssuerDiscovery should support OIDC discovery of service account issuer',
    file: ACCOUNTS_FILE,
    steps: [
      ['get --raw /.well-known/openid-configuration', /"issuer":"[^"]+".*"jwks_uri"/],
      ['get --raw /openid/v1/jwks', /"keys":\[\{/],
    ],
  },
  {
    title: '[sig-auth] SubjectReview should support SubjectReview API operations',
    file: 'auth/subjectreviews.go',
    steps: [
      ['create serviceaccount reviewed', /created/],
      ['create -f - -o jsonpath={.status.allowed}', /^(false)?$/, REVIEW],
      ['create role reader --verb=get --resource=configmaps', /created/],
      ['create rolebinding reader --role=reader --serviceaccount=NS:reviewed', /created/],
      ['~create -f - -o jsonpath={.status.allowed}', /^true$/, REVIEW],
      [
        'create -f - -o jsonpath={.status.allowed}',
        /^true$/,
        { ...REVIEW, kind: 'LocalSubjectAccessReview', metadata: { namespace: 'NS' } },
      ],
      ['get configmaps kube-root-ca.crt --as=system:serviceaccount:NS:reviewed', /kube-root-ca/],
    ],
  },
];
