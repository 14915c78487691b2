"""What users of the Python client do: typed and dynamic client, stream, watch and leader election."""
import json
import threading
import time
import uuid

from checks import check, run_checks
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock
from kubernetes.stream import stream

config.load_kube_config()
core = client.CoreV1Api()
apps = client.AppsV1Api()
NAMESPACE = "default"
DEADLINE_SECONDS = 30


def wait_for(condition, what):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError("no " + what)


def status_of(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except ApiException as error:
        return error.status
    return 200


def daemon_set(name, image="app:1"):
    labels = {"app": name}
    return client.V1DaemonSet(
        metadata=client.V1ObjectMeta(name=name, labels=labels),
        spec=client.V1DaemonSetSpec(
            selector=client.V1LabelSelector(match_labels=labels),
            template=client.V1PodTemplateSpec(
                metadata=client.V1ObjectMeta(labels=labels),
                spec=client.V1PodSpec(
                    containers=[client.V1Container(name="main", image=image)]
                ),
            ),
        ),
    )


def pod_of(name):
    pods = core.list_namespaced_pod(NAMESPACE, label_selector="app=" + name).items
    return next((pod for pod in pods if pod.status.phase == "Running"), None)


@check("typed: create, read, patch, replace, list and delete a DaemonSet")
def _():
    created = apps.create_namespaced_daemon_set(NAMESPACE, daemon_set("typed"))
    assert created.spec.update_strategy.type == "RollingUpdate", created
    assert created.metadata.creation_timestamp.tzinfo is not None
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "app:2"}]}}}}
    patched = apps.patch_namespaced_daemon_set("typed", NAMESPACE, patch)
    assert patched.spec.template.spec.containers[0].image == "app:2"
    assert patched.metadata.generation == 2
    wait_for(
        lambda: apps.read_namespaced_daemon_set_status("typed", NAMESPACE).status.number_ready >= 1,
        "ready Pod",
    )
    while True:
        body = apps.read_namespaced_daemon_set("typed", NAMESPACE)
        body.metadata.annotations = {"note": "kept"}
        try:
            replaced = apps.replace_namespaced_daemon_set("typed", NAMESPACE, body)
            break
        except ApiException as error:
            # The controller may write the status in between.
            assert error.status == 409, error
    assert replaced.metadata.annotations["note"] == "kept"
    listed = apps.list_daemon_set_for_all_namespaces(field_selector="metadata.name=typed").items
    assert [item.metadata.name for item in listed] == ["typed"]
    answer = apps.delete_namespaced_daemon_set("typed", NAMESPACE, propagation_policy="Foreground")
    assert answer.status in ("Success", None) or answer.metadata, answer
    wait_for(
        lambda: status_of(apps.read_namespaced_daemon_set, "typed", NAMESPACE) == 404,
        "end of the DaemonSet",
    )


@check("typed: 404, 409 and 422 are ApiExceptions")
def _():
    assert status_of(core.read_namespaced_config_map, "absent", NAMESPACE) == 404
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="twice"))
    core.create_namespaced_config_map(NAMESPACE, body)
    assert status_of(core.create_namespaced_config_map, NAMESPACE, body) == 409
    body.metadata.name = "Not Valid"
    assert status_of(core.create_namespaced_config_map, NAMESPACE, body) == 422
    core.delete_namespaced_config_map("twice", NAMESPACE)


@check("typed: a list in pages returns every object once")
def _():
    prefix = "page-" + uuid.uuid4().hex[:6]
    for index in range(7):
        core.create_namespaced_config_map(
            NAMESPACE,
            client.V1ConfigMap(
                metadata=client.V1ObjectMeta(name="%s-%d" % (prefix, index), labels={"page": prefix})
            ),
        )
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(
            NAMESPACE, label_selector="page=" + prefix, limit=3, _continue=token
        )
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert names == ["%s-%d" % (prefix, index) for index in range(7)], names
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="page=" + prefix)
    left = core.list_namespaced_config_map(NAMESPACE, label_selector="page=" + prefix).items
    assert left == [], left


@check("typed: Secrets, ServiceAccounts, roles, access reviews and versions")
def _():
    core.create_namespaced_secret(
        NAMESPACE, client.V1Secret(metadata=client.V1ObjectMeta(name="key"), string_data={"a": "b"})
    )
    assert core.read_namespaced_secret("key", NAMESPACE).data == {"a": "Yg=="}
    core.delete_namespaced_secret("key", NAMESPACE)
    review = client.AuthorizationV1Api().create_self_subject_access_review(
        client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(
                resource_attributes=client.V1ResourceAttributes(
                    verb="create", group="apps", resource="daemonsets", namespace=NAMESPACE
                )
            )
        )
    )
    assert review.status.allowed
    assert client.VersionApi().get_code().major == "1"
    assert "apps" in [group.name for group in client.ApisApi().get_api_versions().groups]
    assert "daemonsets" in [item.name for item in apps.get_api_resources().resources]
    token = core.create_namespaced_service_account_token(
        "default",
        NAMESPACE,
        client.AuthenticationV1TokenRequest(
            spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600)
        )
        if hasattr(client, "AuthenticationV1TokenRequest")
        else {"spec": {"expirationSeconds": 600}},
    )
    assert token.status.token


@check("typed: nodes are read, labelled, cordoned and uncordoned")
def _():
    node = core.list_node().items[0].metadata.name
    core.patch_node(node, {"metadata": {"labels": {"site": "north"}}, "spec": {"unschedulable": True}})
    assert core.read_node(node).spec.unschedulable
    assert core.list_node(label_selector="site=north").items[0].metadata.name == node
    core.patch_node(node, {"metadata": {"labels": {"site": None}}, "spec": {"unschedulable": None}})
    assert not core.read_node(node).spec.unschedulable


@check("typed: create_from_dict creates a manifest of several kinds")
def _():
    utils.create_from_dict(
        client.ApiClient(),
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "from-dict"}},
                {
                    "apiVersion": "v1",
                    "kind": "Service",
                    "metadata": {"name": "from-dict"},
                    "spec": {"selector": {"app": "x"}, "ports": [{"port": 80}]},
                },
            ],
        },
    )
    assert core.read_namespaced_service("from-dict", NAMESPACE).spec.ports[0].target_port == 80
    core.delete_namespaced_service("from-dict", NAMESPACE)
    core.delete_namespaced_config_map("from-dict", NAMESPACE)


@check("typed: logs and evictions of a Pod")
def _():
    apps.create_namespaced_daemon_set(NAMESPACE, daemon_set("logged"))
    pod = wait_for(lambda: pod_of("logged"), "running Pod").metadata.name
    assert isinstance(core.read_namespaced_pod_log(pod, NAMESPACE, tail_lines=5), str)
    followed = core.read_namespaced_pod_log(
        pod, NAMESPACE, follow=True, _preload_content=False, _request_timeout=5
    )
    followed.close()
    core.create_namespaced_pod_eviction(
        pod, NAMESPACE, client.V1Eviction(metadata=client.V1ObjectMeta(name=pod, namespace=NAMESPACE))
    )
    wait_for(lambda: status_of(core.read_namespaced_pod, pod, NAMESPACE) == 404, "evicted Pod")
    apps.delete_namespaced_daemon_set("logged", NAMESPACE)


@check("dynamic: discovery, apply, get, patch and delete")
def _():
    dynamic_client = dynamic.DynamicClient(client.ApiClient())
    maps = dynamic_client.resources.get(api_version="v1", kind="ConfigMap")
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "dynamic", "namespace": NAMESPACE},
        "data": {"a": "1"},
    }
    # Version 22 of the client sends an apply only if its body is text.
    applied = maps.server_side_apply(
        body=json.dumps(body), name="dynamic", namespace=NAMESPACE, field_manager="tool"
    )
    assert applied.data.a == "1"
    assert applied.metadata.managedFields[0].manager == "tool"
    patched = maps.patch(
        body={"data": {"b": "2"}},
        name="dynamic",
        namespace=NAMESPACE,
        content_type="application/merge-patch+json",
    )
    assert patched.data.b == "2"
    assert maps.get(name="dynamic", namespace=NAMESPACE).data.a == "1"
    sets = dynamic_client.resources.get(api_version="apps/v1", kind="DaemonSet")
    assert sets.subresources["status"]
    assert maps.get(namespace=NAMESPACE, label_selector="none=such").items == []
    maps.delete(name="dynamic", namespace=NAMESPACE)
    searched = dynamic_client.resources.search(kind="Rollout")
    assert [item.group_version for item in searched] != []
    assert dynamic_client.version["kubernetes"]["major"] == "1"


@check("dynamic: a watch returns added, modified and deleted objects")
def _():
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
    version = maps.get(namespace=NAMESPACE).metadata.resourceVersion
    seen = []

    def follow():
        for event in maps.watch(
            namespace=NAMESPACE,
            field_selector="metadata.name=seen",
            resource_version=version,
            timeout=10,
        ):
            seen.append(event["type"])
            if event["type"] == "DELETED":
                return

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "seen"}}
    maps.create(body=body, namespace=NAMESPACE)
    maps.patch(
        body={"data": {"a": "1"}},
        name="seen",
        namespace=NAMESPACE,
        content_type="application/merge-patch+json",
    )
    maps.delete(name="seen", namespace=NAMESPACE)
    thread.join(15)
    assert seen == ["ADDED", "MODIFIED", "DELETED"], seen


@check("stream: a command in a container, its output and its exit code")
def _():
    apps.create_namespaced_daemon_set(NAMESPACE, daemon_set("streamed"))
    pod = wait_for(lambda: pod_of("streamed"), "running Pod").metadata.name
    output = stream(
        core.connect_get_namespaced_pod_exec,
        pod,
        NAMESPACE,
        command=["echo", "from the container"],
        stderr=True,
        stdin=False,
        stdout=True,
        tty=False,
    )
    assert "from the container" in output, output
    session = stream(
        core.connect_get_namespaced_pod_exec,
        pod,
        NAMESPACE,
        command=["cat"],
        stderr=True,
        stdin=True,
        stdout=True,
        tty=False,
        _preload_content=False,
    )
    session.write_stdin("line\n")
    assert session.readline_stdout(timeout=10) == "line"
    session.close()
    ended = stream(
        core.connect_get_namespaced_pod_exec,
        pod,
        NAMESPACE,
        command=["exit", "3"],
        stderr=True,
        stdin=False,
        stdout=True,
        tty=False,
        _preload_content=False,
    )
    ended.run_forever(timeout=10)
    assert ended.returncode == 3, ended.returncode
    apps.delete_namespaced_daemon_set("streamed", NAMESPACE)


@check("watch: resumes at a resourceVersion and ends at timeout_seconds")
def _():
    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(
        NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="watched"))
    )
    core.delete_namespaced_config_map("watched", NAMESPACE)
    started = time.monotonic()
    events = [
        (event["type"], event["object"].metadata.name)
        for event in watch.Watch().stream(
            core.list_namespaced_config_map,
            NAMESPACE,
            resource_version=version,
            timeout_seconds=2,
            field_selector="metadata.name=watched",
        )
    ]
    assert events == [("ADDED", "watched"), ("DELETED", "watched")], events
    assert time.monotonic() - started < 10
    lines = watch.Watch().stream(core.list_namespaced_event, NAMESPACE, timeout_seconds=1)
    assert all(event["object"].involved_object.kind for event in lines)


@check("leader election: one of two candidates leads, and the other follows")
def _():
    name = "election-" + uuid.uuid4().hex[:6]
    leaders = []

    def campaign(identity):
        lock = ConfigMapLock(name, NAMESPACE, identity)
        leaderelection.LeaderElection(
            electionconfig.Config(
                lock,
                lease_duration=6,
                renew_deadline=4,
                retry_period=1,
                onstarted_leading=lambda: leaders.append(identity),
                onstopped_leading=lambda: None,
            )
        ).run()

    for identity in ("first", "second"):
        threading.Thread(target=campaign, args=(identity,), daemon=True).start()
    wait_for(lambda: leaders, "leader")
    time.sleep(3)
    assert len(leaders) == 1, leaders
    record = core.read_namespaced_config_map(name, NAMESPACE).metadata.annotations[
        "control-plane.alpha.kubernetes.io/leader"
    ]
    assert '"holderIdentity": "%s"' % leaders[0] in record, record


@check("leader election: a Lease is created, renewed and taken over by its resourceVersion")
def _():
    leases = client.CoordinationV1Api()
    now = "2026-01-01T00:00:00.000000Z"
    body = client.V1Lease(
        metadata=client.V1ObjectMeta(name="leader"),
        spec=client.V1LeaseSpec(holder_identity="a", lease_duration_seconds=15, renew_time=now),
    )
    created = leases.create_namespaced_lease(NAMESPACE, body)
    created.spec.holder_identity = "b"
    leases.replace_namespaced_lease("leader", NAMESPACE, created)
    created.spec.holder_identity = "c"
    assert status_of(leases.replace_namespaced_lease, "leader", NAMESPACE, created) == 409
    assert leases.read_namespaced_lease("leader", NAMESPACE).spec.holder_identity == "b"
    leases.delete_namespaced_lease("leader", NAMESPACE)


run_checks()
