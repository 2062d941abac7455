#!/usr/bin/env python3
"""Signs and verifies the provenance of a release; bin/release calls it.

The provenance is an in-toto statement with a predicate of SLSA provenance 1.0, in a DSSE envelope:
https://slsa.dev/spec/v1.0/provenance, https://github.com/secure-systems-lab/dsse/blob/v1.0.2/envelope.md
"""

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = "provenance.intoto.jsonl"
SUMS = "SHA256SUMS"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_BYTES = 1 << 20


class Refused(Exception):
    """Says what is wrong, for the user."""


def sha256(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(MAX_BYTES):
            digest.update(block)
    return digest.hexdigest()


def subjects(folder):
    """Returns the SHA-256 of each file of the release, by name."""
    return {path.name: sha256(path) for path in sorted(folder.iterdir()) if path.name not in (FILE, SUMS)}


def statement(folder, commit, version, parameters, tools):
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects(folder).items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:trace-etl:bin-release:1",
                "externalParameters": {"version": version, "parameters": parameters},
                "internalParameters": dict(tool.split("=", 1) for tool in tools),
                "resolvedDependencies": [{"name": "source", "digest": {"gitCommit": commit}}],
            },
            "runDetails": {"builder": {"id": "urn:trace-etl:holder-of-the-key"}},
        },
    }


def signed_bytes(payload):
    """Returns what DSSE signs: its pre-authentication encoding."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def openssl(*arguments):
    try:
        return subprocess.run(["openssl", *arguments], capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise Refused("requires openssl 3; found none on PATH") from None
    except subprocess.CalledProcessError as e:
        raise Refused(f"openssl {arguments[0]} failed: {e.stderr.decode(errors='replace').strip()}") from None


def public_key(key, is_private):
    """Returns the public key as DER, whose last 32 bytes are the key itself."""
    read = ["-in", str(key)] if is_private else ["-pubin", "-in", str(key)]
    der = openssl("pkey", *read, "-pubout", "-outform", "DER")
    if len(der) != 44:
        raise Refused(f"--key {key}: must be an Ed25519 key as PEM (openssl genpkey -algorithm ed25519)")
    return der


def sign(folder, key, commit, version, parameters, tools):
    key_id = hashlib.sha256(public_key(key, True)).hexdigest()
    payload = json.dumps(statement(folder, commit, version, parameters, tools)).encode()
    with tempfile.NamedTemporaryFile() as message:
        message.write(signed_bytes(payload))
        message.flush()
        signature = openssl("pkeyutl", "-sign", "-rawin", "-inkey", str(key), "-in", message.name)
    envelope = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key_id, "sig": base64.b64encode(signature).decode()}],
    }
    (folder / FILE).write_text(json.dumps(envelope) + "\n")


def payload_of(file, key):
    """Returns the payload of a signed file."""
    public_key(key, False)
    try:
        with file.open("rb") as opened:
            envelope = json.loads(opened.read(MAX_BYTES))
        payload = base64.b64decode(envelope["payload"], validate=True)
        signatures = [base64.b64decode(each["sig"], validate=True) for each in envelope["signatures"]]
        kind = envelope["payloadType"]
    except OSError as e:
        raise Refused(f"{file}: {e.strerror}") from None
    except (ValueError, KeyError, TypeError) as e:
        raise Refused(f"{file} is not a DSSE envelope: {e!r}") from None
    if kind != PAYLOAD_TYPE or len(signatures) != 1:
        raise Refused(f"{file}: must have payloadType {PAYLOAD_TYPE} and one signature")
    with tempfile.NamedTemporaryFile() as message, tempfile.NamedTemporaryFile() as signature:
        message.write(signed_bytes(payload))
        message.flush()
        signature.write(signatures[0])
        signature.flush()
        try:
            openssl(
                "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", str(key),
                "-in", message.name, "-sigfile", signature.name,
            )
        except Refused:
            raise Refused(f"{file}: the signature is not of key {key}") from None
    return payload


def verify(folder, key):
    stated = json.loads(payload_of(folder / FILE, key))
    expected = {each["name"]: each["digest"]["sha256"] for each in stated["subject"]}
    found = subjects(folder)
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            raise Refused(f"{folder / name}: is missing")
        if name not in expected:
            raise Refused(f"{folder / name}: the provenance does not name it")
        if expected[name] != found[name]:
            raise Refused(f"{folder / name}: has other bytes than the provenance says")
    commit = stated["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"]["gitCommit"]
    print(f"{len(found)} files are those of the provenance; commit {commit}")


def main():
    parser = argparse.ArgumentParser(prog="bin/release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    signing = commands.add_parser("sign")
    signing.add_argument("--commit", required=True)
    signing.add_argument("--version", required=True)
    signing.add_argument("--parameter", action="append", default=[])
    signing.add_argument("--tool", action="append", default=[], metavar="NAME=VERSION")
    verifying = commands.add_parser("verify")
    for command in (signing, verifying):
        command.add_argument("--key", required=True, type=Path)
        command.add_argument("folder", type=Path)
    given = parser.parse_args()
    try:
        if not given.folder.is_dir():
            raise Refused(f"{given.folder}: must be the folder of a release")
        if not given.key.is_file():
            raise Refused(f"--key {given.key}: must be a file")
        if given.command == "sign":
            sign(given.folder, given.key, given.commit, given.version, given.parameter, given.tool)
        else:
            verify(given.folder, given.key)
    except Refused as e:
        sys.exit(f"bin/release: {e}")


if __name__ == "__main__":
    main()
