"""A server with the interface of Azure's blobs on the loopback interface: Azurite, a process of its own.

It speaks TLS with a certificate that is made here, since `abfss://` has no other way. What it does otherwise than
Azure's: there is one account, without a hierarchical namespace, and only the Blob endpoint, so that a rename is a copy.
"""

import base64
import hashlib
import hmac
import ssl
import subprocess
import time
import urllib.parse
import urllib.request
from email.utils import formatdate
from xml.etree import ElementTree

AZURITE = "azurite@3.37.0"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of every Azurite, of its documentation."""
_PASSWORD = "changeit"
_VERSION = "2021-12-02"


class AzureServer:
    """A server that runs as long as the block does, with one container. `executables` has Azurite's."""

    container = "lake"
    host = f"{ACCOUNT}.dfs.core.windows.net"

    def __init__(self, executables, folder, port):
        self._executables, self._folder, self._port = executables, folder, port
        self._keys = folder / "tls.p12"
        # The certificate is the server's own; the clients of the tests check it, these few requests need not.
        self._tls = ssl._create_unverified_context()

    def __enter__(self):
        make = (
            "keytool -genkeypair -alias azurite -keyalg RSA -dname CN=localhost -ext san=ip:127.0.0.1 -storetype PKCS12"
        )
        keys = ["-keystore", self._keys, "-storepass", _PASSWORD]
        subprocess.run([*make.split(), *keys], check=True, capture_output=True)
        place = ["--location", self._folder / "blobs", "--blobHost", "127.0.0.1", "--blobPort", str(self._port)]
        tls = ["--cert", self._keys, "--pwd", _PASSWORD]
        serve = [
            self._executables / "azurite-blob",
            *place,
            *tls,
            "--loose",
            "--skipApiVersionCheck",
            "--disableTelemetry",
        ]
        log = self._folder / "azurite.log"
        with log.open("w") as file:
            self._process = subprocess.Popen(serve, stdout=file, stderr=file)
        deadline = time.monotonic() + 60
        while "successfully listens" not in log.read_text():
            assert self._process.poll() is None, log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self._request("PUT", restype="container")
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def objects(self, prefix=""):
        """Return the names of all blobs below a prefix, without those that stand for folders."""
        found = self._request("GET", restype="container", comp="list", include="metadata", prefix=prefix)
        blobs = [
            each.findtext("Name")
            for each in ElementTree.fromstring(found).iter("Blob")
            if each.findtext("Metadata/hdi_isfolder") != "true"
        ]
        return sorted(blobs)

    def text(self, name):
        """Return the text of a blob."""
        return self._request("GET", name)

    def put(self, name, text):
        """Write a blob."""
        self._request("PUT", name, text)

    def place(self, folder):
        """Return the URI of a folder of the container."""
        return f"abfss://{self.container}@{self.host}/{folder}"

    def conf(self):
        """Return the conf of a profile's output by which it is reached."""
        trusted = f"-Djavax.net.ssl.trustStore={self._keys} -Djavax.net.ssl.trustStorePassword={_PASSWORD}"
        return {
            "spark.hadoop.fs.azure.abfs.endpoint": f"127.0.0.1:{self._port}",
            "spark.hadoop.fs.azure.account.hns.enabled": "false",
            "spark.hadoop.fs.azure.fns.account.service.type": "BLOB",
            "spark.driver.extraJavaOptions": trusted,
        }

    def _request(self, method, name="", text="", **query):
        """Return the text of the answer to a request with a shared key; `text` is the blob that a PUT writes."""
        path = f"/{ACCOUNT}/{self.container}" + (f"/{urllib.parse.quote(name)}" if name else "")
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": _VERSION}
        kind = length = ""
        if name and method == "PUT":
            headers["x-ms-blob-type"] = "BlockBlob"
            kind, length = "text/plain", str(len(text.encode()) or "")
        signed = [method, "", "", length, "", kind, *[""] * 6]
        signed += [*(f"{key}:{value}" for key, value in sorted(headers.items())), f"/{ACCOUNT}{path}"]
        signed += [f"{key}:{value}" for key, value in sorted(query.items())]
        digest = hmac.digest(base64.b64decode(KEY), "\n".join(signed).encode(), hashlib.sha256)
        headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
        headers |= {"Content-Type": kind} if kind else {}
        url = f"https://127.0.0.1:{self._port}{path}?{urllib.parse.urlencode(query)}"
        body = text.encode() if kind else None
        request = urllib.request.Request(url, body, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=60, context=self._tls) as answer:
            return answer.read().decode()
