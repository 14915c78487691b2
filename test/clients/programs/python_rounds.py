"""List-and-patch rounds over one connection. Any refusal ends the program with its error."""
import sys

from kubernetes import client, config

NAMESPACE = "default"
NAME = "rounds"

config.load_kube_config()
core = client.CoreV1Api()
rounds = int(sys.argv[1])
core.create_namespaced_config_map(
    NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=NAME, labels={"rounds": "yes"}))
)
for number in range(rounds):
    items = core.list_namespaced_config_map(NAMESPACE, label_selector="rounds=yes").items
    assert [item.metadata.name for item in items] == [NAME], items
    version = items[0].metadata.resource_version
    # With the version of the list, so that a list that is older than the patch before is a refusal.
    body = {"metadata": {"resourceVersion": version}, "data": {"round": str(number)}}
    patched = core.patch_namespaced_config_map(NAME, NAMESPACE, body)
    assert patched.data["round"] == str(number), patched
core.delete_namespaced_config_map(NAME, NAMESPACE)
print("%d rounds" % rounds)
