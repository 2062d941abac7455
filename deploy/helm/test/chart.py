"""Checks rendered objects against the API's schemas, the project's programs and the chart's
documentation. Run by bin/chart."""

import base64
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import unittest

import compose_spec
import jsonschema
import kubernetes_validate
import yaml

import readme

HERE = pathlib.Path(__file__).parent
CHART = HERE.parent / "trace-etl"
DEPLOY = HERE.parents[1]
TARGET = pathlib.Path(os.environ["CHART_TARGET"])
# The oldest version that the chart accepts, and the newest known version.
KUBERNETES = ("1.27", "1.37")
PROBES = {"startupProbe", "livenessProbe", "readinessProbe"}

MINIMAL = {"rocketmq": {"nameServers": ["mq-1:9876", "mq-2:9876"]}}


def merged(base, *others):
    """Merges values over others as Helm does."""
    result = copy.deepcopy(base)
    for other in others:
        for key, value in other.items():
            if isinstance(value, dict) and isinstance(result.get(key), dict):
                result[key] = merged(result[key], value)
            else:
                result[key] = copy.deepcopy(value)
    return result


# Values that are rendered and checked, in addition to values-*.yaml.
CASES = {
    "minimal": {},
    "hpa": {"autoscaling": {"type": "hpa"}},
    "keda": {
        "autoscaling": {
            "type": "keda",
            "keda": {"prometheusAddress": "https://prometheus:9090", "authentication": "prometheus"},
        }
    },
    "monitored": {
        "monitoring": {
            "enabled": True,
            "labels": {"release": "prometheus"},
            "tlsConfig": {"ca": {"secret": {"name": "ca", "key": "ca.crt"}}},
            "rules": {"enabled": True, "runbookBaseUrl": "https://wiki.example.com"},
            "dashboards": {"enabled": True, "annotations": {"grafana_folder": "Tracing"}},
        },
        "server": {"tls": {"secret": "web", "clientCaSecret": "clients"}, "tokenSecret": "web-token"},
        "agent": {"telemetry": {"tls": {"secret": "telemetry"}, "tokenSecret": "telemetry-token"}},
    },
    "sharded": {
        "monitoring": {
            "enabled": True,
            "serverShards": 3,
            "serverEndpoint": {"params": {"team": ["payments"]}, "followRedirects": False},
        },
    },
    "passwords": {"server": {"tokenSecret": "web-token", "usersSecret": "web-users"}},
    "openid": {
        "server": {
            "tokenSecret": "web-token",
            "oidcSecret": "web-client",
            "oidcKey": "secret",
            "config": {
                "trace-etl": {
                    "web": {
                        "trace-url": "https://jaeger.example.com/trace/{traceId}",
                        "oidc": {"issuer": "https://id.example.com", "client-id": "trace-etl", "groups": ["sre"]},
                    }
                }
            },
        }
    },
    "guarded": {
        "networkPolicy": {
            "enabled": True,
            "senders": [{"podSelector": {}}],
            "readers": [{"namespaceSelector": {"matchLabels": {"team": "observability"}}}],
            "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}],
        },
        "server": {"tls": {"secret": "web"}, "journalKeysSecret": "journal", "journalKeysKey": "2026"},
        "agent": {
            "tls": {"secret": "otlp", "clientCaSecret": "senders", "clientCaKey": "roots.pem"},
            "tokenSecret": "otlp-tokens",
            "rings": {"group": 20001},
        },
        "rocketmq": {
            "access": {"agentSecret": "mq-agents", "serverSecret": "mq-servers"},
            "routingKeysSecret": "routing",
            "tls": {"enabled": True, "caSecret": "mq-ca"},
        },
        "elasticsearch": {
            "urls": ["https://es:9200"], "apiKeySecret": "es", "caSecret": "es", "caKey": "es.crt",
        },
    },
    "canary": {
        "canary": {"enabled": True, "prometheusUrl": "http://prometheus:9090", "caSecret": "ca", "deadline": "1m"},
        "server": {"tls": {"secret": "web"}, "tokenSecret": "web-token"},
        "agent": {"tls": {"secret": "otlp"}, "tokenSecret": "otlp-tokens", "rings": {"group": 20001}},
        "elasticsearch": {"urls": ["http://es:9200"]},
        "monitoring": {"enabled": True, "labels": {"release": "prometheus"}},
        "networkPolicy": {"enabled": True, "senders": [{"podSelector": {}}], "readers": [{"podSelector": {}}]},
    },
    "canary-of-the-host": {
        "canary": {"enabled": True},
        "agent": {"service": {"enabled": False}, "rings": {"enabled": False}},
        "server": {"config": {"trace-etl": {"metrics": {"profile": "tempo", "namespace": "spans"}}}},
    },
    "kubernetes": {
        "agent": {"kubernetes": {"enabled": True}, "config": {"kubernetes": {"url": "https://10.96.0.1"}}},
        "networkPolicy": {"enabled": True},
    },
    "bare": {
        "agent": {
            "digest": "sha256:" + "a" * 64,
            "rings": {"enabled": False},
            "spool": {"type": "emptyDir"},
            "hostPorts": {"enabled": False},
            "service": {"enabled": False},
        },
        "server": {"podDisruptionBudget": {"enabled": False}, "topologySpreadConstraints": []},
        "serviceAccount": {"create": False},
        "test": {"enabled": False},
    },
    "ozhera": {
        "server": {
            "config": {
                "trace-etl": {
                    "metrics": {"profile": "ozhera"},
                    "ozhera": {"scrapers": ["prometheus-a", "prometheus-b"]},
                    "rocketmq": {"messages": "any"},
                    "index": {"elasticsearch": {"layout": "ozhera"}},
                }
            },
            "ozheraRules": {"slower-than-millis": {"http": 300}},
        },
        "elasticsearch": {
            "urls": ["http://es:9200"], "username": "etl", "passwordSecret": "es",
        },
        "monitoring": {"enabled": True},
        "agent": {
            "traceLogs": {
                "hostPath": "/home/work/log", "paths": ["/home/work/log/*/trace/trace.log"],
                "groups": [1500],
            }
        },
    },
    "ozhera-cumulative": {
        "server": {
            "config": {
                "trace-etl": {
                    "metrics": {"profile": "ozhera"},
                    "ozhera": {"temporality": "cumulative"},
                    "rocketmq": {"messages": "any"},
                }
            },
        },
        "monitoring": {"enabled": True},
    },
    "edges": {
        "edges": {"enabled": True},
        "rocketmq": {
            "topics": {"edges": "half-edges", "edgeWindows": "half-edge-windows"},
            "createTopics": {"enabled": True, "edgeQueues": 8},
        },
        "server": {
            "config": {"trace-etl": {"rocketmq": {"consumer-group": "etl"}, "edges": {"max-wait": "1m", "workers": 2}}}
        },
    },
    "rules": {
        "server": {
            "rules": {
                "revision": 13,
                "defaults": {"documents": {"slower-than": "500ms"}},
                "applications": [{"application": "checkout-*", "documents": {"slower-than": "200ms"}}],
            },
        },
    },
    # What deploy/compose.yaml is compared with.
    "compose": {
        "demo": {"rocketmq": {"enabled": True}, "elasticsearch": {"enabled": True}},
        "rocketmq": {"nameServers": [], "createTopics": {"queues": 4}},
        "server": {"config": {"trace-etl": {"window": {"length": "5s"}}}},
        "agent": {"rings": {"enabled": False}, "spool": {"type": "emptyDir"}},
    },
    "passed-on": {
        "nameOverride": "etl",
        "fullnameOverride": "a-name-that-is-so-long-that-it-has-to-be-cut-somewhere-before-its-end",
        "image": {"registry": "images.example.com/a", "tag": "1.2.3", "pullSecrets": ["pull"]},
        "rocketmq": {"createTopics": {"enabled": True}},
        "server": {
            "javaOptions": "-Xmx3g",
            "env": [{"name": "TRACE_ETL_WINDOW_LENGTH", "value": "30s"}],
            "config": {
                "trace-etl": {
                    "window": {"length": "10s"},
                    "metrics": {"namespace": "spans"},
                    "series": {
                        "max": 10000000,
                        "dimensions": [{"attribute": "http.route"}],
                    },
                },
                "logging": {"level": {"root": "WARN"}},
            },
            "nodeSelector": {"disk": "none"},
            "tolerations": [{"operator": "Exists"}],
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
            "priorityClassName": "high",
            "podLabels": {"team": "a"},
            "podAnnotations": {"note": "b"},
            "volumes": [{"name": "more", "emptyDir": {}}],
            "volumeMounts": [{"name": "more", "mountPath": "/more"}],
        },
        "agent": {
            "tag": "1.2.2",
            "javaOptions": "-Xmx768m",
            "config": {
                "spool": {"max-bytes": 8589934592, "flush": "commit"},
                "routing": {"queues-per-application": 3},
                "detail": {"default": "full"},
                "forward": {"endpoints": [{"name": "tempo", "url": "http://tempo:4318"}]},
            },
            "routing": {"applications": {"checkout": {"queues": 8}}, "exclude": ["load-*"]},
            "filters": {"drop": [{"kind": "client", "attributes": {"db.system": "redis"}}]},
            "volumes": [{"name": "more", "emptyDir": {}}],
            "volumeMounts": [{"name": "more", "mountPath": "/more"}],
        },
    },
}

# Secrets that need a certain form: the hash of a user is bcrypt of 53 dots.
SECRETS = {
    "access-key": "etl\n",
    "users": f"ada:$2y$10${'.' * 53}\n",
    "keys": f"k1 {base64.b64encode(bytes(32)).decode()} active\n",
}

# Values that must be refused, and a part of the message.
REFUSED = {
    "no-name-server": ({"rocketmq": {"nameServers": []}}, "rocketmq.nameServers: required"),
    "unknown-key": ({"agent": {"spol": {}}}, "spol"),
    "unknown-key-at-the-top": ({"servers": {}}, "servers"),
    "unknown-file": ({"server": {"config": {"trace_etl": {}}}}, "trace_etl"),
    "owned-kubernetes": ({"agent": {"config": {"kubernetes": {"enabled": True}}}}, "agent.kubernetes.enabled"),
    "unknown-section": ({"agent": {"config": {"rockeqmq": {}}}}, "rockeqmq"),
    "two-autoscalers": ({"autoscaling": {"type": "hpa,keda"}}, "'none', 'hpa', 'keda'"),
    "fewer-than-fewest": (
        {"autoscaling": {"type": "hpa", "minReplicas": 5, "maxReplicas": 4}},
        "autoscaling.maxReplicas = 4: below autoscaling.minReplicas = 5",
    ),
    "no-prometheus": ({"autoscaling": {"type": "keda"}}, "autoscaling.keda.prometheusAddress: required"),
    "a-list-for-a-text": ({"rocketmq": {"nameServers": "mq:9876"}}, "nameServers"),
    "a-semicolon": ({"rocketmq": {"nameServers": ["mq-1:9876;mq-2:9876"]}}, "nameServers"),
    "a-password": (
        {"server": {"config": {"trace-etl": {"index": {"elasticsearch": {"password": "x"}}}}}},
        "server.config.trace-etl.index.elasticsearch.password must not be in the configuration: use elasticsearch.passwordSecret",
    ),
    "a-token": (
        {"agent": {"config": {"otlp": {"token": "x"}}}},
        "agent.config.otlp.token must not be in the configuration: use agent.tokenSecret",
    ),
    "edges-of-a-file": (
        {"server": {"config": {"trace-etl": {"edges": {"enabled": True}}}}},
        "server.config.trace-etl.edges.enabled must not be in the configuration: use edges.enabled",
    ),
    "a-port": ({"server": {"config": {"server": {"port": 9000}}}}, "use server.port, the service's"),
    "a-user-alone": ({"elasticsearch": {"urls": ["http://es:9200"], "username": "etl"}}, "elasticsearch.passwordSecret: required"),
    "a-password-alone": ({"elasticsearch": {"urls": ["http://es:9200"], "passwordSecret": "es"}}, "elasticsearch.username: required"),
    "a-user-in-a-url": ({"elasticsearch": {"urls": ["http://etl:secret@es:9200"]}}, "urls"),
    "roots-without-tls": ({"agent": {"tls": {"clientCaSecret": "ca"}}}, "agent.tls.clientCaSecret: requires agent.tls.secret"),
    "clients-without-tls": ({"server": {"tls": {"clientCaSecret": "ca"}}}, "server.tls.clientCaSecret: requires server.tls.secret"),
    "a-token-in-clear-text": ({"agent": {"tokenSecret": "otlp-tokens"}}, "agent.tokenSecret: requires agent.tls.secret"),
    "a-telemetry-token-in-clear-text": (
        {"agent": {"telemetry": {"tokenSecret": "token"}}},
        "agent.telemetry.tokenSecret: requires agent.telemetry.tls.secret",
    ),
    "shards-of-deltas": (
        {
            "monitoring": {"enabled": True, "serverShards": 2},
            "server": {"config": {"trace-etl": {"metrics": {"profile": "ozhera"}, "ozhera": {"scrapers": ["a"]}}}},
        },
        "monitoring.serverShards = 2: must be 1",
    ),
    "rules-without-a-revision": ({"server": {"rules": {"defaults": {}}}}, "server.rules.revision: required"),
    "rules-of-revision-zero": ({"server": {"rules": {"revision": 0}}}, "revision"),
    "an-unknown-key-of-rules": ({"server": {"rules": {"revision": 1, "application": []}}}, "application"),
    "rules-with-ozhera": (
        {"server": {"rules": {"revision": 1}, "config": {"trace-etl": {"metrics": {"profile": "ozhera"}}}}},
        "server.rules: must be empty with profile ozhera",
    ),
    "rules-of-a-file": (
        {"server": {"config": {"trace-etl": {"rules": {"file": "/rules.yaml"}}}}},
        "server.config.trace-etl.rules.file must not be in the configuration: use server.rules",
    ),
    "too-many-shards": ({"monitoring": {"serverShards": 65}}, "serverShards"),
    "users-without-a-token": ({"server": {"usersSecret": "users"}}, "server.tokenSecret: required with"),
    "two-sign-ins": (
        {"server": {"tokenSecret": "token", "usersSecret": "users", "oidcSecret": "client"}},
        "server.usersSecret: must be empty if server.oidcSecret is set",
    ),
    "a-client-secret": (
        {"server": {"config": {"trace-etl": {"web": {"oidc": {"client-secret": "x"}}}}}},
        "client-secret must not be in the configuration: use server.oidcSecret",
    ),
    "a-canary-of-ozhera": (
        {"canary": {"enabled": True}, "server": {"config": {"trace-etl": {"metrics": {"profile": "ozhera"}}}}},
        "canary.enabled: must be false with profile ozhera",
    ),
    "a-canary-without-a-certificate": (
        {"canary": {"enabled": True}, "agent": {"tls": {"secret": "otlp", "clientCaSecret": "ca"}}},
        "canary.enabled: must be false if agents or servers require certificates",
    ),
    "a-canary-with-a-wrong-time": ({"canary": {"deadline": "45"}}, "deadline"),
    "no-digest": ({"server": {"digest": "sha256:abc"}}, "digest"),
    "no-quantity": ({"server": {"resources": {"request": {}}}}, "request"),
}

# Changes of values, and the pods that each must replace.
CHANGES = {
    "live-routing": ({"agent": {"routing": {"exclude": ["load-test"]}}}, set()),
    "live-filters": ({"agent": {"filters": {"limits": {"max-attributes": 64}}}}, set()),
    "live-files": ({"agent": {"traceLogs": {"paths": ["/home/work/log/trace.log"]}}}, set()),
    "rolling-agents": ({"agent": {"config": {"spool": {"flush": "commit"}}}}, {"DaemonSet"}),
    "rolling-servers": ({"server": {"config": {"trace-etl": {"window": {"length": "30s"}}}}}, {"Deployment"}),
    "rolling-servers-for-the-first-rules": ({"server": {"rules": {"revision": 1}}}, {"Deployment"}),
    "rolling-servers-for-edges": ({"edges": {"enabled": True}}, {"Deployment"}),
    "rolling-agents-for-pods": ({"agent": {"kubernetes": {"enabled": True}}}, {"DaemonSet"}),
    "rolling-both": ({"rocketmq": {"topics": {"spans": "spans-2"}}}, {"DaemonSet", "Deployment"}),
}
# Changes of the values of a case that must replace no pod.
LIVE = {
    "rules": {"server": {"rules": {"revision": 14, "applications": [{"application": "cart"}]}}},
    "ozhera": {"server": {"ozheraRules": {"slower-than-millis": {"http": 400}}}},
}


def values_of_all():
    all_values = {name: merged(MINIMAL, values) for name, values in CASES.items()}
    for name, (values, _) in REFUSED.items():
        all_values[f"refused-{name}"] = merged(MINIMAL, values)
    for name, (values, _) in CHANGES.items():
        all_values[f"changed-{name}"] = merged(MINIMAL, values)
    for name, values in LIVE.items():
        all_values[f"live-{name}"] = merged(MINIMAL, CASES[name], values)
    return all_values


def render():
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    lines = [f"{path.stem}\t{path}" for path in CHART.glob("values-*.yaml")]
    for name, values in values_of_all().items():
        path = TARGET / f"{name}.values"
        path.write_text(json.dumps(values))
        lines.append(f"{name}\t{path}")
    # Helm as a library omits hooks, but the checks apply to the test's pod too.
    unhooked = TARGET / "unhooked" / "trace-etl"
    shutil.copytree(CHART, unhooked)
    test = unhooked / "templates" / "tests" / "span.yaml"
    test.write_text(re.sub(r"\n  annotations:\n(    helm\.sh/hook.*\n)+", "\n", test.read_text()))
    # Without a cluster `helm template` finds nothing, but the library fails.
    server = unhooked / "templates" / "server.yaml"
    server.write_text(re.sub(r"\blookup( \S+){4} ", "dict ", server.read_text()))
    # Without values lint would only report the required values.
    linted = TARGET / "linted" / "trace-etl"
    shutil.copytree(CHART, linted)
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    (linted / "values.yaml").write_text(yaml.safe_dump(merged(defaults, MINIMAL)))
    with (TARGET / "helm.log").open("w") as log:
        subprocess.run(
            [os.environ["JAVA"], "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC",
             "-cp", os.environ["HELM_LIBRARY"] + "/*", HERE / "Render.java",
             unhooked, TARGET, linted, f"{KUBERNETES[-1]}.0", "shop"],
            input="\n".join(lines), text=True, check=True, stderr=log,
        )  # fmt: skip


def documents(name):
    error = TARGET / f"{name}.error"
    if error.exists():
        raise AssertionError(f"{name} is refused: {error.read_text()}")
    rendered = (TARGET / f"{name}.yaml").read_text()
    return [document for document in yaml.safe_load_all(rendered) if document]


def of_kind(objects, *kinds):
    return [found for found in objects if found["kind"] in kinds]


def named(objects, kind, suffix):
    return next(found for found in of_kind(objects, kind) if found["metadata"]["name"].endswith(suffix))


def pods(objects):
    """Yields metadata and spec of every pod of the objects."""
    for found in objects:
        if found["kind"] == "Pod":
            yield found["metadata"], found["spec"]
        elif "template" in found.get("spec", {}):
            yield found["spec"]["template"]["metadata"], found["spec"]["template"]["spec"]


def containers(spec):
    return spec.get("initContainers", []) + spec["containers"]


def chosen(selector, labels):
    return selector.items() <= labels.items()


def setUpModule():
    render()


class ChartTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rendered = {
            name: documents(name)
            for name in [*CASES, *(path.stem for path in CHART.glob("values-*.yaml"))]
        }

    def test_helm_lint_has_nothing_to_say(self):
        lint = (TARGET / "lint.txt").read_text()
        self.assertEqual(lint.splitlines()[0], "ok", lint)

    def test_objects_are_what_the_api_takes(self):
        schemas = {
            path.stem: jsonschema.Draft202012Validator(json.loads(path.read_text()))
            for path in (HERE / "crds").glob("*.json")
        }
        for name, objects in self.rendered.items():
            with self.subTest(name):
                for found in objects:
                    if found["kind"] in schemas:
                        schemas[found["kind"]].validate(found)
                        continue
                    for version in KUBERNETES:
                        try:
                            kubernetes_validate.validate(found, version, strict=True)
                        except kubernetes_validate.ValidationError as e:
                            self.fail(f"{found['kind']} {found['metadata']['name']}: {e}")

    def test_wrong_values_are_refused(self):
        for name, (_, said) in REFUSED.items():
            with self.subTest(name):
                error = TARGET / f"refused-{name}.error"
                self.assertTrue(error.exists(), f"{name} is taken")
                self.assertIn(said, error.read_text())

    def test_the_schema_knows_every_value(self):
        schema = json.loads((CHART / "values.schema.json").read_text())

        def compare(values, schema, where):
            if schema.get("additionalProperties") is not False:
                return
            known = set(schema["properties"]) - {"global"}
            if set(values) != known and where not in ("server.config", "server.rules", "agent.config"):
                self.fail(f"{where or 'top'}: differs in {set(values) ^ known}")
            for key, value in values.items():
                if isinstance(value, dict) and "properties" in schema["properties"][key]:
                    compare(value, schema["properties"][key], f"{where}.{key}".lstrip("."))

        compare(yaml.safe_load((CHART / "values.yaml").read_text()), schema, "")

    def test_the_readme_has_every_value(self):
        self.assertEqual(
            (CHART / "README.md").read_text(), readme.text(CHART),
            "README.md differs from values.yaml: run bin/chart --write-readme",
        )  # fmt: skip

    def test_the_chart_is_of_this_version(self):
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        pom = (HERE.parents[2] / "pom.xml").read_text()
        version = re.search(r"<artifactId>trace-etl[^<]*</artifactId>\s*<version>([^<]+)", pom)
        self.assertEqual(chart["appVersion"], version.group(1))

    def test_containers_have_no_rights(self):
        for name, objects in self.rendered.items():
            with self.subTest(name):
                for _, spec in pods(objects):
                    self.assertIs(spec["automountServiceAccountToken"], False)
                    self.assertTrue(spec["securityContext"]["runAsNonRoot"])
                    self.assertEqual(spec["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                    self.assertFalse({"hostNetwork", "hostPID", "hostIPC"} & set(spec))
                    for container in containers(spec):
                        security = container["securityContext"]
                        self.assertIs(security["allowPrivilegeEscalation"], False)
                        self.assertEqual(security["capabilities"]["drop"], ["ALL"])
                        self.assertIn("memory", container["resources"]["limits"], container["name"])
                        if container["name"] != "elasticsearch":
                            self.assertIs(security["readOnlyRootFilesystem"], True)
                        if container["name"] == "directories":
                            # It makes the agent's user the owner of host directories, and needs no other right.
                            self.assertEqual(container["command"][:2], ["chown", "10001:10001"])
                            self.assertEqual(security["capabilities"]["add"], ["CHOWN"])
                        else:
                            self.assertFalse({"runAsUser", "runAsNonRoot"} & set(security))
                            self.assertNotIn("add", security["capabilities"])

    def test_secrets_are_referred_to_alone(self):
        for name, objects in self.rendered.items():
            with self.subTest(name):
                self.assertFalse(of_kind(objects, "Secret"))

    def test_mounts_lead_to_volumes_and_follow_their_changes(self):
        for name, objects in self.rendered.items():
            with self.subTest(name):
                configs = {found["metadata"]["name"] for found in of_kind(objects, "ConfigMap")}
                for _, spec in pods(objects):
                    volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
                    self.assertEqual(len(volumes), len(spec.get("volumes", [])))
                    mounted = set()
                    for container in containers(spec):
                        paths = [mount["mountPath"] for mount in container.get("volumeMounts", [])]
                        self.assertEqual(len(set(paths)), len(paths))
                        for path in paths:
                            # A mount point within a read-only mount cannot be created.
                            self.assertFalse([p for p in paths if p.startswith(path + "/")], path)
                        for mount in container.get("volumeMounts", []):
                            self.assertNotIn("subPath", mount)
                            mounted.add(mount["name"])
                    self.assertEqual(mounted, set(volumes))
                    for volume in volumes.values():
                        if "configMap" in volume:
                            self.assertIn(volume["configMap"]["name"], configs)

    def test_selectors_find_their_pods(self):
        for name, objects in self.rendered.items():
            with self.subTest(name):
                labels = [metadata["labels"] for metadata, _ in pods(objects)]
                services = of_kind(objects, "Service")
                for found in objects:
                    selector = {
                        "Service": lambda spec: spec["selector"],
                        "PodDisruptionBudget": lambda spec: spec["selector"]["matchLabels"],
                        "NetworkPolicy": lambda spec: spec["podSelector"]["matchLabels"],
                        "PodMonitor": lambda spec: spec["selector"]["matchLabels"],
                    }.get(found["kind"])
                    if selector:
                        matching = [one for one in labels if chosen(selector(found["spec"]), one)]
                        self.assertEqual(len(matching), 1, found["metadata"]["name"])
                for monitor in of_kind(objects, "ServiceMonitor"):
                    wanted = monitor["spec"]["selector"]["matchLabels"]
                    (service,) = [s for s in services if chosen(wanted, s["metadata"]["labels"])]
                    # Rules and the autoscaler's query use this name as the job.
                    self.assertTrue(service["metadata"]["name"].endswith("-server"))
                    ports = {port["name"] for port in service["spec"]["ports"]}
                    self.assertLessEqual({e["port"] for e in monitor["spec"]["endpoints"]}, ports)

    def test_names_are_no_longer_than_labels_may_be(self):
        for name, objects in self.rendered.items():
            with self.subTest(name):
                for found in objects:
                    self.assertLessEqual(len(found["metadata"]["name"]), 63)

    def test_probes_ask_what_the_programs_answer(self):
        paths = {
            "agent": {"startupProbe": "/live", "livenessProbe": "/live", "readinessProbe": "/health"},
            "server": {"startupProbe": "/health", "livenessProbe": "/health", "readinessProbe": "/ready"},
            "canary": {"startupProbe": "/ready", "livenessProbe": "/health", "readinessProbe": "/ready"},
        }
        for name, objects in self.rendered.items():
            with self.subTest(name):
                for _, spec in pods(objects):
                    for container in spec["containers"]:
                        ports = {port["name"] for port in container.get("ports", [])}
                        for probe in PROBES & set(container):
                            self.assertIn(next(iter(container[probe].values()))["port"], ports)
                        if container["name"] in paths and "probes" not in ports:
                            asked = {probe: container[probe]["httpGet"]["path"] for probe in PROBES}
                            self.assertEqual(asked, paths[container["name"]])
        for name, expected in {
            "guarded": {"path": "/ready", "port": "http", "scheme": "HTTPS"},
            "monitored": {"path": "/actuator/health/readiness", "port": "probes"},
        }.items():
            spec = named(self.rendered[name], "Deployment", "-server")["spec"]["template"]["spec"]
            self.assertEqual(spec["containers"][0]["readinessProbe"]["httpGet"], expected)

    def test_neither_a_roll_nor_a_drain_takes_all_servers(self):
        for name, objects in self.rendered.items():
            with self.subTest(name):
                spec = named(objects, "Deployment", "-server")["spec"]
                self.assertGreater(spec["minReadySeconds"], 20)
                self.assertEqual(spec["strategy"]["rollingUpdate"]["maxUnavailable"], 0)
                several = spec.get("replicas", 2) > 1
                for budget in of_kind(objects, "PodDisruptionBudget"):
                    self.assertEqual(budget["spec"]["maxUnavailable"], 1)
                    policy = budget["spec"]["unhealthyPodEvictionPolicy"]
                    self.assertEqual(policy, "IfHealthyBudget" if several else "AlwaysAllow")

    def test_production_values_leave_no_port_open(self):
        objects = self.rendered["values-production"]
        server = yaml.safe_load(named(objects, "ConfigMap", "-server")["data"]["trace-etl-server.yaml"])
        agent = yaml.safe_load(named(objects, "ConfigMap", "-agent")["data"]["log-agent.yaml"])
        for where, config in {
            "server's port": server["server"]["ssl"]["bundle"],
            "server's token": server["trace-etl"]["web"]["token-file"],
            "server to RocketMQ": server["trace-etl"]["rocketmq"]["tls"],
            "server's keys": server["trace-etl"]["rocketmq"]["secret-key-file"],
            "index": server["trace-etl"]["index"]["elasticsearch"]["password-file"],
            "OTLP": agent["otlp"]["tls"]["certificate-file"],
            "senders' tokens": agent["otlp"]["token-file"],
            "agent's metrics": agent["telemetry"]["tls"]["certificate-file"],
            "agent's token": agent["telemetry"]["token-file"],
            "agent to RocketMQ": agent["rocketmq"]["tls"],
            "agent's keys": agent["rocketmq"]["secret-key-file"],
        }.items():
            self.assertTrue(config, where)
        for url in server["trace-etl"]["index"]["elasticsearch"]["urls"]:
            self.assertTrue(url.startswith("https://"), url)
        policies = of_kind(objects, "NetworkPolicy")
        self.assertEqual(len(policies), 2)
        for policy in policies:
            self.assertEqual(policy["spec"]["policyTypes"], ["Ingress", "Egress"])
            for rule in policy["spec"]["ingress"]:
                self.assertTrue(rule.get("from"), policy["metadata"]["name"])

    def test_images_are_built_on_bases_by_digest(self):
        digest = "@sha256:" + "0" * 64
        for base, jdk in (("debian:13", f"jdk{digest}"), (f"debian{digest}", "jdk:25"), ("debian@sha256:0", "jdk:25")):
            with self.subTest(base=base, jdk=jdk):
                refused = subprocess.run(
                    [HERE.parents[2] / "bin" / "images", "--base", base, "--jdk", jdk],
                    capture_output=True, text=True,
                )  # fmt: skip
                self.assertEqual(refused.returncode, 1)
                self.assertRegex(refused.stderr, "must have a digest")
        for dockerfile in (HERE.parents[1] / "images").glob("*/Dockerfile"):
            text = dockerfile.read_text()
            self.assertNotRegex(text, r"(?m)^ARG (BASE|JDK)_IMAGE=")
            self.assertEqual(re.findall(r"(?m)^FROM (\S+)", text), ["${JDK_IMAGE}", "${BASE_IMAGE}"])

    def test_images_are_of_the_registry_and_the_tag(self):
        images = {
            container["name"]: container["image"]
            for _, spec in pods(self.rendered["passed-on"])
            for container in spec["containers"]
        }
        self.assertEqual(images["server"], "images.example.com/a/trace-etl/server:1.2.3")
        self.assertEqual(images["agent"], "images.example.com/a/trace-etl/log-agent:1.2.2")
        self.assertEqual(images["span"], images["agent"])
        pinned = {
            container["name"]: container["image"]
            for _, spec in pods(self.rendered["bare"])
            for container in spec["containers"]
        }
        self.assertEqual(pinned["agent"], "trace-etl/log-agent@sha256:" + "a" * 64)

    def test_one_autoscaler_owns_the_number_of_servers(self):
        for name, kinds in {"minimal": 0, "hpa": 1, "keda": 1, "values-production": 1}.items():
            objects = self.rendered[name]
            scalers = of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject")
            self.assertEqual(len(scalers), kinds)
            deployment = named(objects, "Deployment", "-server")
            self.assertEqual("replicas" in deployment["spec"], kinds == 0)
            # The next release reads from it that this one set replicas; bin/kube tests that.
            self.assertEqual("trace-etl/says-replicas" in deployment["metadata"].get("annotations", {}), kinds == 0)
            for scaler in scalers:
                self.assertEqual(scaler["spec"]["scaleTargetRef"]["name"], deployment["metadata"]["name"])

    def test_a_span_series_has_no_label_that_tells_servers_apart(self):
        for name, series in {
            "monitored": "traces_span_metrics_calls_total",
            "sharded": "traces_span_metrics_calls_total",
            "ozhera": None,
            "ozhera-cumulative": "staging_hera_aopTotalMethodCount_total",
        }.items():
            (monitor,) = of_kind(self.rendered[name], "ServiceMonitor")
            for endpoint in monitor["spec"]["endpoints"]:
                self.assertIs(endpoint["honorLabels"], True)
                dropped = endpoint["relabelings"][0]
                self.assertEqual(dropped["action"], "labeldrop")
                for label in ("pod", "container", "endpoint", "service", "node"):
                    self.assertRegex(label, f"^(?:{dropped['regex']})$")
                rule, *others = endpoint["metricRelabelings"]
                self.assertEqual(
                    others, [{"action": "labeldrop", "regex": "trace_etl_shard"}] if name == "sharded" else []
                )
                self.assertEqual((rule["targetLabel"], rule["replacement"]), ("instance", ""))
                if series:
                    self.assertRegex(series, f"^(?:{rule['regex']})$")
                self.assertNotRegex("trace_etl_ready", f"^(?:{rule['regex']})$")
        self.assertEqual(
            [
                (e["path"], e.get("params"))
                for e in of_kind(self.rendered["ozhera"], "ServiceMonitor")[0]["spec"]["endpoints"]
            ],
            [("/metrics", {"scraper": ["prometheus-a"]}), ("/jvm", None)],
        )
        self.assertEqual(
            [
                (e["path"], e.get("params"))
                for e in of_kind(self.rendered["ozhera-cumulative"], "ServiceMonitor")[0]["spec"]["endpoints"]
            ],
            [("/metrics", None)],
        )

    def test_the_canary_takes_its_options(self):
        """Runs the real program with the rendered options, up to the port, which is no port."""
        self.assertFalse([found for found in self.rendered["minimal"] if "canary" in found["metadata"]["name"]])
        for name, expected in {
            "canary": {"--agent-http=https://", "--index", "--prometheus=http://prometheus:9090", "--deadline=1m",
                       "--metric=traces_span_metrics_calls_total"},
            "canary-of-the-host": {"--agent-grpc=http://$(HOST_IP):4317", "--metric=spans_spanmetrics_calls_total"},
        }.items():  # fmt: skip
            spec = named(self.rendered[name], "Deployment", "-canary")["spec"]["template"]["spec"]
            arguments = spec["containers"][0]["args"]
            for option in expected:
                self.assertTrue([one for one in arguments if one.startswith(option)], option)
            rings = [volume["hostPath"]["path"] for volume in spec["volumes"] if volume["name"] == "rings"]
            self.assertEqual([one for one in arguments if "ring" in one], [f"--agent-ring={one}" for one in rings])
            self.assertEqual(len(rings), 1 if name == "canary" else 0)
            files = re.compile("/etc/trace-etl/.*")
            command = [files.sub(__file__, one).replace("$(HOST_IP)", "127.0.0.1") for one in arguments]
            answer = subprocess.run(java("trace-etl-server", *command, "--port=-1"), capture_output=True, text=True)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""), answer.stderr)
            self.assertEqual(answer.stderr.strip(), "--port = -1: must be 0 to 65535")
        policies = of_kind(self.rendered["canary"], "NetworkPolicy")
        for suffix in ("-agent", "-server"):
            (policy,) = [found for found in policies if found["metadata"]["name"].endswith(suffix)]
            peers = [peer.get("podSelector", {}).get("matchLabels", {}) for peer in policy["spec"]["ingress"][0]["from"]]
            self.assertIn("canary", [labels.get("app.kubernetes.io/component") for labels in peers])

    def test_each_shard_of_a_page_is_scraped_once(self):
        (monitor,) = of_kind(self.rendered["sharded"], "ServiceMonitor")
        endpoints = monitor["spec"]["endpoints"]
        shards = ["0/3", "1/3", "2/3"]
        self.assertEqual([e["params"] for e in endpoints], [{"team": ["payments"], "shard": [s]} for s in shards])
        for endpoint, shard in zip(endpoints, shards):
            self.assertEqual((endpoint["path"], endpoint["followRedirects"]), ("/metrics", False))
            self.assertEqual(endpoint["relabelings"][-1], {"targetLabel": "trace_etl_shard", "replacement": shard})

    def test_edges_have_their_topics_and_group(self):
        objects = self.rendered["edges"]
        (job,) = of_kind(objects, "Job")
        script = job["spec"]["template"]["spec"]["containers"][0]["args"][0]
        self.assertEqual(
            re.findall("admin updateTopic -t '(.*)' -r (.*) -w", script)[-2:],
            [("half-edge-windows", "8"), ("half-edges", "8")],
        )
        self.assertEqual(re.findall("admin updateSubGroup -g '(.*)'", script), ["etl-edges", "etl", "log-agent"])
        server = yaml.safe_load(named(objects, "ConfigMap", "-server")["data"]["trace-etl-server.yaml"])
        self.assertEqual(
            server["trace-etl"]["edges"],
            {"enabled": True, "topic": "half-edges", "journal-topic": "half-edge-windows", "max-wait": "1m", "workers": 2},
        )
        agent = yaml.safe_load(named(objects, "ConfigMap", "-agent")["data"]["log-agent.yaml"])
        self.assertEqual(agent["rocketmq"]["edges-topic"], "half-edges")
        self.assertNotIn("trace-edge", json.dumps(self.rendered["passed-on"]))

    def test_only_agents_may_read_pods_and_only_if_they_shall(self):
        objects = self.rendered["kubernetes"]
        (role,) = of_kind(objects, "ClusterRole")
        self.assertEqual(role["rules"], [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}])
        (binding,) = of_kind(objects, "ClusterRoleBinding")
        self.assertEqual(binding["roleRef"]["name"], role["metadata"]["name"])
        (subject,) = binding["subjects"]
        accounts = {found["metadata"]["name"] for found in of_kind(objects, "ServiceAccount")}
        self.assertIn(subject["name"], accounts)
        users = [found["metadata"]["name"] for found in objects
                 if "template" in found.get("spec", {}) or found["kind"] == "Pod"
                 for _, spec in pods([found]) if spec["serviceAccountName"] == subject["name"]]  # fmt: skip
        (agents,) = of_kind(objects, "DaemonSet")
        self.assertEqual(users, [agents["metadata"]["name"]])
        self.assertEqual(subject["namespace"], agents["metadata"]["namespace"])
        config = yaml.safe_load(named(objects, "ConfigMap", "-agent")["data"]["log-agent.yaml"])["kubernetes"]
        (container,) = agents["spec"]["template"]["spec"]["containers"]
        (mounted,) = [m for m in container["volumeMounts"] if m["name"] == "kubernetes"]
        self.assertEqual({pathlib.Path(config[key]).parent for key in ("token-file", "ca-file")},
                         {pathlib.Path(mounted["mountPath"])})  # fmt: skip
        self.assertIn(
            {"name": "TRACE_ETL_AGENT_KUBERNETES_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            container["env"],
        )
        for case in self.rendered:
            self.assertEqual(case == "kubernetes", bool(of_kind(self.rendered[case], "ClusterRole")), case)
        for case, opens in {"kubernetes": True, "guarded": False}.items():
            policy = named(self.rendered[case], "NetworkPolicy", "-agent")
            ports = {port["port"] for rule in policy["spec"]["egress"] for port in rule.get("ports", [])}
            self.assertEqual({443, 6443} <= ports, opens, case)

    def test_rules_that_are_read_live_restart_nobody(self):
        def templates(name):
            return {
                found["kind"]: json.dumps(found["spec"]["template"], sort_keys=True)
                for found in of_kind(documents(name), "DaemonSet", "Deployment")
            }

        before = templates("minimal")
        for name, (_, rolled) in CHANGES.items():
            with self.subTest(name):
                after = templates(f"changed-{name}")
                self.assertEqual({kind for kind in before if before[kind] != after[kind]}, rolled)
                self.assertNotEqual(documents("minimal"), documents(f"changed-{name}"))
        for name in LIVE:
            self.assertEqual(templates(name), templates(f"live-{name}"))
            self.assertNotEqual(documents(name), documents(f"live-{name}"))

    def test_dashboards_and_rules_are_those_of_the_project(self):
        objects = self.rendered["monitored"]
        boards = {
            key: json.loads(text)
            for found in of_kind(objects, "ConfigMap")
            if found["metadata"]["labels"].get("grafana_dashboard") == "1"
            for key, text in found["data"].items()
        }
        sources = (HERE.parents[1] / "grafana").glob("*.json")
        self.assertGreater(len(boards), 0)
        self.assertEqual(boards, {path.name: json.loads(path.read_text()) for path in sources})
        rules = [found["spec"] for found in of_kind(objects, "PrometheusRule")]
        for rule in (rule for spec in rules for group in spec["groups"] for rule in group["rules"]):
            url = rule.get("annotations", {}).get("runbook_url")
            if url:
                self.assertTrue(url.startswith("https://wiki.example.com/docs/"), url)
                rule["annotations"]["runbook_url"] = url.removeprefix("https://wiki.example.com/")
        sources = sorted((HERE.parents[1] / "prometheus").glob("*.rules.yaml"))
        self.assertGreater(len(sources), 0)
        self.assertCountEqual(rules, [yaml.safe_load(path.read_text()) for path in sources])

    def test_the_programs_take_their_configuration(self):
        """Checks each rendered configuration once with the real programs."""
        checked = set()
        for name, objects in self.rendered.items():
            with self.subTest(name):
                files = {}
                for found in of_kind(objects, "ConfigMap"):
                    files.update({key: text for key, text in found["data"].items() if key.endswith(".yaml")})
                for absent in {"rules.yaml", "ozhera-rules.yaml"} - files.keys():
                    files[absent] = "{}\n"
                parts = {
                    "log-agent": ("log-agent.yaml", "routing.yaml", "filters.yaml"),
                    "trace-etl-server": ("trace-etl-server.yaml", "rules.yaml", "ozhera-rules.yaml"),
                }
                for program, names in parts.items():
                    key = tuple(files[name] for name in names)
                    if key not in checked:
                        self.check(program, files, f"{len(checked)}")
                        checked.add(key)
        self.assertGreater(len(checked), 8)

    def test_a_changed_config_map_comes_into_force_in_a_running_agent(self):
        """Replaces a link to a directory, as kubelet does."""
        root = TARGET / "mounted"
        for name, suffix in {"config": "-agent", "routing": "-routing", "filters": "-filters"}.items():
            mount(root / name, named(self.rendered["minimal"], "ConfigMap", suffix)["data"], str(root))
        environment = {
            **os.environ,
            "TRACE_ETL_AGENT_STATE_DIRECTORY": str(root / "state"),
            "TRACE_ETL_AGENT_RING_ENABLED": "false",
            "TRACE_ETL_AGENT_OTLP_GRPC_PORT": "0",
            "TRACE_ETL_AGENT_OTLP_HTTP_PORT": "0",
            "TRACE_ETL_AGENT_TELEMETRY_PORT": "0",
            "TRACE_ETL_AGENT_ROCKETMQ_NAME_SERVER": "127.0.0.1:1",
            "TRACE_ETL_AGENT_ROUTING_FILE_POLL_MILLIS": "50",
            "TRACE_ETL_AGENT_FILTERS_FILE_POLL_MILLIS": "50",
        }
        command = java("log-agent", f"--config={root}/config/log-agent.yaml")
        with subprocess.Popen(command, env=environment, cwd=root, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as agent:  # fmt: skip
            # Ends the agent if an expected line does not appear.
            watchdog = threading.Timer(120, agent.kill)
            watchdog.start()
            try:
                said = []
                until(agent, said, "SIGHUP ")  # Ignored if this runs under nohup.
                for name, what in {"routing": "routing_file", "filters": "filters_file"}.items():
                    changed = f"live-{name}"
                    mount(root / name, named(documents(f"changed-{changed}"), "ConfigMap", f"-{name}")["data"], str(root))
                    until(agent, said, f"Applied the change of {what}")
            finally:
                watchdog.cancel()
                agent.kill()

    def check(self, program, files, name):
        root = TARGET / "etc" / name
        for folder, keys in {
            "config": ("log-agent.yaml", "trace-etl-server.yaml"),
            "routing": ("routing.yaml",),
            "filters": ("filters.yaml",),
            "rules": ("rules.yaml",),
            "ozhera-rules": ("ozhera-rules.yaml",),
        }.items():
            (root / folder).mkdir(parents=True)
            for key in keys:
                (root / folder / key).write_text(files[key].replace("/etc/trace-etl", str(root)))
        for path in re.findall(re.escape(str(root)) + r"/(?:secrets|tls)/\S+", (root / "config" / f"{program}.yaml").read_text()):
            path = pathlib.Path(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            source = {".crt": "tls.crt", ".key": "tls.key", ".pem": path.name}.get(path.suffix)
            text = SECRETS.get(path.name, "a-secret-of-the-test\n")
            path.write_text((CERTIFICATE / source).read_text() if source else text)
        command = java(program, f"--config={root}/config/{program}.yaml", "--check-config")
        # As the downward API gives it.
        environment = {**os.environ, "TRACE_ETL_AGENT_KUBERNETES_NODE_NAME": "node-1"}
        answer = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment)
        self.assertEqual(answer.returncode, 0, f"{files[program + '.yaml']}\n{answer.stdout}{answer.stderr}")
        self.assertNotIn("a-secret-of-the-test", answer.stdout + answer.stderr)


class ManifestsTest(unittest.TestCase):
    """Checks what bin/chart --manifests writes for kubectl, which must be on PATH."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(os.environ["CHART_MANIFESTS"])
        kubectl = shutil.which("kubectl")
        if not kubectl:
            raise unittest.SkipTest("no kubectl on PATH")
        cls.built = {}
        for name in ("kubernetes", "demo"):
            folder = cls.folder if name == "kubernetes" else cls.folder / name
            rendered = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True)
            assert rendered.returncode == 0, rendered.stderr
            cls.built[name] = list(yaml.safe_load_all(rendered.stdout))

    def test_objects_are_what_the_api_takes(self):
        for name, objects in self.built.items():
            self.assertGreater(len(objects), 5)
            for found in objects:
                with self.subTest(f"{name} {found['kind']}"):
                    if found["kind"] == "Namespace":
                        self.assertEqual(found["metadata"]["name"], "tracing")
                    else:
                        self.assertEqual(found["metadata"]["namespace"], "tracing")
                    for version in KUBERNETES:
                        kubernetes_validate.validate(found, version, strict=True)

    def test_patches_reach_the_containers(self):
        for name, objects in self.built.items():
            for _, spec in pods(objects):
                for container in containers(spec):
                    self.assertNotRegex(container["image"], "^trace-etl/")
        for kind, suffix, variable in (
            ("Deployment", "-server", "TRACE_ETL_ROCKETMQ_NAME_SERVER"),
            ("DaemonSet", "-agent", "TRACE_ETL_AGENT_ROCKETMQ_NAME_SERVER"),
        ):
            spec = named(self.built["kubernetes"], kind, suffix)["spec"]["template"]["spec"]
            self.assertIn(variable, [one["name"] for one in spec["containers"][0]["env"]])


class ComposeTest(unittest.TestCase):
    """Compares deploy/compose.yaml with the chart."""

    # Names of services by what the chart calls them.
    HOSTS = {
        "shop-trace-etl-rocketmq": "name-server",
        "shop-trace-etl-elasticsearch": "elasticsearch",
        # The chart's name server and broker share a pod.
        "localhost": "name-server",
    }
    # What the chart has in addition.
    AGENTS_OF_THE_CHART = {"routing.file", "filters.file"}
    BROKERS_NAME = "  # Journals have this name, which must outlive the container.\n  echo brokerName=broker-a\n"

    @classmethod
    def setUpClass(cls):
        text = (DEPLOY / "compose.yaml").read_text()
        # As Compose replaces variables, if none of them is set.
        text = re.sub(r"(?<!\$)\$\{\w+:-(.*?)\}", r"\1", text)
        cls.compose = resolved(yaml.safe_load(text))
        cls.services = cls.compose["services"]
        cls.objects = documents("compose")
        cls.containers = {
            container["name"]: (spec, container) for _, spec in pods(cls.objects) for container in spec["containers"]
        }

    def test_the_file_is_of_the_specification(self):
        compose_spec.PyCompose.from_json(json.dumps(self.compose)).validate()
        for name, service in self.services.items():
            self.assertLessEqual(service.get("depends_on", {}).keys(), self.services.keys(), name)
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("./"):
                    self.assertTrue((DEPLOY / source).is_dir(), volume)
                    self.assertTrue(volume.endswith(":ro"), volume)
                else:
                    self.assertIn(source, self.compose["volumes"])

    def test_containers_have_no_rights(self):
        for name, service in self.services.items():
            with self.subTest(name):
                self.assertEqual(service["cap_drop"], ["ALL"])
                self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
                self.assertEqual(service["read_only"], name != "elasticsearch")
                self.assertFalse({"privileged", "pid", "ipc", "devices"} & set(service))
                self.assertRegex(service["image"], r"^[a-z-]+(/[a-z-]+)?:[^/]+$")
                for port in service.get("ports", []):
                    self.assertTrue(port.startswith("127.0.0.1:"), port)
                if name == "directories":
                    # It makes the broker's user the owner of a new volume, and needs no other right.
                    self.assertEqual(service["entrypoint"][0], "chown")
                    self.assertEqual(service["cap_add"], ["CHOWN"])
                    self.assertEqual(service["network_mode"], "none")
                else:
                    self.assertNotIn("cap_add", service)
                    self.assertRegex(service["user"], r"^[1-9]\d*:[1-9]\d*$")
                    self.assertIn("mem_limit", service)
                if name not in ("directories", "topics"):
                    self.assertIn("healthcheck", service)

    def test_containers_are_those_of_the_chart(self):
        for name, of_chart in {
            "server-1": "server", "server-2": "server", "agent": "agent", "topics": "topics",
            "name-server": "name-server", "broker": "broker", "elasticsearch": "elasticsearch",
        }.items():
            with self.subTest(name):
                service, (spec, container) = self.services[name], self.containers[of_chart]
                user = spec["securityContext"]
                own = container["image"].startswith("trace-etl/")
                self.assertEqual(service["image"].split(":")[0], container["image"].split(":")[0])
                if not own:
                    self.assertEqual(service["image"], container["image"])
                self.assertEqual(service["user"], f"{user['runAsUser']}:{user['runAsGroup']}")
                self.assertEqual(bytes_of(service["mem_limit"]), bytes_of(container["resources"]["limits"]["memory"]))
                environment = {one["name"]: one["value"] for one in container.get("env", []) if "value" in one}
                self.assertEqual(service.get("environment", {}), environment)
                if own:
                    self.assertEqual(service["command"], container["args"])
                    grace = spec["terminationGracePeriodSeconds"]
                    self.assertEqual(service["stop_grace_period"], f"{grace}s")
                    path = container["readinessProbe"]["httpGet"]["path"]
                    self.assertIn(f"GET {path} ", service["healthcheck"]["test"][-1])

    def test_scripts_are_those_of_the_chart(self):
        for name in ("topics", "broker"):
            of_chart = self.of_compose(self.containers[name][1]["args"][0]).replace("$POD_IP", "$(hostname -i)")
            self.assertEqual(self.services[name]["command"][-1].replace(self.BROKERS_NAME, ""), of_chart)
        self.assertEqual(self.services["name-server"]["command"], self.containers["name-server"][1]["command"])
        self.assertEqual(
            (DEPLOY / "rocketmq" / "broker.conf").read_text().strip(),
            named(self.objects, "ConfigMap", "-rocketmq")["data"]["broker.conf"].strip(),
        )

    def test_configurations_are_those_of_the_chart(self):
        self.assertEqual(self.configuration("server"), self.of_chart("server", "trace-etl-server"))
        agent, of_chart = self.configuration("log-agent"), self.of_chart("agent", "log-agent")
        self.assertEqual(of_chart.keys() - agent.keys(), self.AGENTS_OF_THE_CHART)
        self.assertEqual(agent, {key: of_chart[key] for key in agent})

    def test_prometheus_scrapes_every_server_and_agent(self):
        config = yaml.safe_load((DEPLOY / "compose" / "prometheus" / "prometheus.yaml").read_text())
        targets = {target for job in config["scrape_configs"] for one in job["static_configs"] for target in one["targets"]}
        self.assertEqual(targets, {"server-1:8080", "server-2:8080", "agent:9465"})

    def configuration(self, name):
        (path,) = (DEPLOY / "compose" / name).iterdir()
        return flat(yaml.safe_load(path.read_text()))

    def of_chart(self, suffix, name):
        text = named(self.objects, "ConfigMap", f"-{suffix}")["data"][f"{name}.yaml"]
        return flat(yaml.safe_load(self.of_compose(text)))

    def of_compose(self, text):
        for host, service in self.HOSTS.items():
            text = text.replace(host, service)
        return text


def resolved(value):
    """Replaces $$ in all texts, as Compose does."""
    if isinstance(value, dict):
        return {key: resolved(one) for key, one in value.items()}
    if isinstance(value, list):
        return [resolved(one) for one in value]
    return value.replace("$$", "$") if isinstance(value, str) else value


def flat(config, path=""):
    """Returns the values of a configuration by their keys, as a.b.c."""
    values = {}
    for key, value in config.items():
        if isinstance(value, dict):
            values.update(flat(value, f"{path}{key}."))
        else:
            values[path + key] = value
    return values


def bytes_of(quantity):
    """Returns the bytes of a quantity of Kubernetes or Compose."""
    number, unit = re.fullmatch(r"(\d+)([KMG])i?", quantity.upper().replace("I", "i")).groups()
    return int(number) << {"K": 10, "M": 20, "G": 30}[unit]


def java(program, *arguments):
    return [
        os.environ["JAVA"], "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m",
        "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
        "-jar", os.environ[program.upper().replace("-", "_") + "_JAR"], *arguments,
    ]  # fmt: skip


def mount(directory, data, root):
    """Mounts files of a ConfigMap as kubelet does: links through a link that is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    content = directory / f"..{sum(1 for _ in directory.iterdir())}"
    content.mkdir()
    for name, text in data.items():
        (content / name).write_text(text.replace("/etc/trace-etl", root))
        if not (directory / name).is_symlink():
            (directory / name).symlink_to(pathlib.Path("..data", name))
    swapped = directory / "..data_tmp"
    swapped.symlink_to(content.name)
    swapped.rename(directory / "..data")


def until(process, said, awaited):
    """Reads the output of a process up to the awaited text."""
    for line in process.stdout:
        said.append(line)
        if awaited in line:
            return
    raise AssertionError(f"ended without '{awaited}':\n{''.join(said)}")


CERTIFICATE = TARGET.parent / "chart-certificate"


def make_certificate():
    CERTIFICATE.mkdir(parents=True, exist_ok=True)
    if not (CERTIFICATE / "tls.key").exists():
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=test",
             "-keyout", CERTIFICATE / "tls.key", "-out", CERTIFICATE / "tls.crt"],
            check=True, capture_output=True,
        )  # fmt: skip
    if not (CERTIFICATE / "public-keys.pem").exists():
        private, public = CERTIFICATE / "private-key.pem", CERTIFICATE / "public-keys.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True, capture_output=True)


if __name__ == "__main__":
    make_certificate()
    unittest.main(argv=sys.argv, verbosity=1)
