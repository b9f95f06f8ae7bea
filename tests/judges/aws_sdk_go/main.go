// aws-sdk-go-v2, AWS's client for Go, on the emulator's S3; plain, or over TLS with AWS_CA_BUNDLE.
// It ends with status 1 if the emulator did not do what is expected here, and says what.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

const mib = 1 << 20

var (
	ctx    = context.Background()
	bucket = aws.String("aws-sdk-go")
	client *s3.Client
)

func noise(size int, seed int64) []byte {
	out := make([]byte, size)
	rand.New(rand.NewSource(seed)).Read(out)
	return out
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func equal[T comparable](what string, want, got T) {
	if want != got {
		panic(fmt.Sprintf("%s: %v is wanted, and %v came", what, want, got))
	}
}

func refused(code string, err error) {
	var said smithy.APIError
	if !errors.As(err, &said) {
		panic(fmt.Sprintf("%s is wanted, and %v came", code, err))
	}
	equal("code", code, said.ErrorCode())
}

func put(key string, data []byte, more ...func(*s3.PutObjectInput)) (*s3.PutObjectOutput, error) {
	in := &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: bytes.NewReader(data)}
	for _, each := range more {
		each(in)
	}
	return client.PutObject(ctx, in)
}

func read(key string, more ...func(*s3.GetObjectInput)) ([]byte, error) {
	in := &s3.GetObjectInput{Bucket: bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled}
	for _, each := range more {
		each(in)
	}
	got, err := client.GetObject(ctx, in)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	return io.ReadAll(got.Body) // it compares the checksum
}

func mustRead(key string, want []byte, more ...func(*s3.GetObjectInput)) {
	got, err := read(key, more...)
	check(err)
	if !bytes.Equal(want, got) {
		panic(fmt.Sprintf("%q has other bytes: %d of %d", key, len(got), len(want)))
	}
}

func names() {
	for _, key := range []string{"plain", "dir/a b", "plus+and&=?#%", "ä/ö/日本", "a//b", "a/./b", "a/../b", "~!*'()", "."} {
		_, err := put(key, []byte(key))
		check(err)
		mustRead(key, []byte(key))
		_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key})
		check(err)
		_, err = read(key)
		refused("NoSuchKey", err)
	}
}

func ranges() {
	data := noise(10_000, 1)
	_, err := put("ranges", data)
	check(err)
	within := func(text string) func(*s3.GetObjectInput) {
		return func(in *s3.GetObjectInput) { in.Range = &text }
	}
	mustRead("ranges", data[5:9], within("bytes=5-8"))
	mustRead("ranges", data[9_993:], within("bytes=-7"))
	mustRead("ranges", data[9_000:], within("bytes=9000-20000"))
	_, err = read("ranges", within("bytes=10000-"))
	refused("InvalidRange", err)
}

func checksums() {
	for _, kind := range types.ChecksumAlgorithm("").Values() {
		switch kind {
		case types.ChecksumAlgorithmCrc32, types.ChecksumAlgorithmCrc32c, types.ChecksumAlgorithmCrc64nvme,
			types.ChecksumAlgorithmSha1, types.ChecksumAlgorithmSha256:
		default:
			continue
		}
		_, err := put("checksum", []byte("123456789"), func(in *s3.PutObjectInput) { in.ChecksumAlgorithm = kind })
		check(err)
		mustRead("checksum", []byte("123456789"))
	}
	_, err := put("checksum", []byte("x"), func(in *s3.PutObjectInput) { in.ChecksumCRC32C = aws.String("AAAAAA==") })
	refused("BadDigest", err)
}

func conditions() {
	first, err := put("once", []byte("1"), func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") })
	check(err)
	_, err = put("once", []byte("2"), func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") })
	refused("PreconditionFailed", err)
	_, err = put("once", []byte("2"), func(in *s3.PutObjectInput) { in.IfMatch = first.ETag })
	check(err)
	_, err = put("once", []byte("3"), func(in *s3.PutObjectInput) { in.IfMatch = first.ETag })
	refused("PreconditionFailed", err)
	_, err = read("once", func(in *s3.GetObjectInput) { in.IfMatch = first.ETag })
	refused("PreconditionFailed", err)
	mustRead("once", []byte("2"))
}

func upload(key string, data []byte, condition *string) (*s3.CompleteMultipartUploadOutput, error) {
	begun, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: &key})
	check(err)
	var parts []types.CompletedPart
	for at, number := 0, int32(1); at < len(data); at, number = at+5*mib, number+1 {
		part, err := client.UploadPart(ctx, &s3.UploadPartInput{Bucket: bucket, Key: &key, UploadId: begun.UploadId,
			PartNumber: aws.Int32(number), Body: bytes.NewReader(data[at:min(at+5*mib, len(data))])})
		check(err)
		parts = append(parts, types.CompletedPart{PartNumber: aws.Int32(number), ETag: part.ETag,
			ChecksumCRC32: part.ChecksumCRC32})
	}
	made, err := client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: &key,
		UploadId: begun.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}, IfNoneMatch: condition})
	if err != nil {
		_, gone := client.AbortMultipartUpload(ctx,
			&s3.AbortMultipartUploadInput{Bucket: bucket, Key: &key, UploadId: begun.UploadId})
		check(gone)
	}
	return made, err
}

func multipart() {
	data := noise(12*mib, 2)
	_, err := upload("parts", data, aws.String("*"))
	check(err)
	mustRead("parts", data)
	_, err = upload("parts", data[:mib], aws.String("*"))
	refused("PreconditionFailed", err)
	open, err := client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: bucket})
	check(err)
	equal("open uploads", 0, len(open.Uploads))
}

func copies() {
	_, err := put("from ä", []byte("data"))
	check(err)
	source := aws.String("aws-sdk-go/from%20%C3%A4")
	_, err = client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String("to"), CopySource: source})
	check(err)
	mustRead("to", []byte("data"))
	_, err = client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String("to"), CopySource: source,
		CopySourceIfMatch: aws.String(`"other"`)})
	refused("PreconditionFailed", err)
}

func listings() {
	var want []string
	for number := range 1100 {
		want = append(want, fmt.Sprintf("many/%04d ä", number))
		_, err := put(want[number], []byte("x"))
		check(err)
	}
	var got []string
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("many/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		check(err)
		for _, each := range page.Contents {
			got = append(got, *each.Key)
		}
	}
	equal("names", fmt.Sprint(want), fmt.Sprint(got))
	folded, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Delimiter: aws.String("/"),
		StartAfter: aws.String("m")})
	check(err)
	equal("prefixes", "many/", *folded.CommonPrefixes[0].Prefix)
	for at := 0; at < len(want); at += 1000 {
		var keys []types.ObjectIdentifier
		for _, key := range want[at:min(at+1000, len(want))] {
			keys = append(keys, types.ObjectIdentifier{Key: aws.String(key)})
		}
		gone, err := client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket,
			Delete: &types.Delete{Objects: keys}})
		check(err)
		equal("deleted", len(keys), len(gone.Deleted))
	}
}

func run(name string, body func()) (good bool) {
	defer func() {
		if why := recover(); why != nil {
			fmt.Printf("FAILED %s: %v\n", name, why)
			return
		}
		fmt.Println("ok", name)
		good = true
	}()
	body()
	return
}

func main() {
	known, err := config.LoadDefaultConfig(ctx)
	check(err)
	client = s3.NewFromConfig(known, func(o *s3.Options) { o.UsePathStyle = true; o.RetryMaxAttempts = 1 })
	_, err = client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: bucket})
	check(err)
	all := true
	for _, each := range []struct {
		name string
		body func()
	}{{"names", names}, {"ranges", ranges}, {"checksums", checksums}, {"conditions", conditions},
		{"multipart", multipart}, {"copies", copies}, {"listings", listings}} {
		all = run(each.name, each.body) && all
	}
	if !all {
		os.Exit(1)
	}
}
