"""google-auth signs in by the files that dataflux signs in by: what each of them asks of the services
is compared field by field. Both are served by the emulator, behind a server that notes requests."""

import json
import os
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory
from unittest import mock

import dataflux
import google.auth
import google.auth.aws
import google.auth.external_account_authorized_user
import google.auth.transport.requests
from court import ENDPOINT, make_bucket

SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
POOL = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/emulator/providers/own"
WORKFORCE = "//iam.googleapis.com/locations/global/workforcePools/emulator/providers/own"
JWT = "urn:ietf:params:oauth:token-type:jwt"
SUBJECT = "emulator.subject.token"
TARGET = "target@example.iam.gserviceaccount.com"
FAR = "far@example.iam.gserviceaccount.com"
DELEGATE = "projects/-/serviceAccounts/delegate@example.iam.gserviceaccount.com"
USER = {"type": "authorized_user", "client_id": "emulator-client", "client_secret": "emulator-secret",
        "refresh_token": "emulator-refresh-token"}
AWS = {"AWS_ACCESS_KEY_ID": "AKIAEMULATOR00000000",
       "AWS_SECRET_ACCESS_KEY": "emulator/secret+key/00000000000000000000"}
# What is compared of a request's header fields: the others say which program it is.
FIELDS = ("content-type", "authorization", "metadata", "metadata-flavor", "x-aws-ec2-metadata-token")


class Recorder(BaseHTTPRequestHandler):
    """Notes each request, and has the emulator answer it."""

    seen = []

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        Recorder.seen.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length", "connection")}
        asked = urllib.request.Request(ENDPOINT + self.path, data=body or None, method=self.command, headers=headers)
        try:
            reply = urllib.request.urlopen(asked, timeout=30)
        except urllib.error.HTTPError as refused:
            reply = refused
        text = reply.read()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do

    def log_message(self, *_):
        pass


def fields_of(request):
    """A request, as a dict that two clients can be compared by."""
    method, path, headers, body = request
    made = {"method": method, "path": path}
    for name in FIELDS:
        if name in headers:
            made[name] = headers[name]
    if made.get("authorization", "").startswith("Bearer "):
        made["authorization"] = "Bearer"  # each has a token of its own
    if made.get("content-type", "").startswith("application/x-www-form"):
        made["form"] = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True, keep_blank_values=True))
    elif body:
        made["json"] = json.loads(body)
    return made


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = make_bucket("auth-" + cls.__name__.lower())
        cls.server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
        cls.at = f"http://127.0.0.1:{cls.server.server_port}"
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.folder = TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        cls.folder.cleanup()

    def file(self, document, name="credentials.json"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as out:
            out.write(document if isinstance(document, str) else json.dumps(document))
        return path

    @contextmanager
    def noted(self):
        Recorder.seen = []
        found = []
        yield found
        found.extend(fields_of(request) for request in Recorder.seen)

    def asked_by_both(self, document, **variables):
        """What each of them asks for one token: google-auth, then dataflux."""
        path = self.file(document)
        with mock.patch.dict(os.environ, variables):
            with self.noted() as theirs:
                credentials, _ = google.auth.load_credentials_from_file(path, scopes=[SCOPE])
                credentials.refresh(google.auth.transport.requests.Request())
            with self.noted() as ours:
                with dataflux.Client(endpoint=ENDPOINT, emulator=True, tokens_to_emulator=True,
                                     credentials_file=path) as client:
                    self.assertEqual([], list(client.list(f"gs://{self.bucket}/")))
        self.assertTrue(theirs and ours)
        return theirs, ours

    def account(self, email=TARGET):
        return f"{self.at}/v1/projects/-/serviceAccounts/{email}:generateAccessToken"

    def external(self, source, **more):
        return {"type": "external_account", "audience": POOL, "subject_token_type": JWT,
                "token_url": self.at + "/v1/token", "credential_source": source, **more}

    def same(self, document, **variables):
        theirs, ours = self.asked_by_both(document, **variables)
        for request in theirs + ours:
            # protocol.md 4.4: google-auth asks for iam where others ask for cloud-platform.
            form = request.get("form", {})
            if form.get("scope") in ("https://www.googleapis.com/auth/iam",
                                     "https://www.googleapis.com/auth/cloud-platform"):
                form["scope"] = "a scope for IAM"
            # It writes "delegates": null where there are none.
            if request.get("json", {}).get("delegates", ()) is None or not request.get("json", {}).get("delegates", 1):
                request["json"].pop("delegates")
        self.assertEqual(theirs, ours)
        return theirs


class Sources(Judge):
    def url(self):
        return {"url": self.at + "/metadata/identity/oauth2/token?resource=r", "headers": {"Metadata": "true"},
                "format": {"type": "json", "subject_token_field_name": "access_token"}}

    def tokens_differ(self, requests):
        """A token of the issuer is good once, so that each has its own."""
        for request in requests:
            request.get("form", {}).pop("subject_token", None)

    def test_file(self):
        self.same(self.external({"file": self.file(SUBJECT, "token")}))
        document = self.external({"file": self.file(json.dumps({"jwt": SUBJECT}), "token"),
                                  "format": {"type": "json", "subject_token_field_name": "jwt"}})
        asked = self.same(document)
        self.assertEqual(SUBJECT, asked[-1]["form"]["subject_token"])

    def test_client(self):
        self.same(self.external({"file": self.file(SUBJECT, "token")}, client_id="emulator-client",
                                client_secret="emulator-secret"))

    def test_workforce(self):
        document = self.external({"file": self.file(SUBJECT, "token")}, audience=WORKFORCE,
                                 workforce_pool_user_project="p 1/\u00e4")
        theirs, ours = self.asked_by_both(document)
        for asked in (theirs, ours):  # one writes the letter as it is, one as an escape of JSON
            options = asked[0]["form"].pop("options")
            self.assertEqual({"userProject": "p 1/\u00e4"}, json.loads(urllib.parse.unquote(options)))
        self.assertEqual(theirs, ours)

    def test_url(self):
        theirs, ours = self.asked_by_both(self.external(self.url()))
        self.tokens_differ(theirs + ours)
        self.assertEqual(theirs, ours)

    def test_program(self):
        said = {"version": 1, "success": True, "token_type": JWT, "id_token": SUBJECT}
        self.same(self.external({"executable": {"command": f"cat '{self.file(said, 'answer')}'"}}),
                  GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES="1")

    def test_program_environment(self):
        """Both tell the program the same."""
        program = self.file(
            "import json, os, sys\n"
            "known = {k: v for k, v in os.environ.items() if k.startswith('GOOGLE_EXTERNAL_ACCOUNT_')}\n"
            "json.dump(known, open(sys.argv[1], 'a')); open(sys.argv[1], 'a').write('\\n')\n"
            f"print(json.dumps({{'version': 1, 'success': True, 'token_type': '{JWT}', 'id_token': '{SUBJECT}'}}))\n",
            "program.py")
        told = os.path.join(self.folder.name, "told")
        self.same(self.external({"executable": {"command": f"python3 {program} {told}",
                                                "output_file": os.path.join(self.folder.name, "none")}},
                                service_account_impersonation_url=self.account()),
                  GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES="1")
        with open(told) as lines:
            theirs, ours = (json.loads(line) for line in lines)
        # It forgets the account, of which its own documentation speaks.
        for name in ("GOOGLE_EXTERNAL_ACCOUNT_ID", "GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL"):
            theirs.pop(name, None)
            self.assertEqual(TARGET, ours.pop(name))
        self.assertEqual(theirs, ours)

    def aws(self):
        return self.external({
            "environment_id": "aws1", "region_url": self.at + "/latest/meta-data/placement/availability-zone",
            "url": self.at + "/latest/meta-data/iam/security-credentials",
            "imdsv2_session_token_url": self.at + "/latest/api/token",
            "regional_cred_verification_url":
                "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"},
            subject_token_type="urn:ietf:params:aws:token-type:aws4_request")

    @staticmethod
    def signed(request):
        """The signed request in a subject token, without its time and what follows from that."""
        known = json.loads(urllib.parse.unquote(request["form"].pop("subject_token")))
        fields = {line["key"]: line["value"] for line in known.pop("headers")}
        fields["Authorization"] = fields["Authorization"].split("Signature=")[0]
        fields.pop("x-amz-date")
        return known, fields, list(fields)

    def test_aws_variables(self):
        theirs, ours = self.asked_by_both(self.aws(), **AWS, AWS_REGION="eu-west-1")
        self.assertEqual(self.signed(theirs[0]), self.signed(ours[0]))
        self.assertEqual(theirs, ours)

    def test_aws_instance(self):
        theirs, ours = self.asked_by_both(self.aws())
        # It asks for the region first, and for a session each time.
        paths = [{request["path"].rstrip("/") for request in asked} for asked in (theirs, ours)]
        self.assertEqual(*paths)
        ask, answer = self.signed(theirs[-1]), self.signed(ours[-1])
        for _, fields, _ in (ask, answer):
            fields.pop("x-amz-security-token")
            fields["Authorization"] = fields["Authorization"].split("/", 1)[1]
        self.assertEqual(ask, answer)
        self.assertEqual(theirs[-1], ours[-1])


class Acting(Judge):
    def test_workload(self):
        document = self.external({"file": self.file(SUBJECT, "token")},
                                 service_account_impersonation_url=self.account(),
                                 service_account_impersonation={"token_lifetime_seconds": 900})
        asked = self.same(document)
        self.assertEqual("900s", asked[-1]["json"]["lifetime"])

    def acting(self, source, email=TARGET, delegates=()):
        return {"type": "impersonated_service_account", "delegates": list(delegates), "source_credentials": source,
                "service_account_impersonation_url": self.account(email)}

    def test_person(self):
        """google-auth goes to Google alone for a person's token and for an account's, whatever the file says."""
        path = self.file(self.acting({**USER, "token_uri": self.at + "/token"}, FAR, [DELEGATE]))
        with self.noted() as ours:
            with dataflux.Client(endpoint=ENDPOINT, emulator=True, tokens_to_emulator=True,
                                 credentials_file=path) as client:
                list(client.list(f"gs://{self.bucket}/"))
        with self.noted() as theirs:
            credentials, _ = google.auth.load_credentials_from_file(path, scopes=[SCOPE])
            credentials._source_credentials._token_uri = self.at + "/token"
            with mock.patch("google.auth.iam._IAM_ENDPOINT", self.account("{}")):
                credentials.refresh(google.auth.transport.requests.Request())
        self.assertEqual(theirs[-1], ours[-1])
        self.assertEqual([DELEGATE], ours[-1]["json"]["delegates"])

    def test_workforce(self):
        """Each refresh token is good once, so that they cannot both have it: what ours asks is compared
        with what theirs would."""
        path = self.file({"type": "external_account_authorized_user", "audience": WORKFORCE,
                          "client_id": "emulator-client", "client_secret": "emulator-secret",
                          "refresh_token": "emulator-workforce-refresh-token", "token_url": self.at + "/v1/oauthtoken"})
        with self.noted() as ours:
            with dataflux.Client(endpoint=ENDPOINT, emulator=True, tokens_to_emulator=True,
                                 credentials_file=path) as client:
                list(client.list(f"gs://{self.bucket}/"))
        with self.noted() as theirs:
            credentials, _ = google.auth.load_credentials_from_file(path, scopes=[SCOPE])
            with self.assertRaises(google.auth.exceptions.GoogleAuthError):
                credentials.refresh(google.auth.transport.requests.Request())
        self.assertEqual(theirs[:1], ours)


class Samples(unittest.TestCase):
    def test_facts(self):
        """Each sample that one reads the other reads, to the same facts."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
        with open(os.path.join(os.path.dirname(__file__), "../vectors/credentials/samples.json")) as text:
            samples = json.loads(text.read().replace('"@KEY@"', json.dumps(key)))
        read = 0
        for sample in samples:
            with self.subTest(sample["name"]):
                if "error" in sample:
                    continue
                credentials, project = google.auth.load_credentials_from_dict(sample["file"], scopes=[SCOPE])
                read += 1
                self.assertEqual(sample.get("quota_project"), credentials.quota_project_id)
                self.assertEqual(sample["universe"], credentials.universe_domain)
                if sample["file"]["type"] == "service_account":
                    self.assertEqual(sample["project"], project)
        self.assertGreater(read, 10)


def setUpModule():
    # google-auth asks Google which project a pool is of, for who wants to know.
    for place in ("external_account.Credentials", "external_account_authorized_user.Credentials"):
        unasked = mock.patch(f"google.auth.{place}.get_project_id", return_value=None)
        unasked.start()
        unittest.addModuleCleanup(unasked.stop)
    # What the machine has of its own counts for nothing.
    for name in list(os.environ):
        if name.startswith(("AWS_", "GOOGLE_")):
            del os.environ[name]
    os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull


if __name__ == "__main__":
    unittest.main()
