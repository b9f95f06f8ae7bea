// @google-cloud/storage, Google's own client for Node: simple and resumable uploads, streams, and
// the JSON API's edits.
'use strict';
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {createRequire} = require('node:module');
const {pipeline} = require('node:stream/promises');
const {Readable} = require('node:stream');
const {after, before, test} = require('node:test');

const tools = createRequire(path.join(process.env.DATAFLUX_JUDGE_MODULES, 'package.json'));
const {Storage, TransferManager} = tools('@google-cloud/storage');
const {OAuth2Client} = tools('google-auth-library');

const endpoint = process.env.STORAGE_EMULATOR_HOST;
delete process.env.STORAGE_EMULATOR_HOST;  // it would leave out /storage/v1 from all addresses
const KIB = 1 << 10;
const MIB = 1 << 20;
let storage, bucket, folder;

function noise(size, seed = 1) {
  const key = Buffer.alloc(32, seed & 255);
  const cipher = crypto.createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return cipher.update(Buffer.alloc(size));
}

function file(name, data) {
  const to = path.join(folder, name);
  fs.writeFileSync(to, data);
  return to;
}

async function openUploads() {
  const seen = await (await fetch(endpoint + '/_emulator/counters')).json();
  return seen.multipartUploadsOpen + seen.resumableUploadsOpen;
}

async function read(name, options) {
  const [data] = await bucket.file(name, options).download();
  return data;
}

async function names(options) {
  const [files] = await bucket.getFiles(options);
  return files.map(f => f.name);
}

const refused = code => error => error.code === code;

// The multipart upload over XML ignores scheme and port of the endpoint: it asks
// https://BUCKET.HOST/OBJECT, by path here.
class RoadOfParts extends OAuth2Client {
  request(options) {
    const asked = new URL(options.url);
    const [name] = asked.hostname.split('.');
    return super.request({...options, url: `${endpoint}/${name}${asked.pathname}${asked.search}`});
  }
}

before(async () => {
  storage = new Storage({apiEndpoint: endpoint, projectId: 'judges',
                         retryOptions: {autoRetry: false}});
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dataflux-judge-'));
  [bucket] = await storage.createBucket('node-judge');
});
after(() => fs.rmSync(folder, {recursive: true}));

test('buckets are made, patched, listed and deleted', async () => {
  const [made] = await storage.createBucket('node-made', {location: 'EU'});
  await assert.rejects(storage.createBucket('node-made'), refused(409));
  await made.setMetadata({labels: {team: 'judges'}});
  const [metadata] = await made.getMetadata();
  assert.deepEqual([metadata.labels, metadata.location], [{team: 'judges'}, 'EU']);
  const [all] = await storage.getBuckets();
  assert.ok(all.some(b => b.name === 'node-made'));
  await made.delete();
  assert.deepEqual(await made.exists(), [false]);
});

test('save and download', async () => {
  for (const resumable of [false, true]) {
    for (const validation of ['crc32c', 'md5', false]) {
      for (const size of [0, 1, 100000, MIB + 1]) {
        const data = noise(size, size);
        const name = `saved/\u00e4 #?%2F+${size}`;
        await bucket.file(name).save(data, {
          resumable, validation, contentType: 'text/x-judge', metadata: {metadata: {who: 'judge'}}});
        const [metadata] = await bucket.file(name).getMetadata();
        assert.deepEqual(
          [metadata.size, metadata.contentType, metadata.metadata, metadata.md5Hash],
          [String(size), 'text/x-judge', {who: 'judge'},
           crypto.createHash('md5').update(data).digest('base64')]);
        const [got] = await bucket.file(name).download({validation});
        assert.ok(data.equals(got));
      }
    }
  }
  assert.equal(await openUploads(), 0);
});

test('resumable upload in chunks, and of unknown length', async () => {
  for (const size of [0, 256 * KIB, MIB, MIB + 17]) {
    const data = noise(size, size);
    const source = file('source', data);
    // With a chunk size it sends "bytes 0--1/0" for an empty file.
    const chunkSize = size === 0 ? undefined : 256 * KIB;
    await bucket.upload(source, {destination: 'chunks', resumable: true, chunkSize});
    assert.ok(data.equals(await read('chunks')));
    await pipeline(Readable.from(data.length ? [data.subarray(0, 1), data.subarray(1)] : []),
                   bucket.file('stream').createWriteStream({resumable: true}));
    assert.ok(data.equals(await read('stream')));
  }
  assert.equal(await openUploads(), 0);
});

test('an interrupted session is continued where it stopped', async () => {
  const data = noise(MIB, 7);
  const [uri] = await bucket.file('continued').createResumableUpload({});
  const first = await fetch(uri, {method: 'PUT', body: data.subarray(0, 512 * KIB),
    headers: {'Content-Range': `bytes 0-${512 * KIB - 1}/${MIB}`}, redirect: 'manual'});
  assert.deepEqual([first.status, first.headers.get('range')], [308, `bytes=0-${512 * KIB - 1}`]);
  await pipeline(Readable.from([data.subarray(512 * KIB)]), bucket.file('continued')
    .createWriteStream({uri, offset: 512 * KIB, resumable: true, validation: false,
                        isPartialUpload: false, metadata: {contentLength: MIB}}));
  assert.ok(data.equals(await read('continued')));
});

test('ranges and streams', async () => {
  const data = noise(MIB, 3);
  await bucket.file('ranges').save(data, {resumable: false});
  const [some] = await bucket.file('ranges').download({start: 5, end: 9});
  assert.ok(data.subarray(5, 10).equals(some));
  const parts = [];
  for await (const part of bucket.file('ranges').createReadStream({start: MIB - 10})) {
    parts.push(part);
  }
  assert.ok(data.subarray(MIB - 10).equals(Buffer.concat(parts)));
  const target = path.join(folder, 'target');
  await bucket.file('ranges').download({destination: target});
  assert.ok(data.equals(fs.readFileSync(target)));
  await assert.rejects(read('none'), refused(404));
});

test('a gzipped object is unpacked unless asked not to', async () => {
  const text = Buffer.from('much the same '.repeat(1000));
  await bucket.file('packed').save(text, {gzip: true, resumable: false});
  const [metadata] = await bucket.file('packed').getMetadata();
  assert.equal(metadata.contentEncoding, 'gzip');
  assert.ok(Number(metadata.size) < text.length);
  assert.ok(text.equals(await read('packed')));
  const [raw] = await bucket.file('packed').download({decompress: false});
  assert.equal(raw.length, Number(metadata.size));
});

test('metadata is patched, under conditions', async () => {
  await bucket.file('patched').save('x', {resumable: false});
  await bucket.file('patched').setMetadata({metadata: {a: '1', b: '2'}, contentLanguage: 'de'});
  await bucket.file('patched').setMetadata({metadata: {a: null}});
  const [metadata] = await bucket.file('patched').getMetadata();
  assert.deepEqual([metadata.metadata, metadata.contentLanguage, String(metadata.metageneration)],
                   [{b: '2'}, 'de', '3']);
  await assert.rejects(
    bucket.file('patched').setMetadata({contentLanguage: 'fr'}, {ifMetagenerationMatch: 1}),
    refused(412));
});

test('generations guard writes', async () => {
  const once = {resumable: false, preconditionOpts: {ifGenerationMatch: 0}};
  await bucket.file('once').save('1', once);
  await assert.rejects(bucket.file('once').save('2', once), refused(412));
  await assert.rejects(bucket.file('once').save('2', {...once, resumable: true}), refused(412));
  const [metadata] = await bucket.file('once').getMetadata();
  await assert.rejects(bucket.file('once').delete({ifGenerationMatch: 1}), refused(412));
  await bucket.file('once').delete({ifGenerationMatch: metadata.generation});
  assert.deepEqual(await bucket.file('once').exists(), [false]);
});

test('copy, move, rename, combine, delete', async () => {
  await bucket.file('from').save('1', {resumable: false, contentType: 'text/x-judge'});
  await bucket.file('from').copy(bucket.file('copy \u00e4'));
  const [metadata] = await bucket.file('copy \u00e4').getMetadata();
  assert.equal(metadata.contentType, 'text/x-judge');
  await bucket.file('from').move('moved');
  assert.deepEqual(await bucket.file('from').exists(), [false]);
  await bucket.file('moved').moveFileAtomic('atomically/moved');
  assert.deepEqual(await bucket.file('moved').exists(), [false]);
  await bucket.file('second').save('2', {resumable: false});
  await bucket.combine(['atomically/moved', 'second'], 'whole');
  assert.equal(String(await read('whole')), '12');
  const [whole] = await bucket.file('whole').getMetadata();
  assert.deepEqual([whole.componentCount, whole.md5Hash], [2, undefined]);
  await bucket.file('second').setStorageClass('coldline');
  const [cold] = await bucket.file('second').getMetadata();
  assert.equal(cold.storageClass, 'COLDLINE');
  await bucket.file('whole').delete();
  await assert.rejects(bucket.file('whole').delete(), refused(404));
  await bucket.file('whole').delete({ignoreNotFound: true});
});

test('listings: prefix, delimiter, glob, pages', async () => {
  const all = ['list/a', 'list/a/b', 'list/a/c/d', 'list/b/x', 'list/c-1'];
  for (const name of all) await bucket.file(name).save('x', {resumable: false});
  assert.deepEqual(await names({prefix: 'list/'}), all);
  assert.deepEqual(await names({prefix: 'list/', maxResults: 2}), all.slice(0, 2));
  const [files, next, reply] = await bucket.getFiles(
    {prefix: 'list/', delimiter: '/', autoPaginate: false, maxResults: 10});
  assert.deepEqual(files.map(f => f.name), ['list/a', 'list/c-1']);
  assert.deepEqual([reply.prefixes, next], [['list/a/', 'list/b/'], null]);
  const [, more] = await bucket.getFiles({prefix: 'list/', autoPaginate: false, maxResults: 2});
  const [rest] = await bucket.getFiles({...more, maxResults: 10});
  assert.deepEqual(rest.map(f => f.name), all.slice(2));
  assert.deepEqual(await names({matchGlob: 'list/**/x'}), ['list/b/x']);
  assert.deepEqual(await names({startOffset: 'list/b', endOffset: 'list/c-1'}), ['list/b/x']);
  await bucket.deleteFiles({prefix: 'list/'});
  assert.deepEqual(await names({prefix: 'list/'}), []);
});

test('versions', async () => {
  const [kept] = await storage.createBucket('node-versions', {versioning: {enabled: true}});
  for (const text of ['1', '2']) await kept.file('a').save(text, {resumable: false});
  const [files] = await kept.getFiles({versions: true});
  assert.equal(files.length, 2);
  const [old] = await kept.file('a', {generation: files[0].metadata.generation}).download();
  assert.equal(String(old), '1');
});

test('parts up over XML', async () => {
  const authClient = new RoadOfParts();
  authClient.setCredentials({access_token: 'any'});
  const elsewhere = new Storage({apiEndpoint: 'http://storage.test', projectId: 'judges',
                                 authClient});
  const manager = new TransferManager(elsewhere.bucket(bucket.name));
  for (const validation of ['md5', 'crc32c', false]) {
    for (const size of [1, 10 * MIB, 16 * MIB + 1]) {
      const data = noise(size, size);
      const source = file('large', data);
      await manager.uploadFileInChunks(source, {uploadName: 'parts', chunkSizeBytes: 5 * MIB,
        headers: {'Content-Type': 'text/x-judge'}, validation});
      const [metadata] = await bucket.file('parts').getMetadata();
      assert.deepEqual([metadata.size, metadata.contentType], [String(size), 'text/x-judge']);
      assert.ok(data.equals(await read('parts')));
    }
  }
  assert.equal(await openUploads(), 0);
});

test('transfer manager: many files, and one in chunks', async () => {
  const manager = new TransferManager(bucket);
  const data = noise(7 * MIB + 1, 9);
  await bucket.file('large').save(data, {resumable: false});
  const target = path.join(folder, 'chunks');
  await manager.downloadFileInChunks('large', {destination: target, chunkSizeBytes: 3 * MIB,
                                               validation: 'crc32c'});
  assert.ok(data.equals(fs.readFileSync(target)));
  const sources = Array.from({length: 20}, (_, i) => file(`many-${i}`, noise(i * 1000, i)));
  fs.mkdirSync(path.join(folder, 'many'));
  const place = name => 'many/' + path.basename(name);
  await manager.uploadManyFiles(sources, {customDestinationBuilder: place});
  await manager.downloadManyFiles(sources.map(place), {passthroughOptions: {destination: folder}});
  for (const [i, source] of sources.entries()) {
    assert.ok(noise(i * 1000, i).equals(fs.readFileSync(path.join(folder, place(source)))));
  }
});

test('settings, lists of access, policies and notifications of a bucket', async () => {
  const [made] = await storage.createBucket('node-settings');
  await made.addLifecycleRule({action: {type: 'Delete'}, condition: {age: 30}});
  await made.setCorsConfiguration([{maxAgeSeconds: 60, method: ['GET'], origin: ['*']}]);
  await made.enableLogging({prefix: 'log'});
  await made.setRetentionPeriod(100);
  const [seen] = await made.getMetadata();
  assert.deepEqual(seen.lifecycle.rule, [{action: {type: 'Delete'}, condition: {age: 30}}]);
  assert.deepEqual(seen.cors, [{maxAgeSeconds: 60, method: ['GET'], origin: ['*']}]);
  assert.equal(seen.logging.logObjectPrefix, 'log');
  assert.equal(seen.retentionPolicy.retentionPeriod, '100');
  await made.lock(seen.metageneration);
  await assert.rejects(made.removeRetentionPeriod(), refused(403));
  await made.acl.add({entity: 'user-judge@example.com', role: storage.acl.READER_ROLE});
  const [entry] = await made.acl.get({entity: 'user-judge@example.com'});
  assert.equal(entry.role, 'READER');
  await made.acl.delete({entity: 'user-judge@example.com'});
  await made.acl.default.readers.addAllUsers();
  const [policy] = await made.iam.getPolicy();
  policy.bindings.push({role: 'roles/storage.objectViewer', members: ['user:judge@example.com']});
  const [set] = await made.iam.setPolicy(policy);
  assert.notEqual(set.etag, policy.etag);
  await assert.rejects(made.iam.setPolicy(policy), refused(412));
  const [notification] = await made.createNotification('projects/judges/topics/t');
  const [all] = await made.getNotifications();
  assert.deepEqual(all.map(n => n.id), [notification.id]);
  await notification.delete();
});

test('HMAC keys', async () => {
  const [key, secret] = await storage.createHmacKey('judge@example.com');
  assert.equal(secret.length, 40);
  await key.setMetadata({state: 'INACTIVE'});
  await key.delete();
  const [left] = await storage.getHmacKeys();
  assert.ok(left.every(k => k.metadata.accessId !== key.metadata.accessId));
});

test('signed URLs and forms', async () => {
  const {privateKey, publicKey} = crypto.generateKeyPairSync('rsa', {
    modulusLength: 2048, publicKeyEncoding: {type: 'spki', format: 'pem'},
    privateKeyEncoding: {type: 'pkcs8', format: 'pem'}});
  const email = 'node@judges.iam.gserviceaccount.com';
  await fetch(endpoint + '/_emulator/service-accounts', {
    method: 'POST', body: JSON.stringify({client_email: email, public_key: publicKey})});
  const signer = new Storage({apiEndpoint: endpoint, projectId: 'judges',
                              credentials: {client_email: email, private_key: privateKey}});
  const there = signer.bucket('node-judge').file('signed/\u00e4 #');
  const until = Date.now() + 60000;
  for (const version of ['v2', 'v4']) {
    const [put] = await there.getSignedUrl({version, action: 'write', expires: until});
    // A text would bring a Content-Type along, which V2 signs.
    const body = Buffer.from('bytes');
    assert.equal((await fetch(put, {method: 'PUT', body})).status, 200);
    const [get] = await there.getSignedUrl({version, action: 'read', expires: until});
    assert.equal(await (await fetch(get)).text(), 'bytes');
    assert.equal((await fetch(get, {method: 'DELETE'})).status, 403);
  }
  const [form] = await there.generateSignedPostPolicyV4({expires: until});
  const body = new FormData();
  for (const [name, value] of Object.entries(form.fields)) body.append(name, value);
  body.append('file', new Blob(['form']), 'f');
  assert.equal((await fetch(endpoint + '/node-judge/', {method: 'POST', body})).status, 204);
  assert.equal((await there.download())[0].toString(), 'form');
});
