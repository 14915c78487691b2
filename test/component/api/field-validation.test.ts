/** The cases of upstream's `field_validation_test.go` for a Deployment, with a DaemonSet. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { type CallAnswer, call } from '../../harness/api/https-call.js';

const SETS = '/apis/apps/v1/namespaces/default/daemonsets';

const JSON_BODY = `{
  "apiVersion": "apps/v1", "kind": "DaemonSet",
  "metadata": {
    "name": "first",
    "name": "NAME",
    "unknownMeta": "x",
    "labels": {"l": "1", "l": "2"}
  },
  "spec": {
    "unknownDupe": "1",
    "unknownDupe": "2",
    "minReadySeconds": 1,
    "minReadySeconds": 2,
    "selector": {"matchLabels": {"app": "a"}},
    "template": {
      "metadata": {"labels": {"app": "a"}},
      "spec": {"containers": [{
        "name": "c", "image": "i", "unknownNested": 1,
        "imagePullPolicy": "Always",
        "imagePullPolicy": "Never"}]}}}}`;
const OF_JSON = [
  'duplicate field "metadata.name"',
  'unknown field "metadata.unknownMeta"',
  'duplicate field "metadata.labels.l"',
  'unknown field "spec.unknownDupe"',
  'duplicate field "spec.minReadySeconds"',
  'unknown field "spec.template.spec.containers[0].unknownNested"',
  'duplicate field "spec.template.spec.containers[0].imagePullPolicy"',
];

const YAML_BODY = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: first
  name: NAME
spec:
  unknownDupe: 1
  unknownDupe: 2
  selector:
    matchLabels: {app: a}
  template:
    metadata:
      labels: {app: a}
    spec:
      containers:
      - name: c
        image: i
        imagePullPolicy: Always
        imagePullPolicy: Never
`;
const OF_YAML = [
  'line 5: key "name" already set in map',
  'line 8: key "unknownDupe" already set in map',
  'line 19: key "imagePullPolicy" already set in map',
];

const MERGE_PATCH = `{"spec":{"unknownDupe":1,"unknownDupe":2,"minReadySeconds":1,"minReadySeconds":2}}`;
const OF_MERGE_PATCH = [
  'duplicate field "spec.unknownDupe"',
  'duplicate field "spec.minReadySeconds"',
  'unknown field "spec.unknownDupe"',
];

const JSON_PATCH = `[
  {"op":"add","path":"/spec/minReadySeconds","value":1,"foo":"x"},
  {"op":"add","path":"/spec/x","path":"/spec/unknown1","value":{"k":1,"k":2}}]`;
const OF_JSON_PATCH = [
  'json patch unknown field "[0].foo"',
  'json patch duplicate field "[1].path"',
  'json patch duplicate field "[1].value.k"',
  'unknown field "spec.unknown1"',
];

const APPLIED = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"NAME"},"spec":{
  "minReadySeconds":1,
  "minReadySeconds":2,
  "selector":{"matchLabels":{"app":"a"}},
  "template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i",
    "image":"j"}]}}}}`;
const OF_APPLY = [
  'line 3: key "minReadySeconds" already set in map',
  'line 6: key "image" already set in map',
];

let api: TestApi;
before(async () => {
  api = await startTestApi();
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const body = { metadata: { name: 'there' }, spec: { selector: { matchLabels: { app: 'a' } }, template } };
  assert.equal((await call(api, `POST ${SETS}`, { body })).code, 201);
});
after(() => api.stop());

function send(line: string, type: string, text: string): Promise<CallAnswer> {
  const [verb = '', path = ''] = line.split(' ');
  const separator = path.includes('?') ? '&' : '?';
  return call(api, `${verb} ${path}${separator}dryRun=All`, {
    body: Buffer.from(text.replace('NAME', 'there')),
    headers: { 'content-type': type },
  });
}

/** Texts of the `Warning:` headers. */
function warningsOf({ headers }: CallAnswer): string[] {
  const joined = [headers.warning ?? []].flat().join(', ');
  return [...joined.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  );
}

const yamlError = (lines: readonly string[]) =>
  `yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`;
const strict = (texts: readonly string[]) => `strict decoding error: ${texts.join(', ')}`;
const UNKNOWN_OF_YAML = 'unknown field "spec.unknownDupe"';

interface Case {
  what: string;
  line: string;
  type: string;
  text: string;
  warnings: string[];
  code: number;
  error: string;
}

const JSON_TYPE = 'application/json';
const CASES: Case[] = [
  {
    ...{
      what: 'POST of JSON',
      line: `POST ${SETS}`,
      type: JSON_TYPE,
      text: JSON_BODY.replace('NAME', 'new'),
    },
    ...{ warnings: OF_JSON, code: 400, error: strict(OF_JSON) },
  },
  {
    ...{ what: 'PUT of JSON', line: `PUT ${SETS}/there`, type: JSON_TYPE, text: JSON_BODY },
    ...{ warnings: OF_JSON, code: 400, error: strict(OF_JSON) },
  },
  {
    ...{ what: 'PUT of YAML', line: `PUT ${SETS}/there`, type: 'application/yaml', text: YAML_BODY },
    ...{ warnings: [...OF_YAML, UNKNOWN_OF_YAML], code: 400 },
    error: strict([yamlError(OF_YAML), UNKNOWN_OF_YAML]),
  },
  ...['merge-patch', 'strategic-merge-patch'].map((patch) => ({
    ...{ what: patch, line: `PATCH ${SETS}/there`, type: `application/${patch}+json`, text: MERGE_PATCH },
    ...{ warnings: OF_MERGE_PATCH, code: 422, error: strict(OF_MERGE_PATCH) },
  })),
  {
    ...{
      what: 'json-patch',
      line: `PATCH ${SETS}/there`,
      type: 'application/json-patch+json',
      text: JSON_PATCH,
    },
    ...{ warnings: OF_JSON_PATCH, code: 422, error: strict(OF_JSON_PATCH) },
  },
  {
    ...{
      what: 'apply',
      line: `PATCH ${SETS}/there?fieldManager=m&force=true`,
      type: 'application/apply-patch+yaml',
    },
    ...{ text: APPLIED, warnings: OF_APPLY, code: 400 },
    error: `error strict decoding YAML: error converting YAML to JSON: ${yamlError(OF_APPLY)}`,
  },
];

for (const { what, line, type, text, warnings, code, error } of CASES) {
  const separator = line.includes('?') ? '&' : '?';
  describe(`repeated keys in a ${what}`, () => {
    test('Strict rejects them', async () => {
      const answer = await send(`${line}${separator}fieldValidation=Strict`, type, text);
      assert.equal(answer.code, code, answer.text);
      const { message } = answer.json<{ message: string }>();
      assert.ok(message.endsWith(error), message);
    });

    test('Warn, the default, names each in a warning', async () => {
      const answer = await send(line, type, text);
      assert.ok(answer.code < 300, answer.text);
      assert.deepEqual(warningsOf(answer), warnings);
    });

    test('Ignore is silent; the last one applies', async () => {
      const answer = await send(`${line}${separator}fieldValidation=Ignore`, type, text);
      assert.ok(answer.code < 300, answer.text);
      assert.deepEqual(warningsOf(answer), []);
    });
  });
}
