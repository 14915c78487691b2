/** Ansible's collection kubernetes.core, unmodified, against a coordinator and hollow hosts. */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import {
  type ClientCheck,
  describeClient,
  programVersion,
  runProgram,
} from '../../harness/clients/client-program.js';
import { writeChart } from '../../harness/clients/helm-chart.js';

const PLAYBOOK = resolve(import.meta.dirname, '../programs/ansible.yaml');

/** Output of Ansible's callback `json`. */
interface PlaybookResult {
  plays: { tasks: { task: { name: string }; hosts: Record<string, { failed?: boolean; msg?: string }> }[] }[];
}

const helm = findClient('helm-3.17.2');
const found =
  'why' in helm
    ? helm
    : programVersion(
        'ansible-galaxy',
        ['collection', 'list', 'kubernetes.core'],
        /^kubernetes\.core\s+(\S+)/m,
      );

describeClient(
  'k8s, k8s_info, k8s_exec, k8s_log, k8s_rollback, k8s_drain, helm',
  'ansible-kubernetes.core',
  found,
  async (fleet) => {
    assert.ok('path' in helm);
    const chart = temporaryDirectory();
    writeChart(chart);
    const variables = { ansible_python_interpreter: '/usr/bin/python3', node: 'n2', chart, helm: helm.path };
    const { stdout, stderr } = await runProgram(
      'ansible-playbook',
      ['-i', 'localhost,', '-e', JSON.stringify(variables), PLAYBOOK],
      {
        K8S_AUTH_KUBECONFIG: fleet.kubeconfigPath,
        ANSIBLE_STDOUT_CALLBACK: 'json',
        ANSIBLE_DEPRECATION_WARNINGS: '0',
        HOME: temporaryDirectory(),
      },
    );
    assert.match(stdout, /\{/, stderr);
    const { plays } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as PlaybookResult;
    return plays.flatMap(({ tasks }) =>
      tasks.map(({ task, hosts }): ClientCheck => {
        const result = hosts.localhost;
        return { title: task.name, error: result?.failed ? JSON.stringify(result) : undefined };
      }),
    );
  },
);
