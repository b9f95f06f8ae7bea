"""What a server of S3 needs before it judges the client, made by its own clients: s3_servers.py calls it.

    s3_setup.py buckets                 "judged-00" and on, and "judged-versions"
    s3_setup.py certificate FILE KEY    for localhost, signed by itself
"""

import datetime
import pathlib
import sys

COUNT = 60


def buckets():
    import boto3
    from botocore.config import Config

    client = boto3.client("s3", config=Config(s3={"addressing_style": "path"}))
    for number in range(COUNT):
        client.create_bucket(Bucket=f"judged-{number:02}")
    client.create_bucket(Bucket="judged-versions")
    client.put_bucket_versioning(Bucket="judged-versions", VersioningConfiguration={"Status": "Enabled"})


def certificate(path, key_path):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True).sign(key, hashes.SHA256()))
    pathlib.Path(path).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pathlib.Path(key_path).write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


if __name__ == "__main__":
    {"buckets": buckets, "certificate": certificate}[sys.argv[1]](*sys.argv[2:])
