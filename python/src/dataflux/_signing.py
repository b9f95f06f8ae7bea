"""Signatures for others, who have no credentials: URLs, and forms for uploads."""

from __future__ import annotations

from ._attributes import _text
from ._calls import Call, calling, json_of
from ._library import addressof, byref, kind_of, struct
from ._place import Places, nanoseconds, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import timedelta
    from typing import Any, Dict, Literal, Tuple, TypedDict

    from typing_extensions import Unpack

    from ._object import Place

    class Signer(TypedDict, total=False):
        style: Literal["path", "virtual_hosted", "bucket_bound"]
        host: str | None
        scheme: Literal["https", "http"] | None
        account: str | None
        access_key_id: str | None
        secret_access_key: str | None

_STYLES = ("path", "virtual_hosted", "bucket_bound")
_TEXTS = ("host", "scheme", "account", "access_key_id", "secret_access_key")
_arrays = {}
_RULES = {"eq": 0, "starts-with": 1, "content-length-range": 2}


def _life(value):
    """Nanoseconds of seconds or a timedelta."""
    if hasattr(value, "total_seconds"):
        value = value.total_seconds()
    if value is None:
        raise TypeError("expires: seconds or a timedelta are needed, and not None")
    return nanoseconds(value, "expires")


def _sign_options(bucket, name, generation, expires, timeout, how, verb):
    for given in how:
        if given != "style" and given not in _TEXTS:
            raise TypeError(f"{verb}() got an unexpected keyword argument {given!r}")
    style = how.get("style", "path")
    one_of(style, "style", _STYLES)
    texts = {name: _text(how[name], name) for name in _TEXTS if how.get(name) is not None}
    return struct("sign_options", bucket=bucket, object=name or None, generation=generation, life_ns=_life(expires),
                  style=_STYLES.index(style), timeout_ns=nanoseconds(timeout), **texts)


def _pairs(value, argument):
    """Names and values as two arrays of C, and how many."""
    import ctypes

    if value is None:
        value = {}
    rows = value.items() if hasattr(value, "items") else value
    try:
        rows = [(name, text) for name, text in ([] if isinstance(rows, (str, bytes)) else rows)]
    except (TypeError, ValueError):
        rows = None
    if rows is None or isinstance(value, (str, bytes)):
        raise TypeError(f"{argument}: a dict of str to str, or pairs of them, are needed, and not a "
                        f"{type(value).__name__}")
    names = [_text(name, f"{argument}: a name") for name, _ in rows]
    values = [_text(text, f"{argument}[{name!r}]") for name, text in rows]
    kind = ctypes.c_char_p * len(rows)
    return kind(*names), kind(*values), len(rows)


def _conditions(given):
    """An array of dataflux_form_condition, which keeps alive what it points to, and how many."""
    try:
        rows = [tuple(row) for row in ([] if given is None else given)]
    except TypeError:
        raise TypeError('conditions: triples are needed, such as ("starts-with", "$acl", "")') from None
    # A type is in cycles: those of powers of two are made once, and have room for some more.
    room = 1 << max(len(rows) - 1, 0).bit_length()
    if room not in _arrays:
        _arrays[room] = kind_of("form_condition") * room
    made = _arrays[room]()
    for each, row in zip(made, rows):
        if len(row) != 3 or row[0] not in _RULES:
            raise ValueError(f"conditions: {row!r} is none: it has the form of a policy's, (\"eq\", field, value), "
                             "(\"starts-with\", field, value) or (\"content-length-range\", least, most)")
        rule, first, second = row
        each.rule = _RULES[rule]
        if rule == "content-length-range":
            from ._place import count_of

            each.least = count_of(first, "conditions: the least size")
            each.most = count_of(second, "conditions: the greatest size")
        else:
            field = _text(first, "conditions: a field")
            each.field = field[1:] if field.startswith(b"$") else field
            each.value = _text(second, f"conditions: the value of {first!r}")
    return made, len(rows)


def _form_of(operation, record):
    made = json_of(operation)
    return made["url"], dict(made["fields"])


class SigningVerbs(Places):
    """What a client signs for others. What it gives stands in for credentials: keep it as one.

    Who signs, at Google: the HMAC key, where one is given. Else the service account of the client's
    credentials_file, or of those that it finds, by its key. Else IAM, for the account of these
    credentials or for `account`: then the client's principal needs the permission
    iam.serviceAccounts.signBlob on it, and its token the scope cloud-platform. On a machine of the
    cloud its metadata server tells the account. At S3 the client's keys sign; those of a session
    may end before the URL does.

    A client of `credentials` has a token and no key: it signs by IAM, and needs `account`.

    style: "path" (HOST/BUCKET/NAME), "virtual_hosted" (BUCKET.HOST/NAME) or "bucket_bound"
        (HOST/NAME, where `host` is a name of your own that leads to the bucket). Of Google's.
    host, scheme: in place of the endpoint's. Of Google's.
    account: the e-mail address of a service account. Of Google's.
    access_key_id, secret_access_key: an HMAC key of Google's.
    """

    def sign_url(self, url: Place, *, expires: float | timedelta = 3600, method: str = "GET",
                 headers: Mapping[str, str] | None = None, query: Mapping[str, str] | None = None,
                 generation: int = 0, timeout: float | None = None, **how: Unpack[Signer]) -> str:
        """Signs a URL, which lets its holder send one kind of request until it expires.

        Arguments:
            url: of the object; of a bucket: its listing. A row or an Object of Google's means that
                generation.
            expires: seconds or a timedelta from now, 1 s to 7 days.
            method: "GET", "HEAD", "PUT", "POST" or "DELETE".
            headers: fields that must be sent alike, such as {"content-type": "image/png"}.
                x-goog-content-sha256 (of S3 x-amz-content-sha256) says what the body must be.
            query: parameters, such as {"response-content-disposition": "attachment"}.
            generation: which; 0 = that of the row, or the live one. Of Google's.
            style, host, scheme, account, access_key_id, secret_access_key: see SigningVerbs.
            timeout: seconds for the whole call; None = no limit.

        Returns: the URL, a secret. Signing by a key asks nobody, not even whether the object exists.
        Raises: PreconditionError when nobody can sign; PermissionDeniedError of IAM.
        """
        bucket, name, known = self._signed_place(url)
        which = generation or (known if self._scheme == "gs" else 0)
        options = _sign_options(bucket, name, which, expires, timeout, how, "sign_url")
        names, values, count = _pairs(headers, "headers")
        keys, texts, parameters = _pairs(query, "query")
        request = struct("signed_request", method=_text(method, "method"), header_names=addressof(names),
                         header_values=addressof(values), header_count=count, parameter_names=addressof(keys),
                         parameter_values=addressof(texts), parameter_count=parameters)
        request.kept = names, values, keys, texts
        return self._run(Call(calling("sign_url", byref(options), byref(request)),
                              lambda operation, record: json_of(operation)["url"]))

    def sign_form(self, url: Place, *, expires: float | timedelta = 3600,
                  fields: Mapping[str, str] | None = None,
                  conditions: Iterable[Tuple[Any, ...]] | None = None,
                  timeout: float | None = None, **how: Unpack[Signer]) -> Tuple[str, Dict[str, str]]:
        """Signs the policy of a form of HTML, which lets the holder of its fields upload an object.

            url, fields = client.sign_form("gs://bucket/in/${filename}", conditions=[
                ("content-length-range", 0, 1 << 20)])
            requests.post(url, data=fields, files={"file": open("a.png", "rb")})

        Arguments:
            url: of the object; "${filename}" at its end stands for the name of the file.
            expires: seconds or a timedelta from now, 1 s to 7 days.
            fields: further ones, such as {"content-type": "image/png"}, which must be sent as they are.
            conditions: of fields that the form's user fills in, in the words of a policy: ("eq", field,
                value), ("starts-with", field, value), ("content-length-range", least, most).
            style, host, scheme, account, access_key_id, secret_access_key: see SigningVerbs.
            timeout: seconds for the whole call; None = no limit.

        Returns: where to send the form, and all of its fields but the file, which comes last.
        Raises: as sign_url(); UnimplementedError at S3.
        """
        bucket, name, _ = self._object_place(url)
        options = _sign_options(bucket, name, 0, expires, timeout, how, "sign_form")
        names, values, count = _pairs(fields, "fields")
        rules, rule_count = _conditions(conditions)
        return self._run(Call(calling("sign_form", byref(options), byref(names), byref(values), count, byref(rules),
                                      rule_count), _form_of))

    def _signed_place(self, url):
        """(bucket, name, generation); of a bucket with no name."""
        bucket, name = self._prefix_place(url)
        return (bucket, b"", 0) if not name else self._object_place(url)
