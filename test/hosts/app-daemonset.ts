/** The DaemonSet that tests of release artefacts run, to prove that a host starts Pods. Its image is a test image. */
export const APP = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: "app:1"}]}
`;
