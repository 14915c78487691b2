/** Terraform keeps its state in a Secret and locks it by a Lease (backend `kubernetes`). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type ClientCheck,
  type ClientCommand,
  commandChecks,
  describeClient,
  programVersion,
  runProgram,
} from '../../harness/clients/client-program.js';

/** `terraform_data` is built into the program: a provider would have to be downloaded. */
const CONFIGURATION = `
variable "image" { default = "app:1" }
terraform {
  backend "kubernetes" {
    secret_suffix = "edge"
    namespace     = "default"
  }
}
resource "terraform_data" "daemon" { input = var.image }
output "image" { value = terraform_data.daemon.output }
`;
const LOCK = 'lease lock-tfstate-default-edge';
const LOCK_INFO = JSON.stringify({ ID: 'other', Operation: 'OperationTypeApply', Who: 'somebody' });

const APPLIES: readonly ClientCommand[] = [
  ['init', /Successfully configured the backend "kubernetes"/],
  ['apply -auto-approve', /Apply complete! Resources: 1 added/],
  ['plan -detailed-exitcode', /No changes/],
  ['apply -auto-approve -var image=app:2', /Apply complete! Resources: 0 added, 1 changed/],
  ['output -raw image', /^app:2$/],
  ['state list', /terraform_data\.daemon/],
  ['workspace new other', /Created and switched to workspace "other"/],
  ['workspace list', /default\s+\* other/],
  ['workspace select default', /Switched/],
];
const DESTROYS: readonly ClientCommand[] = [
  ['force-unlock -force other', /successfully unlocked/],
  ['destroy -auto-approve', /Destroy complete! Resources: 1 destroyed/],
];

const found = programVersion('terraform', ['version'], /Terraform v(\S+)/);

describeClient('state in a Secret, locked by a Lease', 'terraform', found, async (fleet) => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'main.tf'), CONFIGURATION);
  const environment = {
    KUBE_CONFIG_PATH: fleet.kubeconfigPath,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
  };
  const terraform = (words: readonly string[]) =>
    runProgram('terraform', [`-chdir=${folder}`, ...words], { ...environment, TF_CLI_ARGS: '-no-color' });
  const applied = await commandChecks(APPLIES, terraform);

  const secret = await fleet.kubectl.run(['get', 'secret', 'tfstate-default-edge', '-o', 'name']);
  await fleet.kubectl.run([
    'annotate',
    ...LOCK.split(' '),
    '--overwrite',
    `app.terraform.io/lock-info=${LOCK_INFO}`,
  ]);
  await fleet.kubectl.ok(`patch ${LOCK} --type=merge -p {"spec":{"holderIdentity":"other"}}`);
  const locked = await terraform(['apply', '-auto-approve']);
  const isLocked = locked.code === 1 && /Error acquiring the state lock/.test(locked.stderr);
  const own: ClientCheck[] = [
    { title: 'the state is in a Secret', error: secret.code === 0 ? undefined : secret.stderr },
    {
      title: 'a state that is locked is refused',
      error: isLocked ? undefined : locked.stdout + locked.stderr,
    },
  ];
  return [...applied, ...own, ...(await commandChecks(DESTROYS, terraform))];
});
