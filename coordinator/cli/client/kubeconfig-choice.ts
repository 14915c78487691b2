/** Selects the kubeconfig of a command. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { kubeconfigPath } from '../../coordinator-data-dir.js';

export interface KubeconfigOptions {
  kubeconfig?: string;
  context?: string;
  /** Data directory of a coordinator on this machine. */
  data?: string;
}

export interface KubeconfigChoice {
  /** In order of precedence: the first file that names something wins. */
  files: readonly string[];
  /** The option, variable or default that selected the files; for errors. */
  source: '--kubeconfig' | '--data' | '$KUBECONFIG' | '~/.kube/config' | 'the default data directory';
  /** True for the file that a coordinator wrote into its data directory. */
  isOwn: boolean;
}

interface Surroundings {
  /** Value of the variable KUBECONFIG. */
  variable: string | undefined;
  homeDir: string;
  defaultDataDir: string;
  exists: (path: string) => boolean;
}

/** The last sentence of every kubeconfig error. */
export const CHOOSE_ANOTHER =
  'Select a kubeconfig with --kubeconfig FILE or $KUBECONFIG, or pass --data DIR for a coordinator on this machine.';

/** Adds the options that select a coordinator and a user. */
export function addKubeconfigOptions(command: Command): Command {
  return addContextOptions(command).option(
    '--data <DIR>',
    'use the kubeconfig in the data directory of a coordinator on this machine',
  );
}

/** Adds those options without `--data`. */
export function addContextOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <FILE>',
      'kubeconfig to use (default $KUBECONFIG, ~/.kube/config, or the one of a coordinator on this machine)',
    )
    .option('--context <NAME>', 'context of the kubeconfig (default its current context)');
}

/** Like kubectl (client-go `tools/clientcmd/loader.go`), then the coordinator of this machine. */
export function chooseKubeconfig(
  { kubeconfig, data }: KubeconfigOptions,
  { variable, homeDir, defaultDataDir, exists }: Surroundings,
): KubeconfigChoice {
  if (kubeconfig) return { files: [kubeconfig], source: '--kubeconfig', isOwn: false };
  if (data) return { files: [kubeconfigPath(data)], source: '--data', isOwn: true };
  const listed = [...new Set((variable ?? '').split(':').filter(Boolean))];
  if (listed.length > 0) return { files: listed, source: '$KUBECONFIG', isOwn: false };
  const ofHome = join(homeDir, '.kube', 'config');
  if (exists(ofHome)) return { files: [ofHome], source: '~/.kube/config', isOwn: false };
  return { files: [kubeconfigPath(defaultDataDir)], source: 'the default data directory', isOwn: true };
}
