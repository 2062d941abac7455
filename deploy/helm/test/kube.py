"""Installs, upgrades, rolls back and removes the chart on a real API server with controllers and
scheduler; kwok simulates nodes and kubelets. Run by bin/kube."""

import base64
import json
import os
import pathlib
import secrets
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

import yaml

import chart

BIN = pathlib.Path(os.environ["KUBE_BIN"])
TARGET = pathlib.Path(os.environ["KUBE_TARGET"])
CRDS = os.environ["KUBE_CRDS"].split(":")
STAGES = os.environ["KUBE_STAGES"].split(":")
NODES = 3
PRODUCTION = chart.CHART / "values-production.yaml"
SECRETS = {
    "registry": [],
    "trace-etl-agents": ["access-key", "secret-key"],
    "trace-etl-servers": ["access-key", "secret-key"],
    "trace-etl-index": ["password", "ca.crt"],
    "trace-etl-web": ["token"],
    "trace-etl-otlp": ["tls.crt", "tls.key"],
}


def wait_for(what, look, seconds=120):
    """Returns the first true result of look; fails with its last result."""
    deadline = time.monotonic() + seconds
    while not (answer := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not reached after {seconds} s: {what}; last result: {answer}")
        time.sleep(0.3)
    return answer


def check(what, holds):
    print(f"  {'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        raise AssertionError(what)


class Cluster:
    """The processes of a control plane and a client of its API with all permissions."""

    def __init__(self):
        self.processes = []
        self.token = secrets.token_hex(16)

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        ports = [free_port() for _ in range(3)]
        etcd = f"http://127.0.0.1:{ports[0]}"
        self.url = f"https://127.0.0.1:{ports[2]}"
        TARGET.joinpath("tokens.csv").write_text(f'{self.token},admin,admin,"system:masters"\n')
        run("openssl", "genrsa", "-out", TARGET / "accounts.key", "2048")
        self.start(
            "etcd", os.environ["ETCD"], "--data-dir", TARGET / "etcd", "--unsafe-no-fsync",
            "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
            "--listen-peer-urls", f"http://127.0.0.1:{ports[1]}",
        )  # fmt: skip
        self.start(
            "kube-apiserver", BIN / "kube-apiserver", f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1", f"--secure-port={ports[2]}", f"--cert-dir={TARGET}/apiserver",
            f"--token-auth-file={TARGET}/tokens.csv", "--authorization-mode=RBAC",
            f"--service-account-key-file={TARGET}/accounts.key",
            f"--service-account-signing-key-file={TARGET}/accounts.key",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            # Debian's etcd 3.4 does not support it, and clients would try for minutes.
            "--feature-gates=WatchList=false",
        )  # fmt: skip
        self.certificate = TARGET / "apiserver" / "apiserver.crt"
        wait_for("an API server", self.is_ready)
        self.kubeconfig = TARGET / "kubeconfig"
        self.kubeconfig.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1", "kind": "Config", "current-context": "kube",
                    "clusters": [{"name": "kube", "cluster": {
                        "server": self.url, "certificate-authority": str(self.certificate)}}],
                    "users": [{"name": "admin", "user": {"token": self.token}}],
                    "contexts": [{"name": "kube", "context": {"cluster": "kube", "user": "admin"}}],
                }
            )
        )  # fmt: skip
        self.start(
            "kube-controller-manager", BIN / "kube-controller-manager", f"--kubeconfig={self.kubeconfig}",
            f"--service-account-private-key-file={TARGET}/accounts.key", "--leader-elect=false",
            "--secure-port=0", "--horizontal-pod-autoscaler-sync-period=2s",
            # No node fails in this test, but heartbeats are late on a busy machine.
            "--node-monitor-grace-period=5m",
        )  # fmt: skip
        self.start(
            "kube-scheduler", BIN / "kube-scheduler", f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false", "--secure-port=0",
        )  # fmt: skip
        self.start(
            "kwok", BIN / "kwok", f"--kubeconfig={self.kubeconfig}", "--manage-all-nodes=true",
            "--cidr=10.244.0.0/16", "--node-ip=10.0.0.1", "--node-lease-duration-seconds=40",
            *(f"--config={stage}" for stage in STAGES),
        )  # fmt: skip
        for number in range(NODES):
            self.create(node(f"host-{number}", f"zone-{number % 2}"))
        for path in CRDS:
            self.create(yaml.safe_load(pathlib.Path(path).read_text()))
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        wait_for("CRDs that are served", lambda: all(is_condition(c, "Established") for c in self.list(crds)))
        wait_for("nodes that are ready", lambda: sum(map(is_ready, self.list("/api/v1/nodes"))) == NODES)

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def start(self, name, *command):
        log = TARGET.joinpath(f"{name}.log").open("wb")
        self.processes.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log))

    def is_ready(self):
        for process in self.processes:
            if process.poll() is not None:
                raise AssertionError(f"{process.args[0]} exited with {process.returncode}; see {TARGET}")
        try:
            return self.call("GET", "/readyz", raw=True) == b"ok"
        except (OSError, ssl.SSLError):
            return False

    def call(self, method, path, body=None, kind="application/json", raw=False):
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind},
        )  # fmt: skip
        context = ssl.create_default_context(cafile=self.certificate)
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:
            content = answer.read()
            return content if raw else json.loads(content)

    def get(self, path):
        try:
            return self.call("GET", path)
        except urllib.error.HTTPError as e:
            if e.code == 404:
                return None
            raise

    def list(self, path):
        return self.call("GET", path)["items"]

    def create(self, found, options=""):
        """Returns the object, or fails with the API server's error."""
        try:
            return self.call("POST", collection(found) + options, found)
        except urllib.error.HTTPError as e:
            said = json.loads(e.read()).get("message")
            raise AssertionError(f"{found['kind']} {found['metadata']['name']}: {said}") from e

    def pods(self, namespace, component):
        path = f"/api/v1/namespaces/{namespace}/pods?labelSelector=app.kubernetes.io/component%3D{component}"
        return {pod["metadata"]["uid"]: pod for pod in self.list(path) if "deletionTimestamp" not in pod["metadata"]}

    def namespace(self, name, level):
        labels = {"pod-security.kubernetes.io/enforce": level}
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})

    def helm(self, *arguments, fails=False):
        command = [BIN / "helm", *arguments, "--kubeconfig", self.kubeconfig]
        answer = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=helm_environment())
        if (answer.returncode != 0) != fails:
            raise AssertionError(f"helm {arguments[0]}: {answer.returncode}\n{answer.stdout}{answer.stderr}")
        return answer.stdout + answer.stderr


def helm_environment():
    return {**os.environ, **{f"HELM_{name}_HOME": str(TARGET / "helm") for name in ("CACHE", "CONFIG", "DATA")}}


def run(*command):
    subprocess.run(list(map(str, command)), check=True, capture_output=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def collection(found):
    group = found["apiVersion"]
    plural = found["kind"].lower()
    plural = plural[:-1] + "ies" if plural.endswith("y") else plural + "s"
    base = f"/apis/{group}" if "/" in group else f"/api/{group}"
    namespace = found["metadata"].get("namespace")
    return f"{base}/namespaces/{namespace}/{plural}" if namespace else f"{base}/{plural}"


def node(name, zone):
    room = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}},
        "status": {"allocatable": room, "capacity": room},
    }  # fmt: skip


def is_ready(found):
    return is_condition(found, "Ready")


def is_condition(found, condition):
    conditions = found.get("status", {}).get("conditions") or []
    return any(one["type"] == condition and one["status"] == "True" for one in conditions)


def install_upgrade_rollback_uninstall(cluster):
    namespace = "tracing"
    cluster.namespace(namespace, "privileged")
    for name, keys in SECRETS.items():
        data = {key: base64.b64encode(b"secret").decode() for key in keys}
        metadata = {"name": name, "namespace": namespace}
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    values = ["-f", PRODUCTION, "--set", "rocketmq.createTopics.enabled=true", "--set", "autoscaling.type=none"]
    release = ["shop", chart.CHART, "-n", namespace]

    print("install values-production.yaml with the job for topics")
    notes = cluster.helm("install", *release, *values, "--wait", "--wait-for-jobs", "--timeout", "3m")
    agents, servers = cluster.pods(namespace, "agent"), cluster.pods(namespace, "server")
    check(f"{NODES} agents are ready, one on each node", sorted(p["spec"]["nodeName"] for p in agents.values())
          == [f"host-{n}" for n in range(NODES)] and all(map(is_ready, agents.values())))  # fmt: skip
    check("3 servers are ready on 3 nodes", len({p["spec"]["nodeName"] for p in servers.values()}) == 3
          and all(map(is_ready, servers.values())))  # fmt: skip
    budget = wait_for("a budget that was reckoned", lambda: cluster.get(
        f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/shop-trace-etl-server")["status"]
        .get("disruptionsAllowed"))  # fmt: skip
    check("the disruption budget allows 1 of 3 servers to be unavailable", budget == 1)
    slices = cluster.list(f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices")
    ready = {s["metadata"]["labels"]["kubernetes.io/service-name"]:
             sum(e["conditions"]["ready"] for e in s["endpoints"] or []) for s in slices}  # fmt: skip
    check(f"the services select their pods: {ready}", ready == {"shop-trace-etl-agent": NODES, "shop-trace-etl-server": 3})
    for kind in ("servicemonitors", "podmonitors", "prometheusrules"):
        count = len(cluster.list(f"/apis/monitoring.coreos.com/v1/namespaces/{namespace}/{kind}"))
        check(f"{count} {kind}", count > 0 or kind == "prometheusrules")
    check("the notes name the next steps", "helm test shop -n tracing" in notes)

    print("helm test: the pod is scheduled; kwok runs no container, so this script sets its result")
    test = subprocess.Popen(
        [BIN / "helm", "test", "shop", "-n", namespace, "--kubeconfig", cluster.kubeconfig, "--timeout", "60s"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=helm_environment(),
    )  # fmt: skip
    path = f"/api/v1/namespaces/{namespace}/pods/shop-trace-etl-test"
    wait_for("a test that runs", lambda: (cluster.get(path) or {}).get("status", {}).get("phase") == "Running")
    cluster.call("PATCH", path + "/status", {"status": {"phase": "Succeeded"}}, "application/merge-patch+json")
    output, _ = test.communicate(timeout=90)
    check("helm test succeeds", test.returncode == 0 and "Succeeded" in output)

    def rules():
        return cluster.get(f"/api/v1/namespaces/{namespace}/configmaps/shop-trace-etl-routing")["data"]["routing.yaml"]

    print("upgrade with another routing file")
    before = rules()
    changed = [*values, "--set", "agent.routing.applications.checkout.queues=8"]
    cluster.helm("upgrade", *release, *changed, "--wait", "--timeout", "3m")
    check("the ConfigMap has the new file", "checkout" in rules() and "checkout" not in before)
    time.sleep(3)
    check("no agent or server was restarted", cluster.pods(namespace, "agent").keys() == agents.keys()
          and cluster.pods(namespace, "server").keys() == servers.keys())  # fmt: skip

    print("upgrade with a changed option of servers and agents")
    changed += ["--set", "server.config.trace-etl.window.length=30s", "--set", "agent.config.spool.flush=commit"]
    started = time.monotonic()
    cluster.helm("upgrade", *release, *changed, "--wait", "--timeout", "5m")
    rolled = cluster.pods(namespace, "agent"), cluster.pods(namespace, "server")
    check(f"all pods were replaced in {time.monotonic() - started:.0f} s", not rolled[0].keys() & agents.keys()
          and not rolled[1].keys() & servers.keys() and len(rolled[0]) == NODES and len(rolled[1]) == 3)  # fmt: skip

    print("upgrade with a wrong value")
    said = cluster.helm("upgrade", *release, *values, "--set", "agent.spol.type=emptyDir", fails=True)
    check("the error names the value", "spol" in said)

    print("rollback to the first revision")
    cluster.helm("rollback", "shop", "1", "-n", namespace, "--wait", "--timeout", "5m")
    check("the first routing file is back", rules() == before)
    back = {p["metadata"]["annotations"]["checksum/config"] for p in cluster.pods(namespace, "server").values()}
    first = {p["metadata"]["annotations"]["checksum/config"] for p in servers.values()}
    check("the first configuration of the servers is back", back == first)

    print("an autoscaler changes the number of servers")
    fixed = cluster.pods(namespace, "server")
    cluster.helm("upgrade", *release, "-f", PRODUCTION, "--set", "autoscaling.type=hpa", "--set", "autoscaling.minReplicas=4",
                 "--wait", "--timeout", "3m")  # fmt: skip
    wait_for("4 servers", lambda: len(cluster.pods(namespace, "server")) == 4)
    scaled = cluster.pods(namespace, "server")
    check("the HorizontalPodAutoscaler added a 4th server and kept the 3", fixed.keys() < scaled.keys())
    cluster.helm("upgrade", *release, "-f", PRODUCTION, "--wait", "--timeout", "3m")
    check("the 4 servers stay when KEDA takes over", cluster.pods(namespace, "server").keys() == scaled.keys())
    objects = cluster.list(f"/apis/keda.sh/v1alpha1/namespaces/{namespace}/scaledobjects")
    check("a ScaledObject replaces the HorizontalPodAutoscaler", len(objects) == 1 and not cluster.list(
        f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"))  # fmt: skip

    print("uninstall")
    cluster.helm("uninstall", "shop", "-n", namespace, "--wait", "--timeout", "3m")
    left = [
        found["metadata"]["name"]
        for path in ("/api/v1/%s/pods", "/api/v1/%s/configmaps", "/api/v1/%s/services", "/apis/apps/v1/%s/daemonsets",
                     "/apis/apps/v1/%s/deployments", "/apis/batch/v1/%s/jobs", "/apis/networking.k8s.io/v1/%s/networkpolicies",
                     "/apis/policy/v1/%s/poddisruptionbudgets", "/apis/monitoring.coreos.com/v1/%s/servicemonitors",
                     "/apis/keda.sh/v1alpha1/%s/scaledobjects")
        for found in cluster.list(path % f"namespaces/{namespace}")
        if found["metadata"].get("labels", {}).get("app.kubernetes.io/instance") == "shop"
        and "deletionTimestamp" not in found["metadata"]
    ]  # fmt: skip
    check(f"only the pod of helm test remains: {left}", set(left) <= {"shop-trace-etl-test"})


def demo(cluster):
    print("install values-demo.yaml")
    cluster.namespace("demo", "privileged")
    cluster.helm("install", "demo", chart.CHART, "-n", "demo", "-f", chart.CHART / "values-demo.yaml",
                 "--wait", "--wait-for-jobs", "--timeout", "3m")  # fmt: skip
    components = ("agent", "server", "rocketmq", "elasticsearch")
    counts = [sum(map(is_ready, cluster.pods("demo", one).values())) for one in components]
    check(f"ready agents, servers, RocketMQ, Elasticsearch: {counts}", counts == [NODES, 1, 1, 1])
    cluster.helm("uninstall", "demo", "-n", "demo", "--wait", "--timeout", "3m")


def pod_security(cluster):
    print("Pod Security, enforced by the API server")
    cluster.namespace("restricted", "restricted")
    values = TARGET / "bare.yaml"
    values.write_text(json.dumps(chart.merged(chart.MINIMAL, chart.CASES["bare"])))
    cluster.helm("install", "bare", chart.CHART, "-n", "restricted", "-f", values, "--wait", "--timeout", "2m")
    check("without host ports, rings and hostPath all pods run under level restricted",
          len(cluster.pods("restricted", "agent")) == NODES)  # fmt: skip
    values.write_text(json.dumps(chart.MINIMAL))
    cluster.namespace("baseline", "baseline")
    said = cluster.helm("install", "full", chart.CHART, "-n", "baseline", "-f", values)
    events = wait_for("a refusal", lambda: [e["message"] for e in cluster.list("/api/v1/namespaces/baseline/events")
                                            if "violates PodSecurity" in e["message"]])  # fmt: skip
    check("with them agents need level privileged, but servers do not", "hostPath" in events[0]
          and wait_for("servers", lambda: len(cluster.pods("baseline", "server")) == 2) and "hostPort" in events[0] and said)  # fmt: skip


def every_object_is_taken(cluster):
    """Submits each object that bin/chart renders; unknown and repeated fields are errors."""
    print("strict validation of every object of every case")
    cluster.namespace("strict", "privileged")
    wait_for("an account", lambda: cluster.get("/api/v1/namespaces/strict/serviceaccounts/default"))
    chart.render()
    count = 0
    for name in [*chart.CASES, "values-demo", "values-production"]:
        for found in chart.documents(name):
            found["metadata"]["namespace"] = "strict"
            if found["kind"] == "Pod":
                # A dry run does not create the release's service account.
                found["spec"]["serviceAccountName"] = "default"
            cluster.create(found, "?dryRun=All&fieldValidation=Strict")
            count += 1
    check(f"{count} objects", count > 100)


def main():
    TARGET.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    try:
        with Cluster() as cluster:
            version = cluster.call("GET", "/version")["gitVersion"]
            print(f"Kubernetes {version}, {NODES} simulated nodes, started after {time.monotonic() - started:.0f} s")
            every_object_is_taken(cluster)
            install_upgrade_rollback_uninstall(cluster)
            demo(cluster)
            pod_security(cluster)
    except AssertionError as e:
        print(f"FAILED: {e}\nLogs are in {TARGET}", file=sys.stderr)
        sys.exit(1)
    print(f"passed after {time.monotonic() - started:.0f} s")
    print("kube=passed")


if __name__ == "__main__":
    main()
