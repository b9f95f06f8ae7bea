"""A stand-in for google-cloud-storage 3 and google-api-core 2, which are not installed here: what
dataflux_core reads of their objects, under the names and with the values that the real ones have."""

import pickle


class AnonymousCredentials:
    """google.auth.credentials.AnonymousCredentials"""

    token = expiry = quota_project_id = None
    valid = True

    def refresh(self, request):
        raise AssertionError("anonymous credentials are never refreshed")


class ClientInfo:
    def __init__(self, user_agent=None):
        self.user_agent = user_agent


class Connection:
    def __init__(self, endpoint, client_info):
        self.API_BASE_URL = endpoint
        self._client_info = client_info


class Client:
    """As storage.Client(project=..., credentials=..., client_options={"api_endpoint": endpoint})."""

    def __init__(self, endpoint, credentials=None, project="project"):
        self.project = project
        self._credentials = AnonymousCredentials() if credentials is None else credentials
        self._connection = Connection(endpoint, ClientInfo(" gcloud-python/3.17.1 "))

    def bucket(self, name, user_project=None):
        return Bucket(self, name, user_project)

    def __getstate__(self):
        raise pickle.PicklingError("Pickling client objects is explicitly not supported.")


class Bucket:
    def __init__(self, client, name, user_project):
        self.client, self.name, self.user_project = client, name, user_project

    def blob(self, name):
        return Blob(name, self)


class Blob:
    def __init__(self, name, bucket):
        self.name, self.bucket, self.client = name, bucket, bucket.client
        self.user_project = bucket.user_project
        self.kms_key_name = self._encryption_key = None
        self._properties, self._changes = {}, set()

    def _patch_property(self, name, value):
        """What setting blob.metadata, blob.cache_control and the like does there."""
        self._properties[name] = value
        self._changes.add(name)


class Retry:
    """google.api_core.retry.Retry"""

    def __init__(self, initial, multiplier, maximum, timeout):
        self._initial, self._multiplier, self._maximum = initial, multiplier, maximum
        self._timeout = self._deadline = timeout


class ConditionalRetryPolicy:
    """google.cloud.storage.retry.ConditionalRetryPolicy"""

    def __init__(self, retry_policy):
        self.retry_policy = retry_policy
